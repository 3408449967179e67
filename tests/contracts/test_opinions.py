"""What every `OpinionStore` does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import Answer, Question, Scope, Vote
from core.ports import MemoryChange, Placement
from core.ports.opinions import Correction, OpinionStore
from tests.contracts.conftest import Stores
from tests.contracts.samples import AWKWARD, UNWRITABLE, keep, kept_of, pair

SAID = Correction("a1", "slack:U2", "Bob", "wrong", "", 10.0)


@pytest.fixture
def opinions(stores: Stores) -> OpinionStore:
    return stores.opinions


async def test_nothing_is_there_at_first(opinions: OpinionStore) -> None:
    assert await opinions.marked("m", "accept") == frozenset()
    assert not await opinions.unmark("m", "u", "accept")
    assert await opinions.author("p") == ""
    assert await opinions.corrections() == ()
    await opinions.reword("p", "text")
    await opinions.discard("p")


async def test_a_mark_stands_once_until_it_is_taken_off(opinions: OpinionStore) -> None:
    for person in ("u1", "u2", "u1"):
        await opinions.mark("m", person, "accept")
    await opinions.mark("m", "u1", "object")
    await opinions.mark("n", "u3", "accept")
    assert await opinions.marked("m", "accept") == {"u1", "u2"}
    assert await opinions.marked("m", "object") == {"u1"}
    assert await opinions.unmark("m", "u1", "accept")
    assert not await opinions.unmark("m", "u1", "accept")
    assert await opinions.marked("m", "accept") == {"u2"}
    assert await opinions.marked("m", "object") == {"u1"}


async def test_the_author_of_a_pair_stays_the_first(opinions: OpinionStore) -> None:
    await opinions.wrote("p1", "u1")
    await opinions.wrote("p1", "u2")
    assert await opinions.author("p1") == "u1" and await opinions.author("p2") == ""


async def test_a_pair_is_reworded_and_keeps_everything_else(stores: Stores) -> None:
    await keep(stores.memories, pair("p1", origin="person"), "a1")
    await stores.memories.vote(Vote("a1", "u", 1), 2.0)
    before = await stores.memories.pair("p1")
    assert before is not None
    await stores.opinions.reword("p1", AWKWARD)
    assert await stores.memories.pair("p1") == replace(before, answer=AWKWARD)


async def test_a_discarded_pair_is_gone_with_votes_placement_and_author(stores: Stores) -> None:
    for name in ("p1", "p2"):
        await keep(stores.memories, pair(name, origin="person"), f"a-{name}")
        await stores.memories.vote(Vote(f"a-{name}", "u", 1), 1.0)
        await stores.opinions.wrote(name, "u1")
    await stores.memories.place(
        MemoryChange((Placement("p1", "high", 0.9, 1), Placement("p2", "high", 0.9, 2)))
    )
    await stores.opinions.discard("p1")
    assert set(await stores.memories.pairs(["p1", "p2"])) == {"p2"}
    assert [placement.pair_id for placement, _ in await stores.memories.placements()] == ["p2"]
    assert (await stores.memories.counts())["votes"] == 1
    assert await stores.opinions.author("p1") == "" and await stores.opinions.author("p2") == "u1"


async def test_corrections_come_latest_first_one_a_person_and_answer(stores: Stores) -> None:
    for name in ("a1", "a2"):
        await keep(stores.memories, pair(f"p-{name}"), name)
    await stores.memories.add([pair("h1", origin="person")])
    for said in (
        SAID,
        replace(SAID, person="slack:U3", at=20.0, better=AWKWARD, pair_id="h1"),
        replace(SAID, answer_id="a2", at=30.0),
        replace(SAID, what="outdated", at=40.0),
    ):
        await stores.opinions.correct(said)
    everything = await stores.opinions.corrections()
    assert [(c.answer_id, c.person, c.what) for c in everything] == [
        ("a1", "slack:U2", "outdated"),
        ("a2", "slack:U2", "wrong"),
        ("a1", "slack:U3", "wrong"),
    ]
    assert [c.question for c in everything] == ["How to p-a1?", "How to p-a2?", "How to p-a1?"]
    assert {c.release for c in everything} == {"1.0"}
    assert {c.scope for c in everything} == {"public"}
    of_one = await stores.opinions.corrections("a1")
    assert [c.better for c in of_one] == ["", AWKWARD] and of_one[1].pair_id == "h1"
    assert len(await stores.opinions.corrections(limit=2)) == 2


async def test_a_better_answer_that_was_taken_out_is_remembered_no_more(stores: Stores) -> None:
    await keep(stores.memories, pair("p1"), "a1")
    await stores.memories.add([pair("h1", origin="person")])
    await stores.opinions.correct(replace(SAID, better="So.", pair_id="h1"))
    for aside, remembered in (("", "h1"), ("evicted", "h1"), ("retired", ""), ("", "h1")):
        await stores.memories.set_aside(["h1"], aside)  # type: ignore[arg-type]
        [kept] = await stores.opinions.corrections()
        assert (kept.pair_id, kept.better) == (remembered, "So.")
    await stores.opinions.discard("h1")
    assert [one.pair_id for one in await stores.opinions.corrections()] == [""]


async def test_what_is_said_in_a_private_channel_stays_there_though_its_answer_was_published(
    stores: Stores,
) -> None:
    inside = "private:slack:G1"
    asked = Question("How?", asker="slack:U1", channel="slack:G1", scope=Scope("private", "slack:G1"))
    await stores.memories.save_answer(Answer("a1", "So.", "quote", "1.0"), asked, None)
    await stores.opinions.correct(replace(SAID, scope=inside))
    await stores.memories.move("slack:G1", inside, "public")
    assert [one.scope for one in await stores.opinions.corrections()] == ["public"], "published with it"
    await stores.opinions.correct(replace(SAID, scope=inside))
    assert [one.scope for one in await stores.opinions.corrections()] == [inside], "said there since"
    await stores.opinions.correct(replace(SAID, scope="public"))
    await stores.memories.move("slack:G1", "public", inside)
    assert [one.scope for one in await stores.opinions.corrections()] == ["public"], "it stays published"


async def test_a_correction_follows_its_answer_into_a_channel_that_becomes_private(stores: Stores) -> None:
    asked = Question("How?", asker="slack:U1", channel="slack:C1")
    await stores.memories.save_answer(Answer("a1", "So.", "quote", "1.0"), asked, None)
    await stores.opinions.correct(SAID)
    await stores.memories.move("slack:C1", "public", "private:slack:C1")
    assert [one.scope for one in await stores.opinions.corrections()] == ["private:slack:C1"]


async def test_a_correction_of_an_answer_that_is_not_kept_is_not_told(opinions: OpinionStore) -> None:
    await opinions.correct(SAID)
    assert await opinions.corrections() == () == await opinions.corrections("a1")


async def test_text_that_no_database_can_hold_costs_only_its_bad_characters(stores: Stores) -> None:
    await keep(stores.memories, pair("p1"), "a1")
    await stores.opinions.correct(replace(SAID, better=UNWRITABLE, name=UNWRITABLE))
    [kept] = await stores.opinions.corrections()
    assert kept_of(kept.better) == kept_of(kept.name) == kept_of(UNWRITABLE)
