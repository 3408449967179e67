"""The graph of questions, and which are central as seen from a new one (GraphContextGen, section 4.2).

Nodes are questions, an edge joins two whose cosine is over a threshold and weighs that cosine. A question is
ranked as if it were a node, by personalised PageRank that restarts there; the graph itself stays as it is. Of
a large graph only the part is walked that can still move a rank.

A graph of what is remembered and what is made of documents is kept for each release and for those whose pairs
a question may hear, so that no private pair stands between two public ones. It follows what changed when it
is next asked; nothing is built again for a question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.domain import QAPair, Scope, Vector
from core.memory.community import CommunityMemory
from core.memory.partitions.partition import Partition
from core.memory.partitions.partition_index import Key
from core.ports import Matrix, PregeneratedPair
from core.retrieval.pregenerated import LivePairs
from core.retrieval.search import Searcher
from core.system.offload import aside

EDGE = 0.8
"""Cosine over which two questions are joined (section 5, parameter setting)."""
ALPHA = 0.85
"""Share of the walk that goes on along an edge instead of back to the question."""
MOST = 100
"""Steps of the iteration at most."""
TOLERANCE = 1e-6
"""The iteration ends where all nodes together change by less than this for each node."""
LARGE = 20_000
"""Edges from which what moves hardly any rank is left out of the walk."""
LEAST = 1e-5
"""Share of the walk, for each unit of a node's degree, that is left where it is in a large graph: no rank is
off by more than this times the node's degree (Andersen, Chung and Lang 2006)."""
ROWS_AT_ONCE = 512
"""New questions compared with all others in one product."""

Weights = NDArray[np.float64]
GRAPHS = 8
"""Graphs that are kept; the one that was not asked for longest goes."""
_KEPT, _MADE = "remembered:", "made:"
_Name = tuple[str, tuple[Key, ...]]


