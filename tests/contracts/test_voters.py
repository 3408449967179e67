"""What every `VoterStore` knows of people."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from core.domain import Answer, Question, Vote
from core.ports import Acquaintance, MemoryStore, VoterStore
from tests.contracts.conftest import Stores
from tests.contracts.samples import keep, pair

NOW = time.time()
DAY = 86400.0


@pytest.fixture
def memories(stores: Stores) -> MemoryStore:
    return stores.memories


@pytest.fixture
def voters(stores: Stores) -> VoterStore:
    return stores.voters


def vote(answer: str, voter: str, days_ago: float = 0.0, value: Any = 1, **given: Any) -> Vote:
    at = datetime.fromtimestamp(NOW - days_ago * DAY, UTC)
    return Vote(answer, voter, value, at=at, **given)


async def test_somebody_is_known_by_their_questions_and_votes(
    memories: MemoryStore, voters: VoterStore
) -> None:
    assert await voters.acquaintance(["ann"], "p1", NOW - 3600) == Acquaintance()
    for key in ("p1", "p2"):
        await keep(memories, pair(key), f"a-{key}", f"b-{key}")
    for given in (
        vote("a-p1", "ann", 9),
        vote("b-p1", "ann", 8),
        vote("a-p1", "slack:ann", 0, None),
        vote("a-p2", "ann", 0.01),
        vote("a-p1", "bob", 0.01, standing="new"),
        vote("b-p1", "bob", 0.01, standing="new"),
        vote("a-p1", "carl", 0.01),
        vote("a-p1", "dora", 2, standing="early"),
    ):
        await memories.vote(given, 1.0)
    await memories.save_answer(Answer("a9", "x", "abstain", ""), Question("x", "slack:ann"), None)
    found = await voters.acquaintance({"ann", "slack:ann"}, "p1", NOW - 3600)
    assert found.first_seen == pytest.approx(NOW - 9 * DAY, abs=1)
    assert (found.contributions, found.events, found.voters, found.strangers) == (3, 2, 2, 1)
    late = await voters.acquaintance({"slack:ann"}, "p2", NOW - 3600)
    assert late.first_seen == pytest.approx(NOW, abs=60) and late.contributions == 2


async def test_votes_of_strangers_stand_apart_with_the_time_they_are_from(memories: MemoryStore) -> None:
    await keep(memories, pair())
    await memories.vote(vote("a-p1", "ann", standing="asker"), 2.0)
    await memories.vote(vote("a-p1", "bob", standing="early"), 1.0)
    found = await memories.vote(vote("a-p1", "carl", value=0, standing="new"), 1.0)
    assert found is not None
    assert found.opinions == ((1, 2.0),) and found.strangers == ((1, 1.0, True), (0, 1.0, False))
    again = await memories.vote(vote("a-p1", "carl", value=1, standing="helper"), 2.0)
    assert again is not None and again.opinions == ((1, 2.0), (1, 2.0))
    assert [p.id for p in await memories.voted()] == ["p1"]


async def test_a_pair_with_votes_of_strangers_alone_counts_as_voted(memories: MemoryStore) -> None:
    await keep(memories, pair())
    await memories.vote(vote("a-p1", "bob", standing="early"), 1.0)
    assert [p.id for p in await memories.voted()] == ["p1"]


async def test_a_community_has_grown_once_somebody_voted_enough_long_ago(
    memories: MemoryStore, voters: VoterStore
) -> None:
    for key in ("p1", "p2"):
        await keep(memories, pair(key))
    await memories.vote(vote("a-p1", "ann", 9), 1.0)
    assert not await voters.anybody_known(NOW - 7 * DAY, 2)
    await memories.vote(vote("a-p2", "bob", 9), 1.0)
    assert not await voters.anybody_known(NOW - 7 * DAY, 2)
    await memories.vote(vote("a-p2", "ann", 1), 1.0)
    assert await voters.anybody_known(NOW - 7 * DAY, 2)
    assert not await voters.anybody_known(NOW - 10 * DAY, 2)


async def test_votes_of_strangers_are_listed_oldest_first(memories: MemoryStore, voters: VoterStore) -> None:
    await keep(memories, pair())
    for given in (
        vote("a-p1", "late", 1, standing="flood"),
        vote("a-p1", "first", 2, standing="new"),
        vote("a-p1", "known", 1),
        vote("a-p1", "old", 20, standing="new"),
    ):
        await memories.vote(given, 1.0)
    found = await voters.by_strangers(NOW - 7 * DAY)
    assert [(e.voter, e.standing, e.pair_id) for e in found] == [
        ("first", "new", "p1"),
        ("late", "flood", "p1"),
    ]


async def test_linked_accounts_are_one_voter_also_for_votes_from_before(
    memories: MemoryStore, voters: VoterStore
) -> None:
    await keep(memories, pair())
    await memories.vote(vote("a-p1", "slack:U1", value=1), 1.0)
    found = await memories.vote(vote("a-p1", "discord:2", value=0), 1.0)
    assert found is not None and len(found.opinions) == 2
    assert await voters.link({"ann": ["slack:U1", "discord:2"]}) == 2
    one = await memories.pair("p1")
    assert one is not None and one.opinions == ((0, 1.0),), "the last of them counts"
    assert await voters.link({"ann": ["slack:U1", "discord:2"]}) == 0


async def test_a_reader_without_an_account_moves_nothing_and_makes_nobody_known_or_unknown(
    memories: MemoryStore, voters: VoterStore
) -> None:
    for key in ("p1", "p2", "p3"):
        await keep(memories, pair(key), f"a-{key}")
        for number in range(40):
            await memories.vote(vote(f"a-{key}", f"widget:{number}", 9, standing="reader"), 0.0)
    await memories.vote(vote("a-p1", "widget:0", 0.01, standing="reader"), 0.0)
    for key in ("p1", "p2"):
        found = await memories.pair(key)
        assert found is not None and (found.opinions, found.strangers) == ((), ())
    assert await memories.voted() == ()
    assert await memories.opinion("a-p1", "widget:3") == 1
    assert (await voters.acquaintance(["ann"], "p1", NOW - 3600)).voters == 0
    assert not await voters.anybody_known(NOW - 8 * DAY, 3)
    assert await voters.by_strangers(NOW - 10 * DAY) == ()


async def test_a_reader_brings_nothing_back_that_was_evicted(memories: MemoryStore) -> None:
    await keep(memories, pair("p1"), "a1")
    await memories.set_aside(["p1"], "evicted")
    found = await memories.vote(vote("a1", "widget:1", standing="reader"), 0.0)
    assert found is not None and found.aside == "evicted"
    found = await memories.vote(vote("a1", "ann"), 1.0)
    assert found is not None and not found.aside and len(found.opinions) == 1
