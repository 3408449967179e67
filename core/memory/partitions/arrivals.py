"""A store as ComRAG keeps it: pairs arrive one by one, and of two alike one is thrown away (algorithm 2).

Which pairs are left depends on the order in which they came. Threadlore's own rule does not
(`partition.py`); this one serves the recipe `comrag`, and is replayed from the pairs that a partition holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.domain import Vector
from core.memory.partitions.partition import Member, Partition
from core.memory.partitions.partition_index import Key
from core.memory.partitions.vectors import Centroids, VectorTable
from core.system.offload import aside


class Arrivals:
    """What algorithm 2 keeps of the pairs that arrived, and the clusters they are in."""

    def __init__(self, delta: float, tau: float, dimensions: int) -> None:
        self._delta = delta
        self._tau = tau
        self._vectors = VectorTable(dimensions)
        self._scores: dict[str, float] = {}
        self._centroids = Centroids(dimensions, self._vectors.mean)

    @property
    def kept(self) -> frozenset[str]:
        """Return the ids of the pairs that are left."""
        return frozenset(self._scores)

    @property
    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Return the ids in each cluster."""
        return tuple(self._centroids.clustered().values())

    def arrive(self, pair_id: str, vector: Vector, score: float) -> None:
        """Take in a pair; where another is as near as δ, only if it is better, and in the place of that one.

        A better one joins the other's cluster; a new one joins the nearest centroid from τ on, or starts a
        cluster.
        """
        near = self._vectors.nearest(vector, 1, len(self._vectors))
        if near and near[0][1] >= self._delta:
            other = near[0][0]
            if score <= self._scores[other]:
                return
            cluster = self._centroids.of(other)
            self._vectors.append(pair_id, vector)
            self._centroids.join(pair_id, cluster)  # before the other leaves, or its cluster might be closed
            self._centroids.leave(other)
            self._vectors.remove(other)
            del self._scores[other]
        else:
            nearest = self._centroids.nearest(vector, 1)
            cluster = nearest[0][0] if nearest and nearest[0][1] >= self._tau else None
            self._vectors.append(pair_id, vector)
            self._centroids.join(pair_id, cluster)
        self._scores[pair_id] = score

    def arrive_all(self, members: Iterable[Member]) -> None:
        """Take in several, in this order."""
        for member in members:
            self.arrive(member.id, member.vector, member.score)

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the k pairs nearest to a vector among the members of the k nearest centroids, with cosines.

        Algorithm 1, lines 4 and 5, 11 to 13: the paper has one k for both.
        """
        clusters = self._centroids.nearest(vector, k)
        ids = [pair_id for cluster, _ in clusters for pair_id in self._centroids.members(cluster)]
        return self._vectors.nearest_of(ids, vector, k)


class Replayed:
    """The arrivals of each partition, replayed in the order in which its pairs were made.

    What only grew since is replayed from where it grew; after a vote that changed an older pair all of it is.
    """

    def __init__(self) -> None:
        self._known: dict[Key, _Replay] = {}
        self._changing = asyncio.Lock()

    async def of(self, key: Key, partition: Partition, delta: float, tau: float) -> Arrivals:
        """Return a partition's arrivals under these thresholds."""
        async with self._changing:
            known = self._known.get(key)
            state = (partition.changes, delta, tau)
            if known is not None and known.partition is partition and known.state == state:
                return known.arrivals
            members = partition.by_age()
            goes_on = known is not None and known.partition is partition and known.state[1:] == state[1:]
            if known is None or not goes_on or not _goes_on(known.members, members):
                known = _Replay(Arrivals(delta, tau, partition.dimensions), partition)
            late = members[len(known.members) :]
            await aside(len(late), known.arrivals.arrive_all, late)
            known.state, known.members = state, members
            self._known[key] = known
            return known.arrivals


@dataclass(slots=True)
class _Replay:
    """Arrivals with what they were replayed from."""

    arrivals: Arrivals
    partition: Partition
    state: tuple[int, float, float] = (-1, 0.0, 0.0)
    members: Sequence[Member] = ()


def _goes_on(before: Sequence[Member], now: Sequence[Member]) -> bool:
    """Return True if the members begin as they did before."""
    return [(m.id, m.score) for m in before] == [(m.id, m.score) for m in now[: len(before)]]
