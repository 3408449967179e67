"""One partition of memory: the pairs of a release, a scope and a store, and their clusters.

Which pairs are in is decided by a rule that does not depend on the order of events: in order of
score (then age, then id) a pair is kept unless a kept one is as close as δ. This also holds when votes are
changed or withdrawn. ComRAG's algorithm 2 decides by the order of arrival (`arrivals.py`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from core.domain import Vector
from core.memory.partitions.vectors import ROWS_AT_ONCE, Centroids, VectorTable

ROUNDING = 1e-5
"""By how much two ways to compute a cosine of float32 vectors may differ."""
SAMPLED = 2048
"""Kept pairs that `sound` compares with all others. A changed δ moves far more than one in a thousand
pairs; `memory verify` compares every one."""
Rank = tuple[float, float, str]


@dataclass(frozen=True, slots=True)
class Member:
    """A pair in a partition; `created_at` in seconds since the epoch."""

    id: str
    score: float
    created_at: float
    vector: Vector

    @property
    def rank(self) -> Rank:
        """Order members: better, then older, then by id, first."""
        return (-self.score, self.created_at, self.id)


class Partition:
    """Members with their vectors; kept ones are clustered and searched, shadowed ones wait.

    The first rows of the table are the kept pairs. Which pairs are as near as δ to another is looked up once
    and then followed.
    """

    def __init__(self, delta: float, tau: float, dimensions: int) -> None:
        self._delta = delta
        self._tau = tau
        self._vectors = VectorTable(dimensions)
        self._kept: dict[str, None] = {}
        self._rank: dict[str, Rank] = {}
        self._shadow: dict[str, str] = {}
        self._near: dict[str, set[str]] = {}
        self._centroids = Centroids(dimensions, self._vectors.mean)
        self.changes = 0
        """How often a member came, went, or got another score."""

    def __len__(self) -> int:
        return len(self._vectors)

    def __contains__(self, pair_id: str) -> bool:
        return pair_id in self._vectors

    @property
    def dimensions(self) -> int:
        """Return the length of its vectors."""
        return self._vectors.dimensions

    @property
    def kept(self) -> Set[str]:
        """Return the ids of the pairs that are recalled; a view that follows what changes."""
        return self._kept.keys()

    @property
    def clustered(self) -> dict[int, tuple[str, ...]]:
        """Return the ids in each cluster."""
        return self._centroids.clustered()

    def mean(self, pair_ids: Iterable[str]) -> Vector:
        """Return the mean of the vectors of some of its pairs."""
        return self._vectors.mean(pair_ids)

    @property
    def members(self) -> tuple[str, ...]:
        """Return the ids of all pairs, kept or waiting."""
        return self._vectors.names

    @property
    def centroids(self) -> dict[int, Vector]:
        """Return the centroids that are searched, scaled to unit length, by cluster."""
        return self._centroids.vectors()

    def shadowed_by(self, pair_id: str) -> str:
        """Return the better pair that keeps this one out; empty when it is kept."""
        return self._shadow.get(pair_id, "")

    def cluster_of(self, pair_id: str) -> int | None:
        """Return the cluster of a kept pair."""
        return self._centroids.of(pair_id)

    def vector_of(self, pair_id: str) -> Vector:
        """Return the vector of a member's own question."""
        return self._vectors.of(pair_id)

    def score_of(self, pair_id: str) -> float:
        """Return the score a member stands here with."""
        return -self._rank[pair_id][0]

    def by_age(self) -> list[Member]:
        """Return all members as they stand here, oldest first."""
        aged = sorted((created_at, pair_id, score) for score, created_at, pair_id in self._rank.values())
        return [Member(key, -score, at, self._vectors.of(key)) for at, key, score in aged]

    def load(self, member: Member, cluster: int | None, shadowed_by: str) -> None:
        """Restore a member's saved place, without deciding anything."""
        self._append(member)
        if shadowed_by or cluster is None:
            self._shadow[member.id] = shadowed_by
        else:
            self._keep(member.id, cluster)

    def sound(self) -> bool:
        """Return True if just those are kept that the rule keeps, for instance after δ was changed.

        No kept pair may be as close as δ to another, and each other one must be to a better kept one.
        Of more than `SAMPLED` kept pairs so many are compared with all.
        """
        kept = self._vectors.first(len(self._kept))
        rows = np.unique(np.linspace(0, len(kept) - 1, min(len(kept), SAMPLED)).astype(np.intp))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            near = kept[rows[start : start + ROWS_AT_ONCE]] @ kept.T
            if np.count_nonzero(near >= self._delta + ROUNDING) > len(near):  # each is near itself
                return False
        for key, better in self._shadow.items():
            if better not in self._kept or self._rank[better] > self._rank[key]:
                return False
            if self._vectors.cosine(key, better) < self._delta - ROUNDING:
                return False
        return True

    def put(self, member: Member) -> set[str]:
        """Add a member or change its score; return the ids whose place changed."""
        return self.put_all([member])

    def put_all(self, members: Iterable[Member]) -> set[str]:
        """Do the same for many, each once; new ones are compared with all in one product."""
        changed: set[str] = set()
        touched: list[str] = []
        new: list[str] = []
        for member in members:
            before = self._rank.get(member.id)
            if before is None:
                self._append(member)
                self._shadow[member.id] = ""
                new.append(member.id)
            elif before[0] != -member.score:
                self._rank[member.id] = member.rank
                self.changes += 1
                changed.add(member.id)
                touched.append(member.id)
                if member.id in self._kept:
                    touched += self._worse_neighbours(member.id, min(before, member.rank))
        self._learn(new)
        for key in new:
            for other in self._near[key] & self._near.keys():
                self._near[other].add(key)
        return changed.union(new, self._settle([*new, *touched]))

    def remove(self, pair_id: str) -> set[str]:
        """Take a member out; return the ids whose place changed."""
        if pair_id not in self._vectors:
            return set()
        near = self._near_of(pair_id)
        freed = self._worse_neighbours(pair_id, self._rank[pair_id]) if pair_id in self._kept else []
        self._drop(pair_id)
        self.changes += 1
        self._vectors.remove(pair_id)
        del self._rank[pair_id], self._near[pair_id]
        self._shadow.pop(pair_id, None)
        for other in near:
            if other in self._near:
                self._near[other].discard(pair_id)
        return {pair_id} | self._settle(freed)

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the k kept pairs nearest to a vector with their cosine, by exact search."""
        return self._vectors.nearest(vector, k, len(self._kept))

    def waiting(self, vector: Vector, k: int, least: float) -> dict[str, str]:
        """Return the k nearest pairs that wait, from a cosine on, each with the better one before it."""
        near = self._vectors.nearest(vector, k, len(self), len(self._kept))
        return {pair_id: self._shadow[pair_id] for pair_id, cosine in near if cosine >= least}

    # --- who is near whom -------------------------------------------------------------------------

    def _near_of(self, pair_id: str) -> set[str]:
        if pair_id not in self._near:
            self._learn([pair_id])
        return self._near[pair_id]

    def _learn(self, ids: Sequence[str]) -> None:
        """Find the members as near as δ to each of these, in one product for many."""
        unknown = [key for key in ids if key not in self._near]
        for key in unknown:
            self._near[key] = set()
        for key, other in self._vectors.near(unknown, self._delta):
            self._near[key].add(other)

    def _worse_neighbours(self, pair_id: str, rank: Rank) -> list[str]:
        return [other for other in self._near_of(pair_id) if self._rank[other] > rank]

    # --- who is kept ------------------------------------------------------------------------------

    def _settle(self, ids: Sequence[str]) -> set[str]:
        """Decide again for these members, best first, and for every worse neighbour affected."""
        changed: set[str] = set()
        self._learn(ids)
        waiting: list[Rank] = [self._rank[key] for key in ids]
        heapq.heapify(waiting)
        done: set[str] = set()
        while waiting:
            rank = heapq.heappop(waiting)
            key = rank[2]
            if key in done:
                continue
            done.add(key)
            better = [r for n in self._near_of(key) if n in self._kept and (r := self._rank[n]) < rank]
            was_kept, shadow = key in self._kept, min(better)[2] if better else ""
            if shadow != self._shadow.get(key, "") or was_kept == bool(shadow):
                changed.add(key)
            if shadow:
                self._drop(key)
                self._shadow[key] = shadow
            else:
                self._shadow.pop(key, None)
                if not was_kept:
                    self._keep(key, self._cluster_for(key))
            if was_kept != (not shadow):
                worse = self._worse_neighbours(key, rank)
                self._learn(worse)
                for other in worse:
                    heapq.heappush(waiting, self._rank[other])
        return changed

    def _cluster_for(self, pair_id: str) -> int | None:
        """Return the cluster of the nearest centroid from τ on; None starts one (ComRAG algorithm 2)."""
        near = self._centroids.nearest(self._vectors.of(pair_id), 1)
        return near[0][0] if near and near[0][1] >= self._tau else None

    def _keep(self, pair_id: str, cluster: int | None) -> None:
        self._vectors.move(pair_id, len(self._kept))
        self._kept[pair_id] = None
        self._centroids.join(pair_id, cluster)

    def _drop(self, pair_id: str) -> None:
        if pair_id in self._kept:
            del self._kept[pair_id]
            self._vectors.move(pair_id, len(self._kept))
            self._centroids.leave(pair_id)

    def _append(self, member: Member) -> None:
        self.changes += 1
        self._vectors.append(member.id, member.vector)
        self._rank[member.id] = member.rank
