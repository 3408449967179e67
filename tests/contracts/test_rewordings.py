"""What every `RewordingStore` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.domain import Answer, Question, Scope, Vote
from core.ports import MemoryStore, RewordingStore
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.memory.pair_rows import SqlRewordings
from tests.contracts.samples import keep, pair
from tests.fake_rewordings import FakeRewordings
from tests.fakes import FakeMemories


@dataclass(frozen=True)
class Kept:
    """Both stores of one database."""

    memories: MemoryStore
    rewordings: RewordingStore

    async def reused(self, answer_id: str, topic: str, pair_id: str = "p1", **question: Any) -> None:
        """Save an answer that says again what a pair says, as the engine does."""
        trace = {"queries": {"base": f"{topic}, please?", "topic": topic}}
        answer = Answer(answer_id, "Like this.", "reuse", "1.0", pair_id=pair_id, trace=trace)
        given = {"asker": "slack:U2", **question}
        await self.memories.save_answer(answer, Question(f"{topic} in 1.0?", **given), None)


@pytest.fixture
async def kept(place: str | None, tmp_path: Path) -> AsyncIterator[Kept]:
    if place is None:
        memories = FakeMemories()
        yield Kept(memories, FakeRewordings(memories))
        return
    database = await Database.open(tmp_path, place)
    yield Kept(SqlMemories(database), SqlRewordings(database))
    await database.close()


async def test_a_question_that_was_answered_again_is_named_by_its_topic_with_its_own_votes(
    kept: Kept,
) -> None:
    await keep(kept.memories, pair("p1"), "a1")
    await kept.reused("a2", "set the key")
    await kept.memories.vote(Vote("a1", "slack:U9", 0), 1.0)
    await kept.memories.vote(Vote("a2", "slack:U2", 1), 2.0)
    await kept.memories.vote(Vote("a2", "slack:U3", 0), 1.0)
    found = {entry.answer_id: entry for entry in (await kept.rewordings.rewordings(["p1", "p9"]))["p1"]}
    assert found["a2"].topic == "set the key"
    assert found["a2"].asker == "slack:U2"
    assert found["a2"].opinions == ((1, 2.0), (0, 1.0))
    assert found["a1"].opinions == ((0, 1.0),)


async def test_answers_nobody_voted_on_and_unknown_pairs_are_left_out(kept: Kept) -> None:
    await keep(kept.memories, pair("p1"), "a1")
    await kept.reused("a2", "set the key")
    assert await kept.rewordings.rewordings(["p1", "p9"]) == {}


async def test_a_vote_taken_back_counts_no_more_and_uncovers_the_one_below(kept: Kept) -> None:
    await keep(kept.memories, pair("p1"), "a1")
    await kept.reused("a2", "set the key")
    for value, withdraws in ((0, None), (1, None), (None, 1)):
        await kept.memories.vote(Vote("a2", "slack:U2", value, withdraws), 1.0)  # type: ignore[arg-type]
    assert (await kept.rewordings.rewordings(["p1"]))["p1"][0].opinions == ((0, 1.0),)
    await kept.memories.vote(Vote("a2", "slack:U2", None), 1.0)
    assert await kept.rewordings.rewordings(["p1"]) == {}


async def test_votes_of_strangers_say_nothing_about_a_rewording(kept: Kept) -> None:
    await keep(kept.memories, pair("p1"), "a1")
    await kept.reused("a2", "set the key")
    for number in range(10):
        await kept.memories.vote(Vote("a2", f"slack:U{number}", 1, standing="new"), 1.0)
    assert await kept.rewordings.rewordings(["p1"]) == {}


async def test_what_is_asked_in_private_says_nothing_about_a_public_pair(kept: Kept) -> None:
    await keep(kept.memories, pair("p1"), "a1")
    for number, scope in enumerate((Scope("private", "slack:C1"), Scope("direct", "slack:D1")), start=2):
        await kept.reused(f"a{number}", "set the key", scope=scope)
        await kept.memories.vote(Vote(f"a{number}", "slack:U2", 1), 1.0)
    assert await kept.rewordings.rewordings(["p1"]) == {}
