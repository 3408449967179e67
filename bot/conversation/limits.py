"""How much may be asked, by a person, in a channel, in a workspace, and the line of those who asked.

Who asks too much is told once. Where a process gets more than it can bear, people hear how many questions are
before theirs, or when to ask again, rather than nothing for minutes.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from bot.ports.chat import Chat, Message, Reply
from core.domain import MessageRef
from core.errors import PlatformError, StorageUnavailable
from core.languages import N_, _
from core.models.breaker import FairQueue
from core.ports import ASKER
from core.ports.conversations import Bucket, BucketStore, HeldBuckets
from core.privacy.names import nobody

log = logging.getLogger(__name__)

BURST = 5
"""Questions that a full bucket holds beyond the steady rate of a minute."""
CHANNEL_SHARE, WORKSPACE_SHARE = 5, 20
"""How many people's worth of questions a channel may ask, and a whole workspace."""
Whose = Literal["person", "channel", "workspace", "line", "day", "workspace day"]
_OWN = ("person", "day")
_PLACE = "limits"
"""The place that one-way names of people in buckets are for."""
_SAID: dict[Whose, str] = {
    "person": N_(
        "That is a lot of questions at once: I leave out this one and those after it. "
        "Please ask again in {time}."
    ),
    "channel": N_("There are many questions here at the moment. Please ask again in {time}."),
    "workspace": N_("I get many questions at the moment. Please ask again in {time}."),
    "line": N_("I get many questions at the moment. Please ask again in {time}."),
    "day": N_("I have answered as many of your questions as I may in a day. Please ask again in {time}."),
    "workspace day": N_("I have answered as many questions as I may in a day. Please ask again in {time}."),
}
TOLD_AGAIN_SECONDS = (2.0, 10.0, 30.0)
"""Pauses before somebody is told again to slow down whom the platform let nobody tell."""
AT_ONCE, QUOTED_AT_ONCE = 64, 12
"""Answers that are worked on at once: more than models take, whose own line is shorter; and where nothing but
this process works on them, as many as keep it busy."""
LONGEST_SECONDS = 45.0
"""The longest time that a question may wait for its turn, as far as can be told when it comes."""
LATELY, FEW = 64, 8
"""Answers by which it is told how long one takes, at most; and with fewer, that is not known."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Says that somebody has to wait so many seconds, and because of whose questions."""

    seconds: float
    whose: Whose = "person"

    def __str__(self) -> str:
        """Say it to who asked."""
        return _(_SAID[self.whose]).format(time=duration(self.seconds))


def wait_text(seconds: float) -> str:
    """Ask somebody to ask again later."""
    return _("Please ask again in {time}.").format(time=duration(seconds))


def duration(seconds: float) -> str:
    """Return a time to wait in words, never too short: `12 s`, `5 min`, `3 h`."""
    if seconds <= 90:
        return f"{rounded(seconds)} s"
    return f"{math.ceil(seconds / 60)} min" if seconds <= 5400 else f"{math.ceil(seconds / 3600)} h"


def rounded(seconds: float) -> int:
    """Return whole seconds to wait, never too few."""
    return math.ceil(seconds)


@dataclass(frozen=True, slots=True)
class Rates:
    """Questions of a person in a minute; those of a person and of a workspace in a day, 0 for any number."""

    per_minute: float
    per_day: int = 0
    workspace_per_day: int = 0


