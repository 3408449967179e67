"""How often a source is read: the more often it changes, and soon again after a failure (*ours*)."""

from __future__ import annotations

from dataclasses import dataclass

HOUR = 3600.0
DAY = 24 * HOUR
WEEK = 7 * DAY
LEVELS = 8
"""Halvings and doublings that are remembered at most: enough to go from a week to an hour."""
RETRY_SECONDS = 300.0
"""Wait after the first failure; it doubles with each further one, up to the usual interval."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Seconds between two readings: at first, and the bounds that what is learnt stays in."""

    start: float = DAY
    least: float = HOUR
    most: float = WEEK

    @property
    def adapts(self) -> bool:
        """Return True if anything is learnt."""
        return self.least < self.most

    def every(self, level: int = 0) -> float:
        """Return the seconds between two readings of a source whose changes led to that level."""
        return min(max(self.start * 2.0**-level, self.least), self.most)

    def wait(self, level: int, failures: int) -> float:
        """Return the seconds from the last reading to the next one."""
        usual = self.every(level)
        return min(usual, RETRY_SECONDS * 2.0 ** (failures - 1)) if failures else usual


USUAL = Schedule()


def next_level(level: int, changed: bool) -> int:
    """Go up by one where a reading found a change, else down: so intervals settle where every second does."""
    return min(max(level + (1 if changed else -1), -LEVELS), LEVELS)
