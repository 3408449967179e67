"""How often replies that grow are changed: a few at once, then as many a minute as Slack takes of all.

Slack counts calls by method, app and workspace, and welcomes bursts (docs.slack.dev, rate limits): 50 a
minute of `chat.update`, 100 of `chat.appendStream`. What is final is never held back, so some calls are left
for it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """Seconds between two changes of one reply; changes of all replies at once, and a minute beyond that."""

    interval: float
    burst: int
    a_minute: float


_KNOWN = 500
"""Replies whose last change is remembered."""
EDITS = Allowance(1.25, 15, 30.0)
"""For `chat.update`: at most 45 in any minute."""
APPENDS = Allowance(0.7, 25, 75.0)
"""For `chat.appendStream`: at most 100 in any minute."""


@dataclass(frozen=True, slots=True)
class Pacing:
    """How often replies that grow are changed, and for how many seconds not after a change was refused."""

    edits: Allowance = EDITS
    appends: Allowance = APPENDS
    refused: float = 6.0


PACING = Pacing()


class Pace:
    """Counts the changes of one kind.

    The first change of a reply, which shows the pages, is never held back; it is borrowed from later ones.
    """

    def __init__(self, allowance: Allowance, clock: Callable[[], float]) -> None:
        self._allowance, self._clock = allowance, clock
        self._left, self._at = float(allowance.burst), clock()
        self._changed: OrderedDict[str, float] = OrderedDict()

    def may(self, key: str) -> bool:
        """Take one change of a reply; False where it was changed just now, or too many were of late."""
        now, allowance = self._clock(), self._allowance
        self._left = min(allowance.burst, self._left + (now - self._at) * allowance.a_minute / 60)
        self._at = now
        before = self._changed.get(key)
        if before is not None and (self._left < 1 or now - before < allowance.interval):
            return False
        self._left = max(-allowance.burst, self._left - 1)
        self._changed[key] = now
        self._changed.move_to_end(key)
        while len(self._changed) > _KNOWN:
            self._changed.popitem(last=False)
        return True
