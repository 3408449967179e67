"""Looking after memory: stale pairs, and how large it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain import Citation, Store
from core.ports.memory import Remembered


@dataclass(frozen=True, slots=True)
class StalePair:
    """A pair whose evidence changed, as it waits to be looked at or for an admin.

    `releases` are those whose pages it cites and that changed, `marked_at` when that was last seen
    and `checked_at` when the pair was last looked at, in seconds since the epoch. `finding` says why
    it could not be renewed; `proposal` is what would be answered now, "" where there is nothing.
    """

    pair: Remembered
    releases: tuple[str, ...]
    marked_at: float
    checked_at: float = 0.0
    finding: str = ""
    proposal: str = ""
    proposed: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """Pairs of one store of one release: how many are recalled, and how many wait behind a better one."""

    release: str
    store: Store
    kept: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Census:
    """How large memory is, and how it grew: `days` holds (UTC day since the epoch, pairs since stored)."""

    stores: tuple[Stored, ...] = ()
    days: tuple[tuple[int, int], ...] = ()


class UpkeepStore(Protocol):
    """Looks after stale pairs, and counts what is stored."""

    async def stale(self, limit: int = 0) -> tuple[StalePair, ...]:
        """Return stale pairs that stand in the high store, in order of id; a limit of 0 is none."""

    async def unchecked(self, limit: int) -> tuple[StalePair, ...]:
        """Return those of them that were not looked at since they were marked, the longest waiting first."""

    async def found(
        self, seen: StalePair, finding: str, proposal: str, proposed: Sequence[Citation], at: float
    ) -> bool:
        """Write down why a pair was not renewed; False where it was marked again or is gone."""

    async def renew(self, seen: StalePair, answer: str, citations: Sequence[Citation]) -> bool:
        """Make a pair current again; False where it was marked again since it was `seen`, or is gone."""

    async def census(self) -> Census:
        """Count placed pairs by release and store, and by the day on which they were made."""

    async def broken(self) -> list[str]:
        """Return a sentence for each pair whose marks contradict each other."""
