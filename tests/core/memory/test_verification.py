"""Each invariant that is broken is told, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain import content_hash
from core.memory.community import CommunityMemory
from core.memory.scoring import Thresholds, worth
from core.memory.verification import Searched, check, searched
from core.ports import MemoryChange, Placement
from tests.contracts.samples import pair
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories

TOPIC = "how to set the secret key"
MADE = (
    pair("p1", topic=TOPIC, origin="import", prior=0.9),
    pair("p2", topic=f"{TOPIC} of it", origin="import", prior=0.8),
    pair("p3", topic="bake bread with yeast", origin="import", prior=0.2),
)


async def seeded() -> tuple[CommunityMemory, FakeMemories, FakeCorpora]:
    store = FakeMemories()
    corpora = FakeCorpora(store.topics)
    memory = CommunityMemory(store, corpora, Thresholds(delta=0.7), lambda asked, kept: "")
    await memory.load(FakeEncoder(), {})
    await memory.seed(MADE)
    assert memory.stores() == {"p1": ("high", True), "p2": ("high", False), "p3": ("low", True)}
    return memory, store, corpora


async def test_a_sound_memory_has_nothing_to_tell() -> None:
    memory, _, _ = await seeded()
    assert await memory.verify() == []


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (Placement("p1", "high", 0.85, 1), ("p1 stands with score 0.8500",)),
        (Placement("p3", "high", 0.2, 1), ("p3 is in the high store", "p3 is not searched")),
        (Placement("p2", "high", 0.8, 1), ("p1 and p2 are both kept", "p2 is not searched")),
        (Placement("p2", "high", 0.8, None, "p3"), ("p2 is behind p3, which is not kept", "p2 is not")),
        (Placement("p1", "high", 0.9, None), ("p1 is neither", "p1 is not searched")),
        (Placement("p1", "high", 0.9, 5), ("p1 is not searched",)),
        (None, ("p3 has votes but stands nowhere", "p3 is not searched")),
    ],
)
async def test_a_placement_that_the_votes_do_not_give(
    written: Placement | None, words: tuple[str, ...]
) -> None:
    memory, store, _ = await seeded()
    await store.place(MemoryChange((written,) if written else (), () if written else ("p3",)))
    wrong = await memory.verify()
    assert len(wrong) == len(words)
    assert all(any(sentence.startswith(word) for sentence in wrong) for word in words), wrong


async def test_a_vector_that_is_gone_or_another() -> None:
    memory, _, corpora = await seeded()
    key = (FakeEncoder().name, content_hash(MADE[2].topic))
    kept = corpora._vectors.pop(key)
    assert await memory.verify() == ["p3 has no vector"]
    corpora._vectors[key] = np.roll(kept, 1)
    (wrong,) = await memory.verify()
    assert "off its members' mean" in wrong
    corpora._vectors[key] = kept * 2
    assert "the vector of p3 is not of unit length" in await memory.verify()


async def test_what_was_set_aside_and_is_still_placed() -> None:
    memory, store, _ = await seeded()
    await store.set_aside(["p3"], "retired")
    assert await memory.verify() == ["p3 is in the low store without a vote, or was set aside"]
    await memory.retire(["p3"])
    assert await memory.verify() == []
    assert await memory.seed(MADE) == {"p3"}, "bringing it again brings it back"
    assert memory.stores()["p3"] == ("low", True)


def test_worth_rises_with_score_and_uses_and_falls_with_age() -> None:
    now, made = 1e9, pair(created_at=1e9 - 86400)
    assert worth(made, 0.9, now) > worth(made, 0.7, now)
    assert worth(replace(made, uses=5), 0.7, now) > worth(made, 0.7, now)
    old = replace(made, created_at=1e9 - 180 * 86400)
    assert worth(old, 0.8, now) == pytest.approx(0.4)
    assert worth(replace(old, used_at=now), 0.8, now) == pytest.approx(0.8)
    assert worth(replace(made, created_at=now + 1e6), 0.8, now) == 0.8


async def test_a_pair_that_is_behind_one_which_is_no_better_or_not_near() -> None:
    memory, store, _ = await seeded()
    behind = Placement("p1", "high", 0.9, None, "p2"), Placement("p2", "high", 0.8, 1)
    await store.place(MemoryChange(behind, ()))
    assert "p1 is behind p2, which is no better" in await memory.verify()
    memory, store, _ = await seeded()
    await memory.seed([pair("p4", topic="descale an old teapot", origin="import", prior=0.85)])
    assert await memory.verify() == []
    await store.place(MemoryChange((Placement("p4", "high", 0.85, None, "p1"),), ()))
    assert "p4 is behind p1, which is not near" in await memory.verify()


async def test_the_centroid_of_a_cluster_of_several_is_their_mean_of_unit_length() -> None:
    store = FakeMemories()
    corpora = FakeCorpora(store.topics)
    memory = CommunityMemory(store, corpora, Thresholds(delta=0.9, tau=0.6), lambda asked, kept: "")
    await memory.load(FakeEncoder(), {})
    two = [
        pair("p1", topic=TOPIC, origin="import", prior=0.9),
        pair("p2", topic=f"{TOPIC} anew", origin="import", prior=0.9),
    ]
    await memory.seed(two)
    [(first, _), (second, _)] = await store.placements()
    assert first.cluster == second.cluster and not (first.shadowed_by or second.shadowed_by)
    assert await memory.verify() == []
    del corpora._vectors[FakeEncoder().name, content_hash(two[1].topic)]
    assert await memory.verify() == ["p2 has no vector"], "of the centroid nothing can be said then"


async def test_a_pair_that_is_searched_twice() -> None:
    memory, store, corpora = await seeded()
    placed, voted = await store.placements(), await store.voted()
    vectors = await memory._places.encoders.known_vectors(corpora, [one for _, one in placed])
    mirror = searched(memory._places.partitions)
    assert check(placed, voted, vectors, memory.thresholds, mirror) == []
    twice = mirror | {("9.9", "public", "high"): Searched((("p1", 1, ""),), {}, {})}
    assert check(placed, voted, vectors, memory.thresholds, twice) == ["p1 is searched in 2 stores"]
