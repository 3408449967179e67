"""A Slack channel's history over the Web API, for sources of kind `history`; no socket is opened for it.

`conversations.history` and `conversations.replies` are of tier 3, 50 calls a minute, which the bot shares
when it answers in threads: so fewer are made here. Apps that are distributed outside of Slack's Marketplace
get 1 call a minute and 15 messages in it; Slack then says how long to wait, and that is waited.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import REFUSED_TOKENS, SlackRefused, rejected
from core.errors import ChannelClosed, PlatformRejected
from core.ingestion.sources.history.exports.slack import post_of
from core.ports.history import Channel, Page, Post, Raw, Thread
from core.settings import Settings

PAGE = 200
"""Messages of a page; Slack takes up to 999 and asks for no more than these."""
BURST, A_MINUTE = 10, 35.0
"""Calls at once, and a minute beyond that."""
LONGEST = 50
"""Pages of one thread."""
_SLACKBOT = "USLACKBOT"
_GONE = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "method_not_supported_for_channel_type"}
)


class SlackHistory:
    """Reads channels of one workspace; `link` is its address, as links to messages begin."""

    lists_threads = False

    def __init__(
        self,
        api: SlackApi,
        link: str,
        helpers: Collection[str],
        a_minute: float = A_MINUTE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`helpers` are accounts whose ✅ accepts an answer."""
        self._helpers = frozenset(helpers)
        self._api, self._link, self._a_minute, self._clock = api, link.rstrip("/"), a_minute, clock
        self.calls = 1  # that which signed in
        self._left, self._at = float(BURST), clock()
        self._teams: dict[str, frozenset[str]] = {}
        """Whose people may be read in each channel."""

    async def channel(self, channel: str) -> Channel:
        """Return what a channel is; ChannelClosed where the bot is not in it."""
        told = (await self._call("conversations.info", channel))["channel"]
        name = str(told.get("name") or channel)
        if told.get("is_im") or told.get("is_mpim") or channel.startswith("D"):
            raise ChannelClosed(f"{channel} are direct messages, which are never read: name a public channel")
        public = not (told.get("is_private") or told.get("is_group"))
        if public and not told.get("is_member"):
            raise ChannelClosed(f"The bot is not in #{name}: type /invite @Threadlore there")
        if told.get("is_ext_shared"):
            raise ChannelClosed(
                f"#{name} is shared with another organization, whose words are told nowhere else: name a "
                f"channel of this workspace alone"
            )
        self._teams[channel] = _teams(told) | {self._api.team, self._api.enterprise}
        return Channel(channel, name, public, self._link)

    async def page(self, channel: Channel, before: str = "") -> Page:
        """Return up to 200 messages before one, and the threads that they opened."""
        given = {"latest": before, "inclusive": False} if before else {}
        told = await self._call("conversations.history", channel.id, limit=PAGE, **given)
        messages: list[dict[str, Any]] = told.get("messages") or []
        ours = tuple(message for message in messages if self._ours(channel, message))
        threads = tuple(_thread(message) for message in ours if message.get("reply_count"))
        oldest = str(messages[-1]["ts"]) if messages else before
        return Page(ours, oldest, bool(told.get("has_more")) and bool(messages), threads)

    async def threads(self, channel: Channel, since: float) -> tuple[Thread, ...]:
        """Return nothing: threads come with the messages that opened them."""
        return ()

    async def replies(self, channel: Channel, thread: Thread) -> tuple[Raw, ...] | None:
        """Return the replies of a thread, oldest first; None where its first message is gone."""
        found: list[Raw] = []
        given: dict[str, Any] = {"ts": thread.id, "limit": PAGE}
        for _ in range(LONGEST):
            try:
                told = await self._call("conversations.replies", channel.id, **given)
            except SlackRefused as error:
                if error.code in ("thread_not_found", "message_not_found"):
                    return None
                raise
            replies = [m for m in told.get("messages") or () if m.get("ts") != thread.id]
            found += [message for message in replies if self._ours(channel, message)]
            given["cursor"] = (told.get("response_metadata") or {}).get("next_cursor")
            if not given["cursor"]:
                break
        return tuple(found)

    def _ours(self, channel: Channel, message: Raw) -> bool:
        """Return True if one of this organization wrote a message; others may have been there once."""
        team = message.get("user_team")
        return not team or team in self._teams.get(channel.id, (team,))

    def post(self, message: Raw, channel: Channel, thread: str) -> Post | None:
        """Return a message as a post; None for joins, topics and the like."""
        return post_of(message, channel.id, channel.link, (_SLACKBOT,), self._helpers)

    async def _call(self, method: str, channel: str, **given: Any) -> dict[str, Any]:
        await self._turn()
        self.calls += 1
        try:
            return await self._api.call(method, channel=channel, **given)
        except SlackRefused as error:
            if error.code in _GONE:
                raise ChannelClosed(
                    f"Slack says {error.code} of {channel}: correct the id, or type /invite @Threadlore there"
                ) from error
            if error.code == "missing_scope":
                raise PlatformRejected(
                    f"The Slack app lacks a scope ({error.detail or method}): paste slack-manifest.yaml into "
                    f"its manifest and install it to the workspace again"
                ) from error
            if error.code in REFUSED_TOKENS:
                raise rejected("SLACK_BOT_TOKEN", error) from error
            raise

    async def _turn(self) -> None:
        """Wait until a call fits into what Slack allows."""
        now = self._clock()
        self._left = min(float(BURST), self._left + (now - self._at) * self._a_minute / 60)
        self._at = now
        self._left -= 1
        if self._left < 0:
            await asyncio.sleep(-self._left * 60 / self._a_minute)


def _teams(channel: Raw) -> frozenset[str]:
    """Return the workspaces of this organization that share a channel."""
    listed = (*(channel.get("shared_team_ids") or ()), *(channel.get("internal_team_ids") or ()))
    return frozenset(str(team) for team in listed)


def _thread(message: Raw) -> Thread:
    latest = str(message.get("latest_reply") or message["ts"])
    ts = str(message["ts"])
    return Thread(ts, f"{message.get('reply_count')} {latest}", float(latest), opened=float(ts))


@asynccontextmanager
async def open_reader(settings: Settings, a_minute: float = A_MINUTE) -> AsyncIterator[SlackHistory]:
    """Sign in with SLACK_BOT_TOKEN, to make so many calls after a burst; raises PlatformError."""
    token = settings.slack_bot_token.get_secret_value().strip()
    if not token:
        raise PlatformRejected(
            "SLACK_BOT_TOKEN is missing: add the Bot User OAuth Token, xoxb-…, to .env to read Slack channels"
        )
    api = SlackApi(token, "", settings.slack_api_url)
    try:
        try:
            who, _ = await api.identity()
        except SlackRefused as error:
            if error.code in REFUSED_TOKENS:
                raise rejected("SLACK_BOT_TOKEN", error) from error
            raise
        yield SlackHistory(api, str(who.get("url") or ""), (*settings.helpers, *settings.admins), a_minute)
    finally:
        await api.close()
