"""What every `PersonStore` does, beside what `tests/journeys/test_forgetting.py` sees of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.domain import Answer, Question, Vote, content_hash
from core.ports import MemoryChange, Placement
from storage.corpora.corpora import SqlCorpora
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.people.forgetting import SqlPeople
from tests.contracts.samples import keep, pair


async def test_a_person_goes_with_pairs_votes_placements_and_vectors(
    place: str | None, tmp_path: Path
) -> None:
    if place is None:
        pytest.skip("people are forgotten by SQL only; there is no fake")
    database = await Database.open(tmp_path, place)
    memories, corpora = SqlMemories(database), SqlCorpora(database)
    for key, asker, topic in (("p1", "u1", "own"), ("p2", "u2", "other"), ("p3", "u1", "other")):
        await keep(memories, pair(key, asker=asker, topic=topic))
        await memories.vote(Vote(f"a-{key}", "u1", 1), 1.0)
        await memories.vote(Vote(f"a-{key}", "u3", 0), 1.0)
    await memories.save_answer(Answer("a9", "x", "reuse", "1.0", pair_id="p1"), Question("x", "u2"), None)
    await memories.place(MemoryChange((Placement("p1", "high", 0.9, 1), Placement("p2", "low", 0.2, 2))))
    hashes = [content_hash(topic) for topic in ("own", "other")]
    await corpora.put_vectors("e", {key: np.ones(3, np.float32) for key in hashes})

    done = await SqlPeople(database).forget({"u1"}, {"u1", "ann"})
    assert (done.questions, done.pairs, done.votes, done.messages) == (2, 2, 3, 0)
    assert done.answers == {"a-p1", "a-p3", "a9"}
    kept = await memories.pairs(["p1", "p2", "p3"])
    assert {key: found.opinions for key, found in kept.items()} == {"p2": ((0, 1.0),)}
    assert [p.pair_id for p, _ in await memories.placements()] == ["p2"]
    assert await corpora.missing_vectors("e", hashes) == {hashes[0]}, "the other topic has its pair still"
    assert await memories.vote(Vote("a-p1", "u3", 1), 1.0) is None
    again = await SqlPeople(database).forget({"u1"}, {"u1"})
    assert (again.questions, again.pairs, again.votes, again.answers) == (0, 0, 0, frozenset())
    await database.close()
