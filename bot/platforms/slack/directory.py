"""Who people are and who hears a channel, asked of Slack once in a while and remembered."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from time import monotonic
from typing import Any, Generic, TypeVar

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.ports.chat import Person
from core.domain import Scope

log = logging.getLogger(__name__)

_KEPT = 300.0
"""Seconds an answer of Slack is believed: so late may a lost admin right be noticed."""
_KEPT_FAILURE = 30.0
_KEPT_SHARED = 86_400.0
"""The same of whether a channel is shared with other workspaces: each event from it tells that again."""
_PAGE, _PAGES = 200, 5
"""Channels of a person that are read at once, and how often."""
_MANY = 50
"""How often channels of the bot are read at once, of which none may be left out."""
_SIZE = 5_000
"""People or channels remembered at once."""

Value = TypeVar("Value")


class _Memo(Generic[Value]):
    """A bounded map whose entries expire."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, Value]] = OrderedDict()

    def get(self, key: str) -> Value | None:
        expires, value = self._entries.get(key, (0.0, None))
        return value if expires > self._clock() else None

    def put(self, key: str, value: Value, seconds: float) -> Value:
        self._entries[key] = (self._clock() + seconds, value)
        self._entries.move_to_end(key)
        while len(self._entries) > _SIZE:
            self._entries.popitem(last=False)
        return value

    def forget(self, key: str) -> None:
        self._entries.pop(key, None)


