"""One partition of memory: the pairs of a release, a scope and a store, and their clusters.

Which pairs are in is decided by a rule that does not depend on the order of events: in order of
score (then age, then id) a pair is kept unless a kept one is as close as δ. ComRAG's algorithm 2
gives the same on pairs that only arrive; this also holds when votes are changed or withdrawn.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from core.domain import Cluster, Vector
from core.memory.centroids import Centroids
from core.ports import Matrix

ROUNDING = 1e-5
"""By how much two ways to compute a cosine of float32 vectors may differ."""
ROWS_AT_ONCE = 256
"""Rows compared with all others in one product; with 100,000 of them that takes 100 MB."""
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
    """Members with their vectors in one matrix; kept ones are clustered, shadowed ones wait.

    The first rows of the matrix are the kept pairs, so that a search is one product with them. Which
    pairs are as near as δ to another is looked up once and then followed.
    """

    def __init__(self, delta: float, tau: float, dimensions: int) -> None:
        self._delta = delta
        self._tau = tau
        self._vectors = np.zeros((16, dimensions), np.float32)
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._kept: dict[str, None] = {}
        self._rank: dict[str, Rank] = {}
        self._shadow: dict[str, str] = {}
        self._near: dict[str, set[str]] = {}
        self._centroids = Centroids(dimensions, self._mean)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, pair_id: str) -> bool:
        return pair_id in self._row

    @property
    def dimensions(self) -> int:
        """Return the length of its vectors."""
        return int(self._vectors.shape[1])

    @property
    def kept(self) -> Set[str]:
        """Return the ids of the pairs that are recalled; a view that follows what changes."""
        return self._kept.keys()

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Return the clusters with their centroids (means of the members' vectors)."""
        return self._centroids.all()

    @property
    def clustered(self) -> dict[int, tuple[str, ...]]:
        """Return the ids in each cluster."""
        return self._centroids.clustered()

    @property
    def members(self) -> tuple[str, ...]:
        """Return the ids of all pairs, kept or waiting."""
        return tuple(self._ids)

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
        vector: Vector = self._vectors[self._row[pair_id]].copy()
        return vector

    def score_of(self, pair_id: str) -> float:
        """Return the score a member stands here with."""
        return -self._rank[pair_id][0]

    def load(self, member: Member, cluster: int | None, shadowed_by: str) -> None:
        """Put a member where it stood before a restart, without deciding anything."""
        self._append(member)
        if shadowed_by or cluster is None:
            self._shadow[member.id] = shadowed_by
        else:
            self._keep(member.id, cluster)

    def sound(self) -> bool:
        """Tell whether just those are kept that the rule keeps, for instance after δ was changed.

        No kept pair may be as close as δ to another, and each other one must be to a better kept one.
        Of more than `SAMPLED` kept pairs so many are compared with all.
        """
        kept = self._vectors[: len(self._kept)]
        rows = np.unique(np.linspace(0, len(kept) - 1, min(len(kept), SAMPLED)).astype(np.intp))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            near = kept[rows[start : start + ROWS_AT_ONCE]] @ kept.T
            if np.count_nonzero(near >= self._delta + ROUNDING) > len(near):  # each is near itself
                return False
        for key, better in self._shadow.items():
            if better not in self._kept or self._rank[better] > self._rank[key]:
                return False
            cosine = float(self._vectors[self._row[key]] @ self._vectors[self._row[better]])
            if cosine < self._delta - ROUNDING:
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
        if pair_id not in self._row:
            return set()
        near = self._near_of(pair_id)
        freed = self._worse_neighbours(pair_id, self._rank[pair_id]) if pair_id in self._kept else []
        self._drop(pair_id)
        row, last = self._row[pair_id], len(self._ids) - 1
        self._swap(row, last)
        self._ids.pop()
        self._vectors[last] = 0.0
        del self._row[pair_id], self._rank[pair_id], self._near[pair_id]
        self._shadow.pop(pair_id, None)
        for other in near:
            if other in self._near:
                self._near[other].discard(pair_id)
        return {pair_id} | self._settle(freed)

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the k kept pairs nearest to a vector with their cosine, by exact search."""
        if not self._kept:
            return []
        similarities = self._vectors[: len(self._kept)] @ vector
        wanted = min(len(similarities), k)
        top = np.argpartition(-similarities, wanted - 1)[:wanted]
        return _best(((self._ids[row], float(similarities[row])) for row in top), k)

    def nearest_by_centroid(self, vector: Vector, k: int, probed: int) -> list[tuple[str, float]]:
        """Return the k nearest kept pairs among the members of the nearest centroids (ComRAG algorithm 1)."""
        clusters = self._centroids.nearest(vector, probed)
        ids = [key for cluster, _ in clusters for key in self._centroids.members(cluster)]
        rows = [self._row[key] for key in ids]
        return _best(zip(ids, (self._vectors[rows] @ vector).tolist(), strict=True), k) if ids else []

    # --- who is near whom -------------------------------------------------------------------------

    def _near_of(self, pair_id: str) -> set[str]:
        if pair_id not in self._near:
            self._learn([pair_id])
        return self._near[pair_id]

    def _learn(self, ids: Sequence[str]) -> None:
        """Find the members as near as δ to each of these, in one product for many."""
        unknown = [key for key in ids if key not in self._near]
        for start in range(0, len(unknown), ROWS_AT_ONCE):
            some = unknown[start : start + ROWS_AT_ONCE]
            similarities = self._similarities([self._row[key] for key in some])
            for key in some:
                self._near[key] = set()
            for place, row in np.argwhere(similarities >= self._delta):
                if self._ids[row] != some[place]:
                    self._near[some[place]].add(self._ids[row])

    def _similarities(self, rows: Sequence[int]) -> Matrix:
        members = self._vectors[: len(self._ids)]
        if len(rows) == 1:
            single: Matrix = (members @ members[rows[0]])[None]
            return single
        several: Matrix = members[rows] @ members.T
        return several

    def _worse_neighbours(self, pair_id: str, rank: Rank) -> list[str]:
        return [other for other in self._near_of(pair_id) if self._rank[other] > rank]

    # --- who is kept ------------------------------------------------------------------------------

    def _settle(self, ids: Sequence[str]) -> set[str]:
        """Decide anew for these members, best first, and for every worse neighbour this touches."""
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
        near = self._centroids.nearest(self._vectors[self._row[pair_id]], 1)
        return near[0][0] if near and near[0][1] >= self._tau else None

    def _keep(self, pair_id: str, cluster: int | None) -> None:
        self._swap(self._row[pair_id], len(self._kept))
        self._kept[pair_id] = None
        self._centroids.join(pair_id, cluster)

    def _drop(self, pair_id: str) -> None:
        if pair_id in self._kept:
            del self._kept[pair_id]
            self._swap(self._row[pair_id], len(self._kept))
            self._centroids.leave(pair_id)

    # --- rows -------------------------------------------------------------------------------------

    def _append(self, member: Member) -> None:
        if len(self._ids) == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._vectors[len(self._ids)] = member.vector
        self._row[member.id] = len(self._ids)
        self._ids.append(member.id)
        self._rank[member.id] = member.rank

    def _swap(self, one: int, other: int) -> None:
        if one == other:
            return
        self._vectors[[one, other]] = self._vectors[[other, one]]
        self._ids[one], self._ids[other] = self._ids[other], self._ids[one]
        self._row[self._ids[one]], self._row[self._ids[other]] = one, other

    def _mean(self, ids: Iterable[str]) -> Vector:
        mean: Vector = self._vectors[[self._row[key] for key in ids]].mean(axis=0)
        return mean


def _best(found: Iterable[tuple[str, float]], k: int) -> list[tuple[str, float]]:
    return heapq.nsmallest(k, found, key=lambda item: (-item[1], item[0]))
