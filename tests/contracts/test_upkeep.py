"""What every `UpkeepStore` does, beside `MemoryStore.mark_stale` and `move` that it works with."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from core.domain import Answer, Citation, Question
from core.ports import MemoryChange, MemoryStore, Placement, Stored, UpkeepStore
from tests.contracts.conftest import Stores
from tests.contracts.samples import keep, pair

BOTH = (Citation(1, "T", "https://d/a", "1.0", "a", "h1"), Citation(2, "U", "https://d/b", "2.0", "b", "h2"))
NEW = (Citation(1, "New", "https://d/new", "1.0", "a.rst", "h9"),)


@pytest.fixture
def memories(stores: Stores) -> MemoryStore:
    return stores.memories


@pytest.fixture
def upkeep(stores: Stores) -> UpkeepStore:
    return stores.upkeep


async def place(memories: MemoryStore, *ids: str, store: str = "high") -> None:
    placed = tuple(Placement(key, store, 0.9, number) for number, key in enumerate(ids, 1))  # type: ignore[arg-type]
    await memories.place(MemoryChange(placed))


async def test_stale_pairs_of_the_high_store_wait_until_somebody_looks(
    memories: MemoryStore, upkeep: UpkeepStore
) -> None:
    for key in ("p1", "p2", "p3", "p4"):
        await keep(memories, pair(key))
    await place(memories, "p1", "p2", "p4")
    await place(memories, "p3", store="low")
    await memories.set_aside(["p4"], "retired")
    assert await upkeep.unchecked(9) == ()
    assert await memories.mark_stale("1.0", set()) == 4
    assert [item.pair.id for item in await upkeep.unchecked(9)] == ["p1", "p2"]
    (first,) = await upkeep.unchecked(1)
    assert (first.pair.id, first.releases, first.finding) == ("p1", ("1.0",), "")
    assert await upkeep.found(first, "It is gone.", "Now this.", NEW, 5.0)
    assert [item.pair.id for item in await upkeep.unchecked(9)] == ["p2"]
    waiting = {item.pair.id: item for item in await upkeep.stale()}
    assert waiting.keys() == {"p1", "p2"}
    assert (waiting["p1"].finding, waiting["p1"].proposal) == ("It is gone.", "Now this.")
    assert waiting["p1"].proposed == NEW


async def test_a_renewed_pair_is_current_with_its_new_pages(
    memories: MemoryStore, upkeep: UpkeepStore
) -> None:
    await keep(memories, pair())
    await place(memories, "p1")
    await memories.mark_stale("1.0", set())
    (seen,) = await upkeep.unchecked(1)
    assert await upkeep.renew(seen, "New words.", NEW)
    found = await memories.pair("p1")
    assert found is not None
    assert (found.stale, found.answer, found.citations) == (False, "New words.", NEW)
    assert await upkeep.stale() == () and await upkeep.broken() == []
    assert await memories.mark_stale("1.0", {"h9"}) == 0
    assert not await upkeep.renew(seen, "Again.", NEW), "it is stale no more"


async def test_what_was_marked_again_meanwhile_is_not_renewed(
    memories: MemoryStore, upkeep: UpkeepStore
) -> None:
    await keep(memories, pair())
    await place(memories, "p1")
    await memories.mark_stale("1.0", set())
    (seen,) = await upkeep.unchecked(1)
    await upkeep.found(seen, "Gone.", "", (), time.time())
    assert await memories.mark_stale("1.0", set(), built_at=seen.marked_at - 1) == 0
    assert await upkeep.unchecked(1) == (), "marked since that corpus was built"
    time.sleep(0.002)
    assert await memories.mark_stale("1.0", {"other"}) == 0
    assert not await upkeep.renew(seen, "x", NEW) and not await upkeep.found(seen, "x", "", (), 1.0)
    (again,) = await upkeep.unchecked(1)
    assert again.marked_at > seen.marked_at
    await memories.mark_stale("1.0", {"h1"})
    assert await upkeep.stale() == () and await upkeep.broken() == []
    assert not await upkeep.renew(again, "x", NEW)


async def test_a_comparison_is_current_again_when_both_corpora_say_so(
    memories: MemoryStore, upkeep: UpkeepStore
) -> None:
    await keep(memories, pair(release="1.0+2.0", citations=BOTH))
    await place(memories, "p1")
    assert await memories.mark_stale("2.0", {"other"}) == 1
    assert await memories.mark_stale("1.0", {"other"}) == 0
    assert (await upkeep.stale())[0].releases == ("1.0", "2.0")
    await memories.mark_stale("1.0", {"h1"})
    assert (await upkeep.stale())[0].releases == ("2.0",)
    await memories.mark_stale("2.0", {"h2"})
    found = await memories.pair("p1")
    assert found is not None and not found.stale


async def test_what_was_learnt_in_a_channel_moves_with_it_and_back(
    memories: MemoryStore, upkeep: UpkeepStore
) -> None:
    here = pair("p1", channel="slack:C1")
    await keep(memories, here)
    await keep(memories, pair("p2", channel="slack:C2"))
    await keep(memories, pair("p3", channel="slack:C1", scope="private:slack:C9"))
    await place(memories, "p1", "p2")
    near = [{"pair": "p1", "question": here.question}, {"pair": "p2", "question": "x"}]
    for key, channel, scope in (("a7", "slack:C2", "public"), ("a8", "slack:C1", "public")):
        answer = Answer(key, "x", "quote", "1.0", trace={"high": near, "low": []})
        await memories.save_answer(answer, Question("x", "u", channel), None)
        assert (await memories.answer(key) or {})["scope"] == scope
    assert await memories.move("slack:C1", "public", "private:slack:C1") == ("p1",)
    moved = await memories.pair("p1")
    assert moved == replace(here, scope="private:slack:C1")
    assert [p.pair_id for p, _ in await memories.placements()] == ["p2"]
    outside, inside = await memories.answer("a7"), await memories.answer("a8")
    assert outside and [entry["pair"] for entry in outside["trace"]["high"]] == ["p2"]
    assert inside and [entry["pair"] for entry in inside["trace"]["high"]] == ["p1", "p2"]
    assert (outside["scope"], inside["scope"]) == ("public", "private:slack:C1")
    assert await memories.move("slack:C1", "public", "private:slack:C1") == ()
    assert await upkeep.broken() == ["p3 is for slack:C9 alone, but was learned in slack:C1"]
    assert await memories.move("slack:C1", "private:slack:C1", "public") == ("p1",)
    free = await memories.pair("p1")
    assert free == replace(here, channel="")


async def test_the_census_counts_by_release_store_and_day(memories: MemoryStore, upkeep: UpkeepStore) -> None:
    now = time.time()
    for key, release, days in (("p1", "1.0", 0), ("p2", "1.0", 2), ("p3", "2.0", 2), ("p4", "2.0", 0)):
        await keep(memories, pair(key, release=release, created_at=now - days * 86400))
    placed = (
        Placement("p1", "high", 0.9, 1),
        Placement("p2", "high", 0.8, None, "p1"),
        Placement("p3", "low", 0.1, 1),
    )
    await memories.place(MemoryChange(placed))
    census = await upkeep.census()
    assert census.stores == (Stored("1.0", "high", 1, 1), Stored("2.0", "low", 1, 0))
    today = int(now // 86400)
    assert census.days == ((today - 2, 2), (today, 1))
