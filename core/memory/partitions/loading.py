"""Fill memory's partitions from the store: all of them, or the pairs that another process changed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

from core.memory.partitions.partition_index import PartitionIndex
from core.ports import CorpusStore, MemoryStore, Placement, Remembered
from core.system.offload import aside


async def loaded(
    store: MemoryStore, corpora: CorpusStore, places: PartitionIndex
) -> tuple[Collection[Remembered], set[str]]:
    """Fill an empty index with the saved placements, corrected where they no longer match the votes.

    Returns the pairs, and those whose placements changed and are to be saved.
    """
    placed, voted = await store.placements(), await store.voted()
    pairs = await aside(len(placed) + len(voted), _all_of, placed, voted)
    vectors = await places.encoders.vectors_of(corpora, pairs.values())

    def arrange() -> set[str]:
        late = places.late(placed, pairs.keys(), vectors)
        return places.arrange([pairs[pair_id] for pair_id in sorted(late)], vectors)

    return pairs.values(), await asyncio.to_thread(arrange)


async def taken_in(
    store: MemoryStore, corpora: CorpusStore, places: PartitionIndex, keys: Collection[str]
) -> Collection[Remembered]:
    """Place pairs as another process has, which wrote that down; return them."""
    pairs = (await store.pairs(list(keys))).values()
    places.arrange(pairs, await places.encoders.vectors_of(corpora, pairs))
    return pairs


def _all_of(
    placed: Iterable[tuple[Placement, Remembered]], voted: Iterable[Remembered]
) -> dict[str, Remembered]:
    """Return by id every pair that is placed or has votes."""
    return {pair.id: pair for _, pair in placed} | {pair.id: pair for pair in voted}
