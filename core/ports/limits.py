"""How many questions are left to somebody or to a place, kept over restarts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Bucket:
    """Holds up to `size` questions and gets `rate` of them back a second; it is full at first."""

    name: str
    size: float
    rate: float

    def level(self, held: float, at: float, now: float) -> float:
        """Return what it holds now, where it held so much at a time; a clock that was set back adds none."""
        return min(self.size, held + max(0.0, now - at) * self.rate)

    def missing(self, level: float) -> float:
        """Return the seconds until it holds a question; infinite for one that is never filled again."""
        if level >= 1:
            return 0.0
        return (1 - level) / self.rate if self.rate else math.inf


class BucketStore(Protocol):
    """Keeps what buckets hold."""

    async def take(self, wanted: Sequence[Bucket], now: float) -> tuple[float, ...]:
        """Take a question from each bucket, or from none where one lacks it; `now` is since the epoch.

        Returns for each the seconds until it has one, 0 where it has.
        """


class HeldBuckets:
    """A `BucketStore` in this process's memory: for what must not be written down."""

    def __init__(self, most: int = 10_000) -> None:
        """Hold at most so many; the longest unused go first."""
        self._most = most
        self._held: dict[str, tuple[float, float]] = {}

    async def take(self, wanted: Sequence[Bucket], now: float) -> tuple[float, ...]:
        """Take a question from each bucket, or from none."""
        return self.taken(wanted, now)

    def taken(self, wanted: Sequence[Bucket], now: float) -> tuple[float, ...]:
        """Take a question from each bucket, or from none, at once."""
        levels = [bucket.level(*self._held.pop(bucket.name, (bucket.size, now)), now) for bucket in wanted]
        waits = tuple(bucket.missing(level) for bucket, level in zip(wanted, levels, strict=True))
        for bucket, level in zip(wanted, levels, strict=True):
            self._held[bucket.name] = (level if any(waits) else level - 1, now)
        while len(self._held) > self._most:
            del self._held[next(iter(self._held))]
        return waits
