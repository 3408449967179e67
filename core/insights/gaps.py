"""How well the community is served, and the gaps in the documentation."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from core.domain import Vector
from core.insights.statistics import EVERYTHING, Cited, Day, Gap, Served, StatisticsStore, Within
from core.memory.scoring.score import DAY_SECONDS, Thresholds
from core.models.embedding.encoder import Encoders
from core.ports import Matrix, for_questions
from core.system.offload import aside

__all__ = ["Gap", "Statistics", "grouped"]

DAYS = 30
"""Days that are looked at where nobody says otherwise."""
GROUPED = 20
"""Questions that are grouped at once; 50 take 20 ms."""
LIMIT = 2_000
"""Questions that are grouped at most, the newest ones."""


class Statistics:
    """Tells how the community is served."""

    def __init__(self, store: StatisticsStore, encoders: Encoders, thresholds: Thresholds) -> None:
        self._store = store
        self._encoders = encoders
        self._thresholds = thresholds

    async def days(self, days: int, within: Within = EVERYTHING) -> tuple[Day, ...]:
        """Return the last days, oldest first; those without anything are left out."""
        return await self._store.days(time.time() - days * DAY_SECONDS, within)

    async def cited(self, days: int, within: Within = EVERYTHING) -> tuple[Cited, ...]:
        """Return the pages that public answers of the last days cite, the most cited first."""
        return await self._store.cited(time.time() - days * DAY_SECONDS, within)

    async def channels(self, days: int) -> tuple[str, ...]:
        """Return the public channels where anything was asked in the last days, the busiest first."""
        return await self._store.channels(time.time() - days * DAY_SECONDS)

    async def served(self, since: float) -> tuple[Served, ...]:
        """Return the answers since a time (seconds since the epoch), oldest first."""
        return await self._store.served(since)

    async def totals(self) -> dict[str, Counter[str]]:
        """Return answers by route, votes by value (`up`, `down`, `withdrawn`), and `wrong` reuse."""
        return await self._store.totals()

    async def wrong_reuse(self, days: int) -> int:
        """Return how many remembered answers of the last days were to another question, as people said."""
        return sum(day.wrong_reuse for day in await self.days(days))

    async def gaps(self, days: int, within: Within = EVERYTHING) -> tuple[Gap, ...]:
        """Return what was not served in the last days, the largest gap first, resolved ones last.

        Questions are grouped as ComRAG groups pairs: each joins the nearest centroid that is as near as τ,
        or starts a group; a centroid is the mean of its members.
        """
        found = await self._store.unserved(time.time() - days * DAY_SECONDS, LIMIT, within)
        if not found:
            return ()
        encoder = for_questions(await self._encoders.current())
        vectors = await encoder.encode([question.topic for question in found])
        groups = await aside(len(found), grouped, vectors, self._thresholds.tau, few=GROUPED)
        gaps = (Gap(tuple(found[at] for at in group)) for group in groups)
        return tuple(sorted(gaps, key=lambda gap: (gap.is_resolved, -len(gap.questions), -gap.example.at)))


def grouped(vectors: Matrix | Sequence[Vector], tau: float) -> list[list[int]]:
    """Group vectors of unit length around centroids; return the places in each group, in order."""
    sums: list[Vector] = []
    centroids = np.zeros((len(vectors), len(vectors[0]) if len(vectors) else 0), np.float32)
    groups: list[list[int]] = []
    for place, vector in enumerate(vectors):
        best = len(sums)
        if sums:
            near = centroids[:best] @ vector
            nearest = int(np.argmax(near))
            best = nearest if near[nearest] >= tau else best
        if best == len(sums):
            sums.append(np.array(vector))
            groups.append([place])
        else:
            sums[best] = sums[best] + vector
            groups[best].append(place)
        centroids[best] = sums[best] / max(float(np.linalg.norm(sums[best])), 1e-9)
    return groups
