"""Whoever is forgotten takes along in which words they asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.domain import Answer, Question, Vote, content_hash
from storage.corpora.corpora import SqlCorpora
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.memory.pair_rows import SqlRewordings
from storage.people.forgetting import SqlPeople
from tests.contracts.samples import keep, pair


async def test_a_forgotten_person_rewords_nothing_and_the_vector_of_their_words_is_gone(
    tmp_path: Path,
) -> None:
    database = await Database.open(tmp_path)
    memories, corpora = SqlMemories(database), SqlCorpora(database)
    await keep(memories, pair("p1", asker="slack:U1"), "a1")
    for number, person in ((2, "slack:U2"), (3, "slack:U3")):
        trace = {"queries": {"topic": f"topic {number}", "base": f"base {number}"}}
        answer = Answer(f"a{number}", "Like this.", "reuse", "1.0", pair_id="p1", trace=trace)
        await memories.save_answer(answer, Question(f"question {number}", asker=person), None)
        await memories.vote(Vote(answer.id, "slack:U4", 1), 1.0)
        await corpora.put_vectors("m@1", {content_hash(f"topic {number}"): np.ones(3, np.float32)})
    await SqlPeople(database).forget({"slack:U2"}, {"slack:U2"})
    left = (await SqlRewordings(database).rewordings(["p1"]))["p1"]
    assert [entry.topic for entry in left] == ["topic 3"]
    keys = [content_hash("topic 2"), content_hash("topic 3")]
    assert set(await corpora.vectors("m@1", keys)) == {keys[1]}
    await database.close()
