"""What every `DistinctionStore` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.domain import Answer, Question, Scope
from core.ports import MemoryStore
from core.ports.opinions import Distinction, DistinctionStore
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.memory.pair_rows import SqlDistinctions
from tests.contracts.samples import keep, pair
from tests.fake_distinctions import FakeDistinctions
from tests.fakes import FakeMemories

SAID = Distinction("p1", "k1", "a2", "slack:U2", 10.0)


@dataclass(frozen=True)
class Kept:
    """Both stores of one database."""

    memories: MemoryStore
    distinctions: DistinctionStore

    async def reused(self, answer_id: str, topic: str, **question: Any) -> None:
        """Save an answer that says again what the pair says, as the engine does."""
        trace = {"queries": {"base": f"{topic}, please?", "topic": topic}}
        answer = Answer(answer_id, "Like this.", "reuse", "1.0", pair_id="p1", trace=trace)
        await self.memories.save_answer(answer, Question(f"{topic} in 1.0?", "slack:U2", **question), None)


@pytest.fixture
async def kept(place: str | None, tmp_path: Path) -> AsyncIterator[Kept]:
    if place is None:
        memories = FakeMemories()
        yield Kept(memories, FakeDistinctions(memories))
        return
    database = await Database.open(tmp_path, place)
    yield Kept(SqlMemories(database), SqlDistinctions(database))
    await database.close()


async def test_one_is_kept_once_with_what_was_asked_and_what_is_remembered(kept: Kept) -> None:
    own = await keep(kept.memories, pair("p1"), "a1")
    await kept.reused("a2", "boil eggs", scope=Scope("private", "slack:C9"))
    assert await kept.distinctions.tell_apart(SAID)
    assert not await kept.distinctions.tell_apart(replace(SAID, person="slack:U3", at=20.0))
    [found] = await kept.distinctions.told_apart()
    words = {"topic": "boil eggs", "question": "boil eggs in 1.0?", "scope": "private:slack:C9"}
    assert found == replace(SAID, release=own.release, remembered=own.topic, **words)


async def test_they_come_oldest_first_of_all_pairs_or_of_one(kept: Kept) -> None:
    for name in ("p1", "p2"):
        await keep(kept.memories, pair(name), f"a-{name}")
    for number, name in ((3, "p2"), (1, "p1"), (2, "p2")):
        await kept.distinctions.tell_apart(Distinction(name, f"k{number}", "gone", "", float(number)))
    assert [one.key for one in await kept.distinctions.told_apart()] == ["k1", "k2", "k3"]
    assert [one.key for one in await kept.distinctions.told_apart("p2")] == ["k2", "k3"]


async def test_words_of_a_direct_message_and_of_an_answer_that_is_gone_are_not_told(kept: Kept) -> None:
    await keep(kept.memories, pair("p1"), "a1")
    await kept.reused("a2", "boil eggs", scope=Scope("direct", "slack:D1"))
    await kept.distinctions.tell_apart(SAID)
    await kept.distinctions.tell_apart(Distinction("p1", "k2", "gone", "slack:U2", 11.0))
    found = await kept.distinctions.told_apart()
    assert [(one.topic, one.question) for one in found] == [("", ""), ("", "")]


async def test_nothing_is_told_apart_from_a_pair_that_is_not_there(kept: Kept) -> None:
    assert not await kept.distinctions.tell_apart(SAID)
    assert await kept.distinctions.told_apart() == ()


async def test_one_is_taken_back_alone(kept: Kept) -> None:
    await keep(kept.memories, pair("p1"), "a1")
    for key in ("k1", "k2"):
        await kept.distinctions.tell_apart(replace(SAID, key=key))
    assert await kept.distinctions.take_back("p1", "k1")
    assert not await kept.distinctions.take_back("p1", "k1")
    assert [one.key for one in await kept.distinctions.told_apart()] == ["k2"]
