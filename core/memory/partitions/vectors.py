"""The vectors of one partition: named rows of one matrix, and its clusters with their centroids (ComRAG §4).

A centroid is the mean of its members' vectors. It is computed again from them when it is next needed
after its cluster changed: no error adds up, and whoever loads many members pays for each cluster once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from core.domain import Vector
from core.ports import Matrix

ROWS_AT_ONCE = 256
"""Rows compared with all others in one product; with 100,000 of them that takes 100 MB."""


class VectorTable:
    """Unit vectors by name, each in a row; names may trade rows, so that some stand first."""

    def __init__(self, dimensions: int) -> None:
        self._matrix = np.zeros((16, dimensions), np.float32)
        self._names: list[str] = []
        self._row: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._row

    @property
    def dimensions(self) -> int:
        """Return the length of the vectors."""
        return int(self._matrix.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """Return all names, in the order of their rows."""
        return tuple(self._names)

    def of(self, name: str) -> Vector:
        """Return a copy of the vector of a name."""
        vector: Vector = self._matrix[self._row[name]].copy()
        return vector

    def first(self, count: int) -> Matrix:
        """Return the first rows, of shape (count, dimensions), as a view."""
        rows: Matrix = self._matrix[:count]
        return rows

    def append(self, name: str, vector: Vector) -> None:
        """Put a new name into the last row."""
        if len(self) == len(self._matrix):
            self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
        self._matrix[len(self)] = vector
        self._row[name] = len(self)
        self._names.append(name)

    def remove(self, name: str) -> None:
        """Remove a name; the last row moves into its place."""
        last = len(self) - 1
        self.move(name, last)
        self._names.pop()
        self._matrix[last] = 0.0
        del self._row[name]

    def move(self, name: str, row: int) -> None:
        """Put a name into a row; the one that stood there gets its row."""
        own, other = self._row[name], self._names[row]
        if own == row:
            return
        self._matrix[[own, row]] = self._matrix[[row, own]]
        self._names[own], self._names[row] = other, name
        self._row[name], self._row[other] = row, own

    def mean(self, names: Iterable[str]) -> Vector:
        """Return the mean of the vectors of some names."""
        mean: Vector = self._matrix[[self._row[name] for name in names]].mean(axis=0)
        return mean

    def cosine(self, one: str, other: str) -> float:
        """Return the cosine of two names' vectors."""
        return float(self._matrix[self._row[one]] @ self._matrix[self._row[other]])

    def nearest(self, vector: Vector, k: int, end: int, start: int = 0) -> list[tuple[str, float]]:
        """Return the k names nearest to a vector among the rows from `start` to before `end`, with cosine."""
        wanted = min(end - start, k)
        if not wanted:
            return []
        cosines = self._matrix[start:end] @ vector
        top = np.argpartition(-cosines, wanted - 1)[:wanted]
        return _best(((self._names[start + row], float(cosines[row])) for row in top), k)

    def nearest_of(self, names: Sequence[str], vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the k of these names that are nearest to a vector, with their cosine."""
        rows = [self._row[name] for name in names]
        return _best(zip(names, (self._matrix[rows] @ vector).tolist(), strict=True), k) if names else []

    def near(self, names: Sequence[str], cosine: float) -> Iterator[tuple[str, str]]:
        """Yield each of these names with every other name that is as near as `cosine`."""
        for start in range(0, len(names), ROWS_AT_ONCE):
            some = names[start : start + ROWS_AT_ONCE]
            for place, row in np.argwhere(self._cosines([self._row[name] for name in some]) >= cosine):
                if self._names[row] != some[place]:
                    yield some[place], self._names[row]

    def _cosines(self, rows: Sequence[int]) -> Matrix:
        """Return the cosines of some rows with all, of shape (rows, names)."""
        names = self._matrix[: len(self)]
        if len(rows) == 1:
            single: Matrix = (names @ names[rows[0]])[None]
            return single
        several: Matrix = names[rows] @ names.T
        return several


def _best(found: Iterable[tuple[str, float]], k: int) -> list[tuple[str, float]]:
    return heapq.nsmallest(k, found, key=lambda item: (-item[1], item[0]))


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
