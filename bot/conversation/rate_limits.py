"""Token buckets: how much one person, and one channel, may ask (QA pre-generation, engineering)."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from core.languages import _

BURST = 5
"""Questions that a full bucket holds beyond the steady rate of a minute."""
CHANNEL_SHARE = 5
"""How many people's worth of questions a channel may ask."""
REMEMBERED = 10_000
"""Buckets kept; the longest unused go first."""


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


def wait_text(seconds: float) -> str:
    """Ask somebody to ask again later."""
    return _("Please ask again in {seconds} s.").format(seconds=rounded(seconds))


def rounded(seconds: float) -> int:
    """Return whole seconds to wait, never too few."""
    return math.ceil(seconds)


class Limits:
    """Counts questions by person and by channel."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait(self, person: str, channel: str) -> float:
        """Take one question from both buckets; return 0.0, or the seconds until there is one."""
        wanted = [(f"person {person}", 1.0), (f"channel {channel}", float(CHANNEL_SHARE))]
        waits = [self._missing(name, share) for name, share in wanted]
        if max(waits) > 0:
            return max(waits)
        for name, _share in wanted:
            self._buckets[name].level -= 1
        return 0.0

    def _missing(self, name: str, share: float) -> float:
        now, rate = self._clock(), self._per_minute * share / 60
        size = max(1.0, self._per_minute * share, BURST * share)
        bucket = self._buckets.pop(name, None) or _Bucket(size, now)
        bucket.level = min(size, bucket.level + (now - bucket.at) * rate)
        bucket.at = now
        self._buckets[name] = bucket
        while len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return max(0.0, (1 - bucket.level) / rate)
