"""Notices to the people who run the bot, in the channels that they named for that."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.ports.chat import Chat, Reply
from core.domain import content_hash
from core.errors import ThreadloreError
from core.memory.scoring import DAY_SECONDS
from core.ports.about import Notice, NoticeStore

log = logging.getLogger(__name__)

AGAIN_SECONDS = DAY_SECONDS
"""Seconds for which the same notice is not said again."""
AHEAD_SECONDS = 3600
"""How far in the future something may have been said or read; what is farther was noted by a wrong clock."""
GIVE_UP_SECONDS = DAY_SECONDS
"""Age of a notice that could not be said, after which it is only logged."""
LONGEST_KEY = 120
_LOG = "log"
"""Where notices are said when no channel is named: they are logged anyway."""


class Notices:
    """Says notices in every channel of `THREADLORE_ADMIN_CHANNEL`, each once; what fails is tried again."""

    def __init__(
        self,
        store: NoticeStore,
        channels: Sequence[str],
        chat_of: Callable[[str], Chat | None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self.channels = tuple(channels)
        """Where notices are said: `slack:C1`."""
        self._chat_of = chat_of
        self._clock = clock

    @property
    def has_channels(self) -> bool:
        """Return True if anybody named a channel for notices."""
        return bool(self.channels)

    async def tell_admins(
        self, text: str, key: str = "", again_after: float = AGAIN_SECONDS, since: float | None = None
    ) -> None:
        """Say something to the people who run the bot; the same (by `key`, else by its text) once a day,
        or with `since` once after that moment in seconds.

        What is said is logged, too, so that nothing is lost where no channel is named.
        """
        now, key = self._clock(), _key(key or text)
        said = {place: await self._said_at(place, key) for place in self._places}
        if since is None:
            due = [place for place, at in said.items() if not at or now - at >= again_after]
        else:
            due = [place for place, at in said.items() if not at or at < since]
        await self._say_in(due, text, key, now)

    async def tell_over(self, text: str, key: str) -> None:
        """Announce once, in the same channels, that an alert is resolved."""
        over = _key(f"{key} is over")
        places = [
            at for at in self._places if await self._said_at(at, over) < await self._said_at(at, _key(key))
        ]
        await self._say_in(places, text, over, self._clock())

    @property
    def _places(self) -> tuple[str, ...]:
        return self.channels or (_LOG,)

    async def _said_at(self, place: str, key: str) -> float:
        known = await self._store.notice(place, key)
        at = (known.told_at or known.at) if known else 0.0
        return at if at <= self._clock() + AHEAD_SECONDS else 0.0

    async def _say_in(self, places: Sequence[str], text: str, key: str, now: float) -> None:
        if places:
            log.warning("notice to admins: %s", text)
        for place in places:
            await self._say(Notice(place, key, text, now))

    async def was_told(self, key: str, channel: str = "") -> bool:
        """Return True if a notice was said in every channel, or in that one."""
        known = [await self._store.notice(one, _key(key)) for one in self._one_or_all(channel)]
        return all(notice is not None and notice.told_at > 0 for notice in known)

    async def is_settled(self, key: str, channel: str = "") -> bool:
        """Return True if a notice was said in every channel, or in that one, or could not be for a day."""
        known = [await self._store.notice(one, _key(key)) for one in self._one_or_all(channel)]
        return all(notice is not None and self._is_settled(notice) for notice in known)

    def _one_or_all(self, channel: str) -> Sequence[str]:
        return (channel,) if channel else self.channels

    def _is_settled(self, notice: Notice) -> bool:
        return notice.told_at > 0 or self._clock() - notice.at >= GIVE_UP_SECONDS

    async def say_once(self, text: str, key: str, concerns: str, channels: Sequence[str]) -> None:
        """Post a text where it was not posted yet; the text is not kept, so the caller must retry, for a day.

        `concerns` are the answers whose questions it quotes, as of a `Reply`.
        """
        for channel in channels:
            known = await self._store.notice(channel, _key(key)) or Notice(
                channel, _key(key), "", self._clock()
            )
            if self._is_settled(known):
                continue
            problem = await self._post(replace(known, text=text), concerns)
            if problem:
                log.warning(
                    "a message to %s (%s) was not sent, retrying for a day: %s", channel, key, problem
                )
            told_at = 0.0 if problem else self._clock()
            await self._store.keep(replace(known, told_at=told_at, tries=known.tries + 1))

    async def settle(self, key: str, channels: Sequence[str]) -> None:
        """Mark a notice as said in these channels, because there is nothing to say."""
        for channel in channels:
            if await self._store.notice(channel, _key(key)) is None:
                await self._store.keep(Notice(channel, _key(key), "", self._clock(), self._clock()))

    async def retry(self) -> None:
        """Try again what could not be said, for a day."""
        for notice in await self._store.untold():
            if self._clock() - notice.at < GIVE_UP_SECONDS and notice.destination in self.channels:
                await self._say(notice)
            else:
                log.error("a message to %s could not be sent for a day: %s", notice.destination, notice.text)
                await self._store.keep(replace(notice, text=""))

    async def _say(self, notice: Notice) -> None:
        problem = await self._post(notice)
        told = replace(notice, text="", told_at=self._clock()) if not problem else notice
        if problem:
            log.warning("a message to %s was not sent, retrying: %s", notice.destination, problem)
        await self._store.keep(replace(told, tries=notice.tries + 1))

    async def _post(self, notice: Notice, concerns: str = "") -> str:
        """Post a notice; return what went wrong, empty where nothing did."""
        if notice.destination == _LOG:
            return ""
        platform, _, to = notice.destination.partition(":")
        chat = self._chat_of(platform)
        if chat is None:
            return f"{platform} is not connected"
        try:
            await chat.send(to, Reply(notice.text, concerns=concerns))
        except ThreadloreError as error:
            return str(error)
        return ""


def _key(key: str) -> str:
    """Shorten a notice's key to what the database takes."""
    return key if len(key) <= LONGEST_KEY else content_hash(key)
