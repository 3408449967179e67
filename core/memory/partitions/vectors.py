"""Named vectors in one growing matrix: a search among the first rows is one product."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

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

    def nearest(self, vector: Vector, k: int, count: int) -> list[tuple[str, float]]:
        """Return the k names nearest to a vector among the first `count` rows, with their cosine."""
        if not count:
            return []
        cosines = self._matrix[:count] @ vector
        wanted = min(count, k)
        top = np.argpartition(-cosines, wanted - 1)[:wanted]
        return _best(((self._names[row], float(cosines[row])) for row in top), k)

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