class QuestionGraph:
    """Questions by id with unit vectors; grows and shrinks, and is searched without being changed."""

    def __init__(self, dimensions: int, edge: float = EDGE) -> None:
        self.edge = edge
        """The cosine over which two questions are joined."""
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._room: Matrix = np.zeros((0, dimensions), np.float32)
        self.links = sparse.csr_array((0, 0), dtype=np.float64)
        """The edges, symmetric, in the order of the ids."""
        self._degrees: Weights = np.zeros(0)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> frozenset[str]:
        """Return the ids of all questions."""
        return frozenset(self._ids)

    @property
    def dimensions(self) -> int:
        """Return how many numbers a vector has."""
        return int(self._room.shape[1])

    @property
    def edges(self) -> int:
        """Return how many pairs of questions are joined."""
        return int(self.links.nnz // 2)

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Add questions with their edges; those that are there with these vectors are passed over."""
        self.remove([key for key in vectors if not self._stands(key, vectors[key])])
        new = [key for key in vectors if key not in self._row]
        if not new:
            return
        old, size = len(self._ids), len(self._ids) + len(new)
        if size > len(self._room):
            grown = np.zeros((max(size, 2 * old), self._room.shape[1]), np.float32)
            grown[:old] = self._vectors
            self._room = grown
        self._room[old:size] = np.stack([vectors[key] for key in new])
        self._row |= {key: old + place for place, key in enumerate(new)}
        self._ids += new
        rows, columns, weights = [], [], []
        for start in range(old, size, ROWS_AT_ONCE):
            end = min(start + ROWS_AT_ONCE, size)
            cosines = self._vectors[start:end] @ self._vectors[:end].T
            near, other = np.nonzero(cosines > self.edge)
            below = other < near + start  # each pair once, and no question with itself
            near, other = near[below], other[below]
            rows.append(near + start)
            columns.append(other)
            weights.append(cosines[near, other].astype(np.float64))
        row, column, weight = np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)
        both = np.concatenate([row, column]), np.concatenate([column, row])
        self.links.resize((size, size))
        self.links = self.links + sparse.csr_array(
            (np.concatenate([weight, weight]), both), shape=(size, size)
        )
        self._measure()

    def _stands(self, key: str, vector: Vector) -> bool:
        row = self._row.get(key)
        return row is not None and np.array_equal(self._room[row], vector)

    def remove(self, ids: Collection[str]) -> None:
        """Take questions out with their edges; unknown ones are no error."""
        gone = {key for key in ids if key in self._row}
        if not gone:
            return
        kept = [row for row, key in enumerate(self._ids) if key not in gone]
        self._room = self._vectors[kept]
        self._ids = [self._ids[row] for row in kept]
        self._row = {key: row for row, key in enumerate(self._ids)}
        self.links = self.links[kept][:, kept]
        self._measure()

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the k questions that rank highest from a new one, and their rank, best first.

        Of those out of reach, whose rank is 0, and of all where it has no edge, the nearest come first.
        """
        cosines = self._vectors @ vector
        return [(self._ids[row], rank) for row, rank in self.ranked(cosines, k)]

    def ranked(self, cosines: Vector, k: int) -> list[tuple[int, float]]:
        """Return the k best places and their ranks, best first; `cosines` are the question's, shape (n,)."""
        edges = np.where(cosines > self.edge, cosines, 0.0).astype(np.float64)
        least = LEAST if self.links.nnz > 2 * LARGE else 0.0
        ranks = pagerank(self.links, edges, least=least, degrees=self._degrees)[:-1]
        found = self._best(np.nonzero(ranks)[0], ranks, cosines, k)
        if len(found) == k or len(found) == len(self._ids):
            return found
        return found + self._best(np.nonzero(ranks == 0.0)[0], cosines, cosines, k - len(found), rank=0.0)

    def _best(
        self,
        rows: NDArray[np.int64],
        by: Weights | Vector,
        cosines: Vector,
        k: int,
        rank: float | None = None,
    ) -> list[tuple[int, float]]:
        """Return the k best of some places; of equal ones the nearer one comes first, then by the id."""
        if len(rows) > k:
            values = by[rows]
            rows = rows[values >= np.partition(values, len(values) - k)[len(values) - k]]
        order = sorted(rows.tolist(), key=lambda row: (-by[row], -cosines[row], self._ids[row]))[:k]
        return [(row, float(by[row]) if rank is None else rank) for row in order]

    @property
    def _vectors(self) -> Matrix:
        """Return the vectors, shape (n, dimensions)."""
        return self._room[: len(self._ids)]

    def _measure(self) -> None:
        """Sum up the weights of each question's edges."""
        self._degrees = np.asarray(self.links.sum(axis=1), np.float64).ravel()


def pagerank(
    links: sparse.csr_array,
    edges: Weights,
    *,
    alpha: float = ALPHA,
    most: int = MOST,
    tolerance: float = TOLERANCE,
    least: float = 0.0,
    degrees: Weights | None = None,
) -> Weights:
    """Return the personalised PageRank of n nodes and of the question that is joined to them.

    `links` is symmetric, of shape (n, n); `edges` weighs the question's own edges, shape (n,), 0 for none.
    The walk restarts at the question. The result has shape (n + 1,), the question's rank last; all of it sums
    up to 1. It ends where less than `tolerance` for each node is still under way, or nowhere more than
    `least` of the node's degree; with `least` 0 each step is one of the power iteration. `degrees` are the
    sums of the rows of `links`, where they are known.
    """
    nodes = len(edges)
    near = np.nonzero(edges)[0]
    if not len(near):
        return np.concatenate([np.zeros(nodes), np.ones(1)])
    degrees = np.asarray(links.sum(axis=1), np.float64).ravel() if degrees is None else degrees
    onward = alpha * edges[near] / edges[near].sum()
    starts, others, weights = links.indptr, links.indices, links.data
    kept, moving = np.zeros(nodes), np.zeros(nodes)
    bounds = least * degrees
    bounds[near] += least * edges[near]
    asked, asked_moving, bound = 0.0, 1.0, least * float(edges[near].sum())
    for _ in range(most):
        active = np.nonzero(moving > bounds)[0]
        share = moving[active]
        moving[active] = 0.0
        kept[active] += (1.0 - alpha) * share
        spread = alpha * share / (degrees[active] + edges[active])
        out = asked_moving if asked_moving > bound else 0.0
        asked += (1.0 - alpha) * out
        asked_moving += float(spread @ edges[active]) - out
        counts = starts[active + 1] - starts[active]
        if len(active):
            first = np.cumsum(counts) - counts
            at = np.repeat(starts[active] - first, counts) + np.arange(int(counts.sum()))
            moving += np.bincount(others[at], weights[at] * np.repeat(spread, counts), nodes)
        moving[near] += out * onward
        over = float(moving.sum()) + asked_moving
        if over < tolerance * (nodes + 1) or (not len(active) and not out):
            break
    return np.concatenate([kept + moving, [asked + asked_moving]])


@dataclass(slots=True)
class _Followed:
    """A graph, and what it was when it was last brought up to date."""

    graph: QuestionGraph
    live: LivePairs | None = None
    made: dict[str, PregeneratedPair] = field(default_factory=dict)
    parts: dict[Key, tuple[Partition, int]] = field(default_factory=dict)


class PairGraphs:
    """Ranks pairs as seen from a question."""

    def __init__(self, memory: CommunityMemory, searcher: Searcher) -> None:
        self._memory = memory
        self._searcher = searcher
        self._known: dict[_Name, _Followed] = {}
        self._changing = asyncio.Lock()

    async def nearest(
        self, vector: Vector, release: str, scope: Scope | None, k: int
    ) -> list[tuple[QAPair | PregeneratedPair, float]]:
        """Return the k pairs that rank highest, with their rank; without remembered ones for no `scope`."""
        parts = self._memory.good(vector, release, scope) if scope else {}
        async with self._changing:
            known = await self._current(vector, release, parts)
            found = await aside(len(known.graph), known.graph.nearest, vector, k)
            made = known.made
        ids = [name.removeprefix(_KEPT) for name, _ in found if name.startswith(_KEPT)]
        told = await self._memory.told(ids, scope) if scope else {}
        pairs = {_KEPT + key: pair for key, pair in told.items()} | {
            name: made[name.removeprefix(_MADE)] for name, _ in found if name.startswith(_MADE)
        }
        return [(pairs[name], rank) for name, rank in found if name in pairs]

    async def _current(self, vector: Vector, release: str, parts: dict[Key, Partition]) -> _Followed:
        """Return the graph of these partitions and the release's pairs, after what changed in them."""
        name = (release, tuple(sorted(parts)))
        known = self._known.pop(name, None)
        if known is None or known.graph.dimensions != len(vector):  # another encoder serves now
            known = _Followed(QuestionGraph(len(vector)))
        live = self._searcher.live_pairs(release)
        if live is not known.live:
            vectors = await self._searcher.questions(release, live) if live else {}
            vectors = {key: one for key, one in vectors.items() if len(one) == len(vector)}
            made = live.by_id if live else {}
            known.graph.remove([_MADE + key for key in known.made.keys() - vectors.keys()])
            await asyncio.to_thread(known.graph.put, {_MADE + key: one for key, one in vectors.items()})
            known.live, known.made = live, {key: made[key] for key in vectors}
        now = {key: (partition, partition.changes) for key, partition in parts.items()}
        if now != known.parts:
            kept = {_KEPT + pair: part for part in parts.values() for pair in part.kept}
            before = {name for name in known.graph.ids if name.startswith(_KEPT)}
            known.graph.remove(before - kept.keys())
            same = {part for key, (part, _) in known.parts.items() if now.get(key, (None,))[0] is part}
            fresh = {name for name, part in kept.items() if name not in before or part not in same}
            known.graph.put({key: kept[key].vector_of(key.removeprefix(_KEPT)) for key in sorted(fresh)})
            known.parts = now
        self._known[name] = known
        while len(self._known) > GRAPHS:
            del self._known[next(iter(self._known))]
        return known
