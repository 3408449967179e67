"""The question graph of a release: what is remembered and what is made of documents (GraphContextGen).

A graph is kept for each release and for those whose pairs a question may hear, so that no private pair stands
between two public ones. It follows what changed when it is next asked; nothing is built again for a question.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from core.domain import QAPair, Scope, Vector
from core.memory.community import CommunityMemory
from core.memory.partitions.partition import Partition
from core.memory.partitions.partition_index import Key
from core.ports import PregeneratedPair
from core.retrieval.pregenerated import LivePairs
from core.retrieval.question_graph import EDGE, QuestionGraph
from core.retrieval.search import Searcher
from core.system.offload import aside

MOST = 8
"""Graphs that are kept; the one that was not asked for longest goes."""
_KEPT, _MADE = "remembered:", "made:"
_Name = tuple[str, tuple[Key, ...]]


@dataclass(slots=True)
class _Followed:
    """A graph, and what it was when it was last brought up to date."""

    graph: QuestionGraph
    live: LivePairs | None = None
    made: dict[str, PregeneratedPair] = field(default_factory=dict)
    parts: dict[Key, tuple[Partition, int]] = field(default_factory=dict)


class PairGraphs:
    """Ranks pairs as seen from a question."""

    def __init__(self, memory: CommunityMemory, searcher: Searcher, edge: float = EDGE) -> None:
        self._memory = memory
        self._searcher = searcher
        self._edge = edge
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
        known = self._known.pop(name, None) or _Followed(QuestionGraph(len(vector), self._edge))
        live = self._searcher.live_pairs(release)
        if live is not known.live:
            vectors = await self._searcher.questions(release, live) if live else {}
            vectors = {key: one for key, one in vectors.items() if len(one) == len(vector)}
            made = {pair.id: pair for some in live.of_page.values() for pair in some} if live else {}
            known.graph.remove([_MADE + key for key in known.made.keys() - vectors.keys()])
            await asyncio.to_thread(known.graph.put, {_MADE + key: one for key, one in vectors.items()})
            known.live, known.made = live, {key: made[key] for key in vectors}
        now = {key: (partition, partition.changes) for key, partition in parts.items()}
        if now != known.parts:
            kept = {_KEPT + pair: part for part in parts.values() for pair in part.kept}
            before = {name for name in known.graph.ids if name.startswith(_KEPT)}
            known.graph.remove(before - kept.keys())
            fresh = kept.keys() - before
            known.graph.put({key: kept[key].vector_of(key.removeprefix(_KEPT)) for key in sorted(fresh)})
            known.parts = now
        self._known[name] = known
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return known