class Allowance:
    """Counts questions, and says when there are too many.

    What is left is kept over restarts. People stand there under one-way names, and those who opted out
    (`is_out`) not at all: they are counted in memory.
    """

    def __init__(
        self,
        rates: Rates,
        store: BucketStore,
        *,
        veil: Callable[[str, str], str],
        is_out: Callable[[str], bool] = nobody,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rates = rates
        self._store = store
        self._veil = veil
        self._is_out = is_out
        self._clock = clock
        self._held = HeldBuckets()

    async def wait(self, person: str, channel: str) -> Refusal | None:
        """Take one question of a person in a channel (`slack:C1`); return why not, where it is too many.

        While nothing can be written down nobody is counted.
        """
        now = self._clock()
        known = self._buckets(self._veil(person, _PLACE), channel, now)
        if self._is_out(person):
            own = {whose: bucket for whose, bucket in known.items() if whose in _OWN}
            known = {whose: bucket for whose, bucket in known.items() if whose not in _OWN}
            if refused := _refusal(own, await self._held.take(tuple(own.values()), now), now):
                return refused
        try:
            return _refusal(known, await self._store.take(tuple(known.values()), now), now)
        except StorageUnavailable as error:
            log.warning("a question is not counted: %s", error)
            return None

    def _buckets(self, person: str, channel: str, now: float) -> dict[Whose, Bucket]:
        rates, workspace = self._rates, channel.partition(":")[0]
        day = datetime.fromtimestamp(now).date().isoformat()
        found: dict[Whose, Bucket] = {
            "person": _by_minute(f"person {person}", rates.per_minute, 1),
            "channel": _by_minute(f"channel {channel}", rates.per_minute, CHANNEL_SHARE),
            "workspace": _by_minute(f"workspace {workspace}", rates.per_minute, WORKSPACE_SHARE),
        }
        if rates.per_day:
            found["day"] = Bucket(f"{day} {person}", rates.per_day, 0.0)
        if rates.workspace_per_day:
            found["workspace day"] = Bucket(f"{day} {workspace}", rates.workspace_per_day, 0.0)
        return found


def _by_minute(name: str, per_minute: float, share: float) -> Bucket:
    return Bucket(name, max(1.0, per_minute * share, BURST * share), per_minute * share / 60)


def _refusal(known: dict[Whose, Bucket], waits: tuple[float, ...], now: float) -> Refusal | None:
    """Return the longest wait; that of a day ends at midnight of this machine's clock."""
    tomorrow = datetime.fromtimestamp(now).date() + timedelta(days=1)
    midnight = datetime.combine(tomorrow, datetime.min.time()).timestamp() - now
    left = [midnight if math.isinf(wait) else wait for wait in waits]
    seconds, whose = max(zip(left, known, strict=True), key=lambda one: one[0])
    return Refusal(seconds, whose) if seconds > 0 else None


class Limits:
    """Counts questions by person and by place in this process's memory: for people who have no account.

    A place may ask `share` people's worth of questions.
    """

    def __init__(
        self,
        per_minute: float,
        clock: Callable[[], float] = time.monotonic,
        share: float = CHANNEL_SHARE,
    ) -> None:
        self._per_minute = per_minute
        self._share = share
        self._clock = clock
        self._held = HeldBuckets()

    def wait(self, person: str, place: str) -> float:
        """Take one question from both buckets; return 0.0, or the seconds until there is one."""
        return max(self._held.taken(self._buckets(person, place), self._clock()))

    def give_back(self, person: str, place: str) -> None:
        """Put a question that was taken, and was none, back into both buckets."""
        self._held.give_back(self._buckets(person, place), self._clock())

    def _buckets(self, person: str, place: str) -> tuple[Bucket, Bucket]:
        return (
            _by_minute(f"person {person}", self._per_minute, 1),
            _by_minute(f"place {place}", self._per_minute, self._share),
        )


class Slowing:
    """Tells people that their questions are left out until they may ask again."""

    def __init__(self) -> None:
        self._slowed: dict[str, float] = {}

    async def tell(self, chat: Chat, message: Message, refused: Refusal) -> tuple[MessageRef, ...]:
        """Tell a person once that this question and those after it are left out, until they may ask again.

        Where the line is too long, which is nobody's doing, each question is told so.
        """
        now = time.monotonic()
        self._slowed = {person: until for person, until in self._slowed.items() if until > now}
        if refused.whose != "line":
            if message.author.id in self._slowed:
                return ()
            self._slowed[message.author.id] = now + refused.seconds
        for pause in (*TOLD_AGAIN_SECONDS, 0.0):
            try:
                return await chat.post(message.ref, Reply(str(refused)))
            except PlatformError as error:
                log.info("somebody could not be told to slow down: %s", error)
                if not (error.retryable and pause):
                    break
                await asyncio.sleep(pause)
        if refused.whose != "line":
            self._slowed.pop(message.author.id, None)  # so that the next question is told so
        return ()


class Line:
    """Gives answers their turn; `refusal` tells when to ask again, where the line is too long."""

    def __init__(
        self,
        at_once: int = AT_ONCE,
        longest: float = LONGEST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue = FairQueue(at_once, 0)
        self._longest, self._clock = longest, clock
        self._done: deque[float] = deque(maxlen=LATELY)
        """Since when somebody waits, and when answers were done after that."""

    @asynccontextmanager
    async def turn(self, asker: str) -> AsyncIterator[None]:
        """Wait for one's turn; the place in the line is told to `PLACE`, if anybody waits."""
        if self._queue.is_taken and not self._queue.waiting:
            self._done.clear()
            self._done.append(self._clock())
        token = ASKER.set(asker)
        try:
            await self._queue.take(patient=True)
        finally:
            ASKER.reset(token)
        try:
            yield
        finally:
            self._done.append(self._clock())
            self._queue.free()

    @property
    def seconds(self) -> float:
        """Return how long one more question would wait, by how fast answers were done lately.

        Until a few are done, that is how long somebody waits already.
        """
        if not self._queue.waiting:
            return 0.0
        done, lasted = len(self._done) - 1, self._clock() - self._done[0]
        return lasted if done < FEW else self._queue.waiting * lasted / done

    def refusal(self) -> Refusal | None:
        """Return why a question is not taken now; None where it is."""
        seconds = self.seconds
        return Refusal(seconds, "line") if seconds > self._longest else None
