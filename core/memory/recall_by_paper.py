"""Recall exactly as ComRAG's algorithm 1 does, for the recipe `comrag`.

Release, scope and language part communities from each other, as everywhere; within one of them nothing but
τ, δ and the cosine decides: no guard, no voters, no rewordings, no page that changed. Only what people told
apart stays apart.
"""

from __future__ import annotations

from core.domain import QAPair, Recall, Store
from core.memory.decision import Guard, how_near
from core.memory.partitions.arrivals import Replayed
from core.memory.partitions.partition_index import PartitionIndex
from core.memory.recall import Lookup, Recaller
from core.memory.recognition import Recognition
from core.ports import MemoryStore
from core.text.words import words


class PaperRecaller(Recaller):
    """Finds pairs among those that algorithm 2 keeps (`replayed`), by the nearest centroids."""

    def __init__(
        self,
        store: MemoryStore,
        places: PartitionIndex,
        recognition: Recognition,
        guard: Guard,
        replayed: Replayed,
    ) -> None:
        super().__init__(store, places, recognition, guard)
        self._replayed = replayed

    async def recall(self, lookup: Lookup) -> Recall:
        """Choose the route of a question and the pairs that go with it: good ones, else bad ones."""
        limits = self._thresholds
        high = await self._nearest("high", lookup)
        best = high[0][1] if high else 0.0
        said = how_near(best, limits.delta) if high else ""
        if high and best >= limits.delta:
            return Recall("reuse", high[:1], decided=said)
        if high and best >= limits.tau:
            return Recall("reference", tuple(near for near in high if near[1] >= limits.tau), decided=said)
        return Recall("avoid", low=await self._nearest("low", lookup), decided=said)

    async def _nearest(self, store: Store, lookup: Lookup) -> tuple[tuple[QAPair, float], ...]:
        """Return the k pairs of a store that are nearest among the members of the k nearest centroids."""
        limits = self._thresholds
        near: list[tuple[str, float]] = []
        apart = self._apart(lookup)
        for key, partition in self.visible(lookup, store):
            arrivals = await self._replayed.of(key, partition, limits.delta, limits.tau)
            found = arrivals.nearest(lookup.vector, limits.recalled)
            near += [one for one in found if not apart(one[0], partition.vector_of(one[0]))]
        near.sort(key=lambda found: (-found[1], found[0]))
        pairs = await self._heard([pair_id for pair_id, _ in near], lookup.scope)
        told = [(pairs[pair_id], cosine) for pair_id, cosine in near if pair_id in pairs]
        return tuple(
            self._shown(pair, cosine, lookup)
            for pair, cosine in told
            if (not lookup.language or pair.language == lookup.language)
            and (not lookup.literal or words(pair.topic) == words(lookup.topic))
        )[: limits.recalled]
