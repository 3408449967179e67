"""One partition of memory: the pairs of a release, a scope and a store, and their clusters.

Which pairs are in is decided by a rule that does not depend on the order of events: in order of
score (then age, then id) a pair is kept unless a kept one is as close as δ. ComRAG's algorithm 2
gives the same on pairs that only arrive; this also holds when votes are changed or withdrawn.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain import Cluster, Vector

ROUNDING = 1e-5
"""By how much two ways to compute a cosine of float32 vectors may differ."""
ROWS_AT_ONCE = 1024
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
    """Members with their vectors in one matrix; kept ones are clustered, shadowed ones wait."""

    def __init__(self, delta: float, tau: float, dimensions: int) -> None:
        self._delta = delta
        self._tau = tau
        self._vectors = np.zeros((16, dimensions), np.float32)
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._members: dict[str, Member] = {}
        self._shadow: dict[str, str] = {}
        self._cluster: dict[str, int] = {}
        self._clusters: dict[int, list[str]] = {}
        self._centroid_ids: list[int] = []
        self._centroids = np.zeros((0, dimensions), np.float32)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, pair_id: str) -> bool:
        return pair_id in self._row

    @property
    def dimensions(self) -> int:
        """Return the length of its vectors."""
        return int(self._vectors.shape[1])

    @property
    def kept(self) -> set[str]:
        """Return the ids of the pairs that are recalled."""
        return set(self._cluster)

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Return the clusters with their centroids (means of the members' vectors)."""
        return tuple(Cluster(key, self._mean(ids), tuple(ids)) for key, ids in self._clusters.items())

    @property
    def members(self) -> tuple[str, ...]:
        """Return the ids of all pairs, kept or waiting."""
        return tuple(self._ids)

    @property
    def centroids(self) -> dict[int, Vector]:
        """Return the centroids that are searched, scaled to unit length, by cluster."""
        return {key: self._centroids[place] for place, key in enumerate(self._centroid_ids)}

    def shadowed_by(self, pair_id: str) -> str:
        """Return the better pair that keeps this one out; empty when it is kept."""
        return self._shadow.get(pair_id, "")

    def cluster_of(self, pair_id: str) -> int | None:
        """Return the cluster of a kept pair."""
        return self._cluster.get(pair_id)

    def score_of(self, pair_id: str) -> float:
        """Return the score a member stands here with."""
        return self._members[pair_id].score

    def load(self, member: Member, cluster: int | None, shadowed_by: str) -> None:
        """Put a member where it stood before a restart, without deciding anything."""
        self._append(member)
        if shadowed_by or cluster is None:
            self._shadow[member.id] = shadowed_by
        else:
            self._join(member.id, cluster)

    def sound(self) -> bool:
        """Tell whether just those are kept that the rule keeps, for instance after δ was changed.

        No kept pair may be as close as δ to another, and each other one must be to a better kept one.
        """
        kept = [self._row[key] for key in self._cluster]
        for start in range(0, len(kept), ROWS_AT_ONCE):
            near = self._vectors[kept[start : start + ROWS_AT_ONCE]] @ self._vectors[kept].T
            if np.count_nonzero(near >= self._delta + ROUNDING) > len(near):  # each is near itself
                return False
        for key, better in self._shadow.items():
            if better not in self._cluster or self._members[better].rank > self._members[key].rank:
                return False
            cosine = float(self._vectors[self._row[key]] @ self._vectors[self._row[better]])
            if cosine < self._delta - ROUNDING:
                return False
        return True

    def put(self, member: Member) -> set[str]:
        """Add a member or change its score; return the ids whose place changed."""
        changed = {member.id}
        if member.id in self._row:
            if self._members[member.id].score == member.score:
                return set()
            changed |= self.remove(member.id)
        self._append(member)
        self._shadow[member.id] = ""
        return changed | self._settle([member.id])

    def remove(self, pair_id: str) -> set[str]:
        """Take a member out; return the ids whose place changed."""
        if pair_id not in self._row:
            return set()
        member = self._members[pair_id]
        was_kept = pair_id in self._cluster
        self._leave(pair_id)
        row, last = self._row.pop(pair_id), self._ids[-1]
        if last != pair_id:
            self._vectors[row] = self._vectors[len(self._ids) - 1]
            self._ids[row] = last
            self._row[last] = row
        self._ids.pop()
        del self._members[pair_id]
        self._shadow.pop(pair_id, None)
        changed = self._settle(self._worse_neighbours(member)) if was_kept else set()
        return changed | {pair_id}

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the k kept pairs nearest to a vector with their cosine, by exact search."""
        if not self._cluster:
            return []
        similarities = self._vectors[: len(self._ids)] @ vector
        wanted = min(len(self._ids), k + len(self._shadow))
        top = np.argpartition(-similarities, wanted - 1)[:wanted]
        return self._best(((self._ids[row], float(similarities[row])) for row in top), k)

    def nearest_by_centroid(self, vector: Vector, k: int, probed: int) -> list[tuple[str, float]]:
        """Return the k nearest kept pairs among the members of the nearest centroids (ComRAG algorithm 1)."""
        if not self._cluster:
            return []
        similarities = self._centroids @ vector
        probes = np.argsort(-similarities, kind="stable")[:probed]
        ids = [key for probe in probes for key in self._clusters[self._centroid_ids[probe]]]
        rows = [self._row[key] for key in ids]
        return self._best(zip(ids, (self._vectors[rows] @ vector).tolist(), strict=True), k)

    def _best(self, found: Iterable[tuple[str, float]], k: int) -> list[tuple[str, float]]:
        kept = ((key, similarity) for key, similarity in found if key in self._cluster)
        return heapq.nsmallest(k, kept, key=lambda item: (-item[1], item[0]))

    def _append(self, member: Member) -> None:
        if len(self._ids) == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._vectors[len(self._ids)] = member.vector
        self._row[member.id] = len(self._ids)
        self._ids.append(member.id)
        self._members[member.id] = member

    def _neighbours(self, member: Member) -> list[Member]:
        similarities = self._vectors[: len(self._ids)] @ member.vector
        rows: NDArray[np.intp] = np.flatnonzero(similarities >= self._delta)
        return [self._members[self._ids[row]] for row in rows if self._ids[row] != member.id]

    def _worse_neighbours(self, member: Member) -> list[str]:
        return [other.id for other in self._neighbours(member) if other.rank > member.rank]

    def _settle(self, ids: list[str]) -> set[str]:
        """Decide anew for these members, best first, and for every worse neighbour this touches."""
        changed: set[str] = set()
        waiting: list[tuple[Rank, str]] = [(self._members[key].rank, key) for key in ids]
        heapq.heapify(waiting)
        done: set[str] = set()
        while waiting:
            _, key = heapq.heappop(waiting)
            if key in done:
                continue
            done.add(key)
            member = self._members[key]
            better = [m for m in self._neighbours(member) if m.rank < member.rank and m.id in self._cluster]
            was_kept, shadow = key in self._cluster, min(better, key=lambda m: m.rank).id if better else ""
            if shadow != self._shadow.get(key, "") or was_kept == bool(shadow):
                changed.add(key)
            if shadow:
                self._leave(key)
                self._shadow[key] = shadow
            else:
                self._shadow.pop(key, None)
                if not was_kept:
                    self._enter(key)
            if was_kept != (not shadow):
                for other in self._worse_neighbours(member):
                    heapq.heappush(waiting, (self._members[other].rank, other))
        return changed

    def _enter(self, pair_id: str) -> None:
        """Join the nearest centroid from τ on, or start a cluster (ComRAG algorithm 2)."""
        if len(self._centroids):
            similarities = self._centroids @ self._members[pair_id].vector
            nearest = int(np.argmax(similarities))
            if similarities[nearest] >= self._tau:
                self._join(pair_id, self._centroid_ids[nearest])
                return
        self._join(pair_id, max(self._clusters, default=0) + 1)

    def _join(self, pair_id: str, cluster: int) -> None:
        self._cluster[pair_id] = cluster
        if cluster not in self._clusters:
            self._clusters[cluster] = []
            self._centroid_ids.append(cluster)
            self._centroids = np.concatenate(
                [self._centroids, np.zeros((1, self._vectors.shape[1]), np.float32)]
            )
        self._clusters[cluster].append(pair_id)
        self._recentre(cluster)

    def _leave(self, pair_id: str) -> None:
        cluster = self._cluster.pop(pair_id, None)
        if cluster is None:
            return
        self._clusters[cluster].remove(pair_id)
        if self._clusters[cluster]:
            self._recentre(cluster)
            return
        del self._clusters[cluster]
        place = self._centroid_ids.index(cluster)
        del self._centroid_ids[place]
        self._centroids = np.delete(self._centroids, place, axis=0)

    def _recentre(self, cluster: int) -> None:
        mean = self._mean(self._clusters[cluster])
        norm = float(np.linalg.norm(mean))
        self._centroids[self._centroid_ids.index(cluster)] = mean / norm if norm else mean

    def _mean(self, ids: list[str]) -> Vector:
        mean: Vector = self._vectors[[self._row[key] for key in ids]].mean(axis=0)
        return mean
