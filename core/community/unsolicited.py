"""Decide whether unasked answers are unwanted in a channel, and stop them there if so (*ours*).

Of the latest answers that nobody asked for it counts those that were voted down or deleted, and those that
nobody took notice of. A share counts by the lower end of its confidence interval, so that a few answers
decide nothing. A channel in which it is too high is served by mentions only, and admins are told.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.community.overrides import ChannelModes
from core.domain import MessageRef

log = logging.getLogger(__name__)

WINDOW = 50
"""Latest unasked answers of a channel that count."""
LEAST = 10
"""Unasked answers of a channel below which nothing is decided."""
BAD = 0.2
"""Share of answers voted down or deleted that is too high."""
IGNORED = 0.9
"""Share of answers without any sign of notice that is too high."""
AGAINST = 2
"""Different people who must have been against answers, so that no single person silences the bot."""
PATIENCE = 86_400.0
"""Seconds that people have before an answer counts as ignored."""
Z = 1.645
"""Standard deviations below the share: a one-sided interval of 95 %."""
FALLS_TO = "mentions"
"""The mode of a channel in which the bot is noise."""
BY = "bot"
"""Who set a mode that nobody else did."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The reception of an unasked answer: who is `against` it (downvoted or deleted it), and whether
    it was `noticed`."""

    at: float
    noticed: bool = False
    against: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Counted:
    """How unasked answers were taken: `old` had a day to be noticed, `ignored` of these were not."""

    answers: int = 0
    bad: int = 0
    against: int = 0
    old: int = 0
    ignored: int = 0

    @property
    def is_noise(self) -> bool:
        """Return True if the bot had better wait to be asked here."""
        if self.answers < LEAST:
            return False
        too_bad = at_least(self.bad, self.answers) > BAD and self.against >= AGAINST
        return too_bad or at_least(self.ignored, self.old) > IGNORED

    @property
    def why(self) -> str:
        """Say in one sentence what was counted."""
        bad = f"{self.bad} were voted down or deleted"
        said = f"Of the last {self.answers} answers that nobody asked for, {bad}"
        if not self.old:
            return f"{said}."
        return f"{said}; of {self.old} that are older than a day, {self.ignored} were ignored."


def counted(answers: Sequence[Heard], now: float) -> Counted:
    """Count how unasked answers were taken; one too young to be ignored counts among the good ones."""
    bad = [answer for answer in answers if answer.against]
    old = [answer for answer in answers if now - answer.at >= PATIENCE]
    ignored = [answer for answer in old if not answer.noticed and not answer.against]
    people = frozenset[str]().union(*(answer.against for answer in bad))
    return Counted(len(answers), len(bad), len(people), len(old), len(ignored))


def at_least(hits: int, trials: int) -> float:
    """Return the lower end of Wilson's interval of a share, 0 where nothing was tried."""
    if not trials:
        return 0.0
    share, z2 = hits / trials, Z * Z
    middle = share + z2 / (2 * trials)
    spread = Z * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    return max(0.0, (middle - spread) / (1 + z2 / trials))


class NoiseStore(Protocol):
    """Keeps which answers nobody asked for, and what came of them."""

    async def answered(self, answer_id: str, channel: str, conversation: str, at: float, keep: int) -> None:
        """Note an unasked answer; of its channel the latest `keep` stay."""

    async def channel_of(self, answer_id: str) -> str:
        """Return the channel of an unasked answer; empty for every other one."""

    async def noticed(self, answer_id: str) -> None:
        """Note that people took notice of an answer; nothing for one that was asked for."""

    async def went_on(self, conversation: str) -> None:
        """Note that who was answered went on in a conversation, such as with a follow-up or thanks."""

    async def deleted(self, answer_id: str) -> None:
        """Note that somebody deleted an answer because they did not want it."""

    async def withdrawn(self, answer_id: str) -> None:
        """Count an answer no more: its question was deleted."""

    async def latest(self, channel: str, limit: int) -> tuple[Heard, ...]:
        """Return what came of the latest unasked answers of a channel, newest first."""

    async def begin_anew(self, channel: str) -> None:
        """Forget what was counted in a channel."""


class UnsolicitedReplyPolicy:
    """Watches channels with unasked answers; sets one back to mentions where they are unwanted.

    `tell` tells admins.
    """

    def __init__(
        self,
        store: NoiseStore,
        modes: ChannelModes,
        tell: Callable[[str], Awaitable[object]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._modes = modes
        self._tell = tell
        self._clock = clock
        self._looking = asyncio.Lock()

    async def answered(self, answer_id: str, where: MessageRef) -> None:
        """Note an answer that nobody asked for; what came of those before it may end the channel's mode."""
        channel = where.channel_key
        await self._store.answered(answer_id, channel, where.conversation, self._clock(), WINDOW)
        await self._look(channel)

    async def noticed(self, answer_id: str) -> None:
        """Note that somebody took notice of an answer: a vote, another emoji, a press."""
        await self._store.noticed(answer_id)
        if channel := await self._store.channel_of(answer_id):
            await self._look(channel)

    async def went_on(self, conversation: str) -> None:
        """Note that who was answered wrote on in the conversation."""
        await self._store.went_on(conversation)

    async def deleted(self, answer_id: str) -> None:
        """Note that who was answered, or an admin, deleted an answer."""
        channel = await self._store.channel_of(answer_id)
        await self._store.deleted(answer_id)
        if channel:
            await self._look(channel)

    async def withdrawn(self, answer_id: str) -> None:
        """Count an answer no more whose question was deleted."""
        await self._store.withdrawn(answer_id)

    async def of(self, channel: str) -> Counted:
        """Return how unasked answers were taken in a channel since its mode was set last."""
        return counted(await self._store.latest(channel, WINDOW), self._clock())

    async def _look(self, channel: str) -> None:
        """Set a channel back to mentions if unasked answers are unwanted there; restart the count."""
        async with self._looking:  # two votes at once are one fall
            await self._judge(channel)

    async def _judge(self, channel: str) -> None:
        mode = await self._modes.mode(channel)
        if mode not in ("questions", "forum"):
            return
        found = await self.of(channel)
        if not found.is_noise:
            return
        log.warning("%s falls back from %s to %s: %s", channel, mode, FALLS_TO, found.why)
        await self._modes.set_mode(channel, FALLS_TO, BY, found.why)
        await self._store.begin_anew(channel)
        await self._tell(
            f"{channel} was served as `{mode}` and is served by mentions only from now on. {found.why} "
            f"`/threadlore mode {mode}` in that channel sets it back, and a fresh count begins."
        )
