"""The line of questions in a process: so many are worked on at once, the askers in turn.

Where a process gets more than it can bear, people hear how many questions are before theirs, or when to ask
again, rather than nothing for minutes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bot.conversation.limits import Refusal
from core.models.breaker import FairQueue
from core.ports import ASKER

AT_ONCE, QUOTED_AT_ONCE = 64, 12
"""Answers that are worked on at once: more than models take, whose own line is shorter; and where nothing but
this process works on them, as many as keep it busy."""
LONGEST_SECONDS = 45.0
"""The longest time that a question may wait for its turn, as far as can be told when it comes."""
LATELY, FEW = 64, 8
"""Answers by which it is told how long one takes, at most; and with fewer, that is not known."""


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
