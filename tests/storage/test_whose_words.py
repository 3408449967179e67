"""Whose words the rows of an older version hold, as far as they tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from core.domain import Answer, Question
from core.ports import Claim
from core.ports.escalations import Ticket
from core.privacy.names import Names
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.memory.opinions import SqlOpinions
from storage.people.authorship import ANSWER, CLAIM, PAGE, PAIR, Name, drop_words, keep_words
from storage.people.authorship import TICKET as TICKET_KIND
from storage.people.forgetting import SqlPeople
from storage.serving.conversations import SqlConversations
from storage.serving.escalations import SqlEscalations
from storage.tables import AnswerRow, EscalationRow, PairRow, WordsRow
from tests.contracts.samples import pair
from tests.databases import as_of

ANN, BOB, HAL, OLD = "slack:UANN", "slack:UBOB", "slack:UHAL", "slack:~0ld"
NAMES = Names(b"key", {})
TICKET = Ticket(
    "slack:C1:2", "a2", "slack:C1:1", "slack:C1", "public", BOB, BOB, "lid of ann 2.0", "2.0", 2.5
)


async def claimed(store: SqlConversations, key: str, thread: str, who: str, at: float, **said: Any) -> None:
    claim = Claim(f"slack:C1:{key}", f"slack:C1:{thread}", who, at, {"text": said.get("text", key)})
    await store.claim(claim)
    await store.answered(claim.message, said.get("answer", ""))


@pytest.fixture
async def older(url: str, tmp_path: Path) -> Any:
    """A database that version 0015 wrote."""
    database = await Database.open(tmp_path, url)
    memories, conversations = SqlMemories(database), SqlConversations(database)

    async def keep(
        key: str, who: str, said: str, route: Any = "quote", own: bool = True, **more: Any
    ) -> None:
        trace = {"queries": {"base": said}} | more.pop("trace", {})
        made = pair(f"p{key[1:]}", asker=who, question=said, topic=said) if own else None
        given = Answer(key, "It is so.", route, "1.0", trace=trace, **more)
        assert await memories.save_answer(given, Question(said, who, "slack:C1"), made)

    await keep("a1", ANN, "Where is the lid of ann?")
    await claimed(conversations, "1", "1", ANN, 1.0, answer="a1", text="Where is the lid of ann?")
    await keep("a2", BOB, "and in 2.0?", trace={"rewritten": True, "queries": {"base": "lid of ann 2.0"}})
    await claimed(conversations, "2", "1", BOB, 2.0, answer="a2", text="and in 2.0?")
    await keep("a3", BOB, "Where is bob's cord?")
    await claimed(conversations, "3", "1", BOB, 3.0, answer="a3")
    await keep("a4", HAL, "Where is the lid of ann in 1.5?")
    await claimed(
        conversations, "1@1.5", "1@1.5", HAL, 4.0, answer="a4", text="Where is the lid of ann in 1.5?"
    )
    await keep("a5", HAL, "Where is the lid of ann?")
    await memories.add([pair("h1", asker=BOB, origin="person"), pair("p77", asker=OLD)])
    await SqlOpinions(database).wrote("h1", ANN)
    await keep("a6", BOB, "What else?", "reuse", own=False, pair_id="h1")
    await keep("a7", BOB, "What is old?", "reuse", own=False, pair_id="p77")
    gone = {"pair": "p404", "question": "Whose was it?", "similarity": 0.7, "score": 1.0}
    await keep("a8", HAL, "What now?", trace={"high": [gone], "guard": "Whose?"})
    await keep("a9", HAL, "And why?", "documents")
    await claimed(conversations, "9", "1", HAL, 9.0, answer="a9")
    await SqlEscalations(database).add(TICKET)
    async with database.write() as connection:
        await connection.run_sync(as_of, "0015")
    await database.close()
    database = await Database.open(tmp_path, url)
    yield database
    await database.close()


async def test_what_old_rows_tell_is_written_down(older: Database) -> None:
    async with older.read() as connection:
        columns = (WordsRow.kind, WordsRow.key, WordsRow.person, WordsRow.part, WordsRow.place)
        found = {tuple(row) for row in await connection.execute(select(*columns))}
        trace = (await connection.execute(select(AnswerRow.trace).where(AnswerRow.id == "a8"))).scalar_one()
    again, lid = ("answer", "a4", ANN, "asked", ""), ("answer", "a5", ANN, "asked", "")
    assert found == {
        ("answer", "a2", ANN, "queries", ""),
        ("pair", "p2", ANN, "", ""),
        ("claim", "slack:C1:1@1.5", ANN, "", ""),
        again,
        ("pair", "p4", ANN, "", ""),
        lid,
        ("pair", "p5", ANN, "", ""),
        ("answer", "a6", ANN, "told", ""),
        ("answer", "a7", OLD, "told", "p77"),
        *((kind, key, who, part, "") for who in (ANN, BOB) for kind, key, part in NINTH),
        ("ticket", TICKET.message, ANN, "", ""),
    }
    assert trace["high"] == [] and trace["guard"] == "", "nobody knows whose question that was"


NINTH = (("answer", "a9", "queries"), ("pair", "p9", ""))


async def test_forgetting_goes_by_it(older: Database) -> None:
    done = await SqlPeople(older, NAMES).forget({ANN}, {ANN})
    assert done.answers == {"a1", "a2", "a4", "a5", "a6", "a9"}
    async with older.read() as connection:
        answers = {row.id: row for row in await connection.execute(select(AnswerRow.__table__))}
        pairs = set(await connection.scalars(select(PairRow.id)))
        ticket = (await connection.execute(select(EscalationRow.question))).scalar_one()
        left = (
            await connection.execute(text("SELECT count(*) FROM words WHERE person = :p"), {"p": ANN})
        ).scalar()
    assert left == 0 and pairs == {"p3", "p8", "p77"} and ticket == "forgotten"
    told = {key: (row.question, row.text) for key, row in answers.items()}
    assert told == {
        "a2": ("and in 2.0?", ""),
        "a3": ("Where is bob's cord?", "It is so."),
        "a4": ("", ""),
        "a5": ("", ""),
        "a6": ("What else?", ""),
        "a7": ("What is old?", "It is so."),
        "a8": ("What now?", "It is so."),
        "a9": ("And why?", ""),
    }


@pytest.mark.parametrize("kind", [PAIR, CLAIM, TICKET_KIND, PAGE])
async def test_what_is_dropped_of_a_row_is_its_own_and_not_an_answers(
    url: str, tmp_path: Path, kind: str
) -> None:
    database = await Database.open(tmp_path, url)
    try:
        async with database.write() as connection:
            for each in (kind, ANSWER):
                await keep_words(database, connection, each, "k1", [Name(ANN)])
            await drop_words(connection, kind, ["k1"])
        async with database.read() as connection:
            assert list(await connection.scalars(select(WordsRow.kind))) == [ANSWER]
    finally:
        await database.close()