class Directory:
    """Looks up people and channels; what cannot be found out is taken to be the safer thing."""

    def __init__(
        self,
        api: SlackApi,
        admins: Collection[str] = (),
        helpers: Collection[str] = (),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._api, self._admins, self._helpers = api, frozenset(admins), frozenset(helpers)
        self._people: _Memo[Person] = _Memo(clock)
        self._channels: _Memo[Scope] = _Memo(clock)
        self._shared: _Memo[bool] = _Memo(clock)
        self._read: _Memo[tuple[str, ...]] = _Memo(clock)

    async def person(self, user: str) -> Person:
        """Return the person; where Slack does not say, one with the id for a name and no rights."""
        if known := self._people.get(user):
            return known
        try:
            told = await self._api.call("users.info", quick=True, user=user, include_locale=True)
            found: Mapping[str, Any] = told["user"]
        except (SlackRefused, KeyError) as error:
            log.warning("Slack does not tell who a person is: %s", error)
            return self._people.put(user, self._named(user, {}), _KEPT_FAILURE)
        return self._people.put(user, self._named(user, found), _KEPT)

    def known(self, user: str) -> Person:
        """Return a person as far as is known without asking; helpers are known by their id."""
        return self._people.get(user) or self._named(user, {})

    def _named(self, user: str, found: Mapping[str, Any]) -> Person:
        profile = found.get("profile") or {}
        names = (
            profile.get("display_name"),
            profile.get("real_name"),
            found.get("real_name"),
            found.get("name"),
        )
        key = f"slack:{user}"
        return Person(
            id=key,
            name=next((str(name) for name in names if name), user),
            bot=bool(found.get("is_bot")) or user == "USLACKBOT",
            admin=self._governs(found) or key in self._admins,
            helper=key in self._helpers,
            locale=str(found.get("locale") or ""),
        )

    def _governs(self, found: Mapping[str, Any]) -> bool:
        """Return True if somebody administrates this workspace, not another one that shares a channel."""
        if found.get("is_stranger"):
            return False
        home, grid = str(found.get("team_id") or ""), found.get("enterprise_user") or {}
        at_home = home in ("", self._api.team) or not self._api.team
        same_grid = bool(self._api.enterprise) and grid.get("enterprise_id") == self._api.enterprise
        return bool(found.get("is_admin") or found.get("is_owner")) and (at_home or same_grid)

    def share(self, channel: str, shared: bool) -> bool:
        """Note whether another organization hears a channel; returns True if that is news."""
        before = self._shared.get(channel)
        if before is not shared:
            self._channels.forget(channel)
        self._shared.put(channel, shared, _KEPT_SHARED)
        return shared and not before

    async def scope(self, channel: str, kind: str = "") -> Scope:
        """Return who hears a channel; `kind` is the event's `channel_type` where it has one.

        One that is shared with another organization (Slack Connect) counts as private; one that the
        workspaces of an Enterprise Grid share does not.
        """
        key = f"slack:{channel}"
        if kind in ("im", "mpim") or channel.startswith("D"):
            return self._channels.put(channel, Scope("direct", key), _KEPT)
        if kind == "group":
            return self._channels.put(channel, Scope("private", key), _KEPT)
        if kind == "channel" and (shared := self._shared.get(channel)) is not None:
            return self._channels.put(channel, Scope("private", key) if shared else Scope(), _KEPT)
        if known := self._channels.get(channel):
            return known
        try:
            found = (await self._api.call("conversations.info", quick=True, channel=channel))["channel"]
        except (SlackRefused, KeyError) as error:
            # better to forget an answer than to tell everyone what was said in private
            log.warning("Slack does not tell what %s is, so it counts as private: %s", channel, error)
            return self._channels.put(channel, Scope("private", key), _KEPT_FAILURE)
        if found.get("is_im") or found.get("is_mpim"):
            return self._channels.put(channel, Scope("direct", key), _KEPT)
        private = bool(found.get("is_private") or found.get("is_group") or found.get("is_ext_shared"))
        return self._channels.put(channel, Scope("private", key) if private else Scope(), _KEPT)

    async def read_by(self, user: str) -> tuple[str, ...]:
        """Return the public channels (`slack:C1`) that a person is in, the bot or not; those that other
        organizations share are not among them. None where Slack does not tell.
        """
        if (known := self._read.get(user)) is not None:
            return known
        try:
            told = await self._joined(user=user, types="public_channel", exclude_archived=True)
            found = [f"slack:{one['id']}" for one in told if not _is_closed(one)]
        except (SlackRefused, KeyError) as error:
            log.info("Slack does not tell in which channels a person is: %s", error)
            return self._read.put(user, (), _KEPT_FAILURE)
        return self._read.put(user, tuple(found), _KEPT)

    async def closed(self) -> tuple[str, ...]:
        """Return the bot's channels (`slack:C1`) that not everybody in the workspace may hear, or others do.

        None where Slack does not tell within minutes: nothing else tells what was closed meanwhile.
        """
        try:
            told = await self._joined(_MANY, quick=False, types="public_channel,private_channel")
            found = [str(one["id"]) for one in told if _is_closed(one)]
        except (SlackRefused, KeyError) as error:
            log.info("Slack does not tell which channels are private: %s", error)
            return ()
        for channel in found:
            self._channels.put(channel, Scope("private", f"slack:{channel}"), _KEPT)
        return tuple(f"slack:{channel}" for channel in found)

    async def _joined(self, pages: int = _PAGES, quick: bool = True, **given: Any) -> list[Mapping[str, Any]]:
        """Return the channels that somebody, or the bot, is in; raises SlackRefused."""
        found: list[Mapping[str, Any]] = []
        for _page in range(pages):
            answer = await self._api.call("users.conversations", quick=quick, limit=_PAGE, **given)
            found += answer.get("channels") or ()
            given["cursor"] = (answer.get("response_metadata") or {}).get("next_cursor")
            if not given["cursor"]:
                break
        return found

    async def title(self, channel: str) -> str:
        """Return how people call a channel, `#help`; empty where Slack does not tell."""
        try:
            found = (await self._api.call("conversations.info", quick=True, channel=channel))["channel"]
        except (SlackRefused, KeyError) as error:
            log.info("Slack does not tell how %s is called: %s", channel, error)
            return ""
        return f"#{found['name']}" if found.get("name") else ""


def _is_closed(channel: Mapping[str, Any]) -> bool:
    """Return True for a private channel, and for one that another organization hears."""
    return bool(channel.get("is_private") or channel.get("is_ext_shared"))
