"""Clusters of one partition and their centroids, the middle of ComRAG's memory (§4, algorithms 1 and 2).

A centroid is the mean of its members' vectors. It is computed anew from them when it is next needed
after its cluster changed: no error adds up, and whoever loads many members pays for each cluster once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from core.domain import Vector

Mean = Callable[[Iterable[str]], Vector]


class Centroids:
    """Which pair is in which cluster; `mean` gives the mean vector of pairs by their ids."""

    def __init__(self, dimensions: int, mean: Mean) -> None:
        self._mean = mean
        self._members: dict[int, dict[str, None]] = {}
        self._of: dict[str, int] = {}
        self._matrix = np.zeros((16, dimensions), np.float32)
        self._keys: list[int] = []
        self._row: dict[int, int] = {}
        self._changed: set[int] = set()
        self._next = 1

    def __len__(self) -> int:
        return len(self._keys)

    def of(self, pair_id: str) -> int | None:
        """Return the cluster of a pair, None where it is in none."""
        return self._of.get(pair_id)

    def members(self, cluster: int) -> Sequence[str]:
        """Return the ids of a cluster's pairs, in the order in which they joined."""
        return tuple(self._members[cluster])

    def clustered(self) -> dict[int, tuple[str, ...]]:
        """Return the ids in each cluster, in the order in which they joined."""
        return {key: tuple(ids) for key, ids in self._members.items()}

    def vectors(self) -> dict[int, Vector]:
        """Return the centroids that are searched, scaled to unit length, by cluster."""
        self._refresh()
        return {key: self._matrix[row] for row, key in enumerate(self._keys)}

    def nearest(self, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return the clusters with the nearest centroids and their cosine, nearest first."""
        self._refresh()
        if not self._keys:
            return []
        similarities = self._matrix[: len(self._keys)] @ vector
        wanted = min(count, len(self._keys))
        top = np.argpartition(-similarities, wanted - 1)[:wanted]
        return [
            (self._keys[row], float(similarities[row]))
            for row in sorted(top, key=lambda row: (-similarities[row], row))
        ]

    def join(self, pair_id: str, cluster: int | None) -> None:
        """Put a pair into a cluster; None starts a new one."""
        if cluster is None:
            cluster = self._next
        if cluster not in self._members:
            self._start(cluster)
        self._members[cluster][pair_id] = None
        self._of[pair_id] = cluster
        self._changed.add(cluster)

    def leave(self, pair_id: str) -> None:
        """Take a pair out of its cluster; the last one closes it."""
        cluster = self._of.pop(pair_id)
        del self._members[cluster][pair_id]
        self._changed.add(cluster)
        if not self._members[cluster]:
            self._close(cluster)

    def _start(self, cluster: int) -> None:
        self._next = max(self._next, cluster + 1)
        if len(self._keys) == len(self._matrix):
            self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
        self._members[cluster] = {}
        self._row[cluster] = len(self._keys)
        self._keys.append(cluster)

    def _close(self, cluster: int) -> None:
        """Remove a cluster; the last row takes its place."""
        del self._members[cluster]
        self._changed.discard(cluster)
        row, last = self._row.pop(cluster), self._keys.pop()
        if last != cluster:
            self._matrix[row] = self._matrix[len(self._keys)]
            self._keys[row] = last
            self._row[last] = row
        self._matrix[len(self._keys)] = 0.0

    def _refresh(self) -> None:
        for cluster in self._changed:
            mean = self._mean(self._members[cluster])
            norm = float(np.linalg.norm(mean))
            self._matrix[self._row[cluster]] = mean / norm if norm else mean
        self._changed.clear()
