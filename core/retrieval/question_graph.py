"""The graph of questions, and which are central as seen from a new one (GraphContextGen, section 4.2).

Nodes are questions, an edge joins two whose cosine is over a threshold and weighs that cosine. A question is
ranked as if it were a node, by personalised PageRank that restarts there; the graph itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from core.domain import Vector
from core.ports import Matrix

EDGE = 0.8
"""Cosine over which two questions are joined (section 5, parameter setting)."""
ALPHA = 0.85
"""Share of the walk that goes on along an edge instead of back to the question."""
MOST = 100
"""Steps of the iteration at most."""
TOLERANCE = 1e-6
"""The iteration ends where all nodes together change by less than this for each node."""
ROWS_AT_ONCE = 512
"""New questions compared with all others in one product."""

Weights = NDArray[np.float64]


class QuestionGraph:
    """Questions by id with unit vectors; grows and shrinks, and is searched without being changed."""

    def __init__(self, dimensions: int, edge: float = EDGE) -> None:
        self._edge = edge
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._vectors: Matrix = np.zeros((0, dimensions), np.float32)
        self._links = sparse.csr_array((0, 0), dtype=np.float64)
        self._part: NDArray[np.int32] = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> frozenset[str]:
        """Return the ids of all questions."""
        return frozenset(self._ids)

    @property
    def edges(self) -> int:
        """Return how many pairs of questions are joined."""
        return int(self._links.nnz // 2)

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Add questions that are new, with their edges; those that are there are passed over."""
        new = [key for key in vectors if key not in self._row]
        if not new:
            return
        old = len(self._ids)
        self._vectors = np.concatenate([self._vectors, np.stack([vectors[key] for key in new])])
        self._row |= {key: old + place for place, key in enumerate(new)}
        self._ids += new
        rows, columns, weights = [], [], []
        for start in range(old, len(self._ids), ROWS_AT_ONCE):
            end = min(start + ROWS_AT_ONCE, len(self._ids))
            cosines = self._vectors[start:end] @ self._vectors[:end].T
            near, other = np.nonzero(cosines > self._edge)
            below = other < near + start  # each pair once, and no question with itself
            near, other = near[below], other[below]
            rows.append(near + start)
            columns.append(other)
            weights.append(cosines[near, other].astype(np.float64))
        row, column, weight = np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)
        before = self._links.tocoo()
        self._link(
            np.concatenate([before.row, row, column]),
            np.concatenate([before.col, column, row]),
            np.concatenate([before.data, weight, weight]),
        )

    def remove(self, ids: Collection[str]) -> None:
        """Take questions out with their edges; unknown ones are no error."""
        gone = {key for key in ids if key in self._row}
        if not gone:
            return
        kept = [row for row, key in enumerate(self._ids) if key not in gone]
        self._ids = [self._ids[row] for row in kept]
        self._row = {key: row for row, key in enumerate(self._ids)}
        self._vectors = self._vectors[kept]
        self._links = self._links[kept][:, kept]
        self._divide()

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the k questions that rank highest from a new one, and their rank, best first.

        Of those out of reach, whose rank is 0, and of all where it has no edge, the nearest come first.
        """
        if not self._ids:
            return []
        cosines = self._vectors @ vector
        near = np.nonzero(cosines > self._edge)[0]
        nodes = np.nonzero(np.isin(self._part, np.unique(self._part[near])))[0]
        edges = np.where(cosines[nodes] > self._edge, cosines[nodes].astype(np.float64), 0.0)
        ranks = pagerank(self._links[nodes][:, nodes], edges)
        found = self._best(nodes, ranks[:-1], cosines, k)
        if len(found) == k or len(found) == len(self._ids):
            return found
        rest = np.setdiff1d(np.arange(len(self._ids)), nodes)
        if len(rest) > k:
            rest = rest[np.argpartition(-cosines[rest], k)[:k]]
        return found + self._best(rest, np.zeros(len(rest)), cosines, k - len(found))

    def _best(
        self, nodes: NDArray[np.int64], ranks: Weights, cosines: Vector, k: int
    ) -> list[tuple[str, float]]:
        """Return the best nodes; of equal ranks the nearer one comes first."""
        order = sorted(
            range(len(nodes)), key=lambda at: (-ranks[at], -cosines[nodes[at]], self._ids[nodes[at]])
        )
        return [(self._ids[nodes[at]], float(ranks[at])) for at in order[:k]]

    def _link(self, rows: NDArray[np.int64], columns: NDArray[np.int64], weights: Weights) -> None:
        size = len(self._ids)
        self._links = sparse.csr_array((weights, (rows, columns)), shape=(size, size))
        self._divide()

    def _divide(self) -> None:
        """Note which questions can be reached from which: a walk never leaves its part."""
        if not self._ids:
            self._part = np.zeros(0, np.int32)
            return
        self._part = connected_components(self._links, directed=False)[1]


def pagerank(
    links: sparse.csr_array,
    edges: Weights,
    *,
    alpha: float = ALPHA,
    most: int = MOST,
    tolerance: float = TOLERANCE,
) -> Weights:
    """Return the personalised PageRank of n nodes and of the question that is joined to them.

    `links` is symmetric, of shape (n, n); `edges` weighs the question's own edges, shape (n,), 0 for none.
    The walk restarts at the question, and goes there from a node without edges. The result has shape
    (n + 1,), the question's rank last; all of it sums up to 1.
    """
    degrees = np.asarray(links.sum(axis=1)).ravel() + edges
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    total = float(edges.sum())
    onward = edges / total if total else edges
    ranks = np.zeros(len(edges) + 1)
    ranks[-1] = 1.0
    for _ in range(most):
        spread = ranks[:-1] * inverse
        lost = float(ranks[:-1][degrees == 0].sum()) + (0.0 if total else float(ranks[-1]))
        after = np.empty_like(ranks)
        after[:-1] = alpha * (links @ spread + onward * ranks[-1])
        after[-1] = alpha * (float(edges @ spread) + lost) + 1.0 - alpha
        change = float(np.abs(after - ranks).sum())
        ranks = after
        if change < tolerance * len(ranks):
            break
    return ranks
