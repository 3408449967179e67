"""What a person left in SQL: told to them, or taken out with all that was made of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.audit import FORGOTTEN
from core.domain import content_hash
from core.ports import Forgotten
from core.privacy import Names
from storage.database import Database, slices
from storage.held import events_of, held_of, said
from storage.mentions import clean_mentions
from storage.personal import STANDS, rows_of
from storage.tables import (
    AnswerRow,
    AuthorRow,
    ClaimRow,
    CorrectionRow,
    EventRow,
    PairRow,
    PostRow,
    PregeneratedRow,
    SearchRowTable,
    UnaskedRow,
    VectorRow,
    VoteRow,
)
from storage.traces import clean_traces

TELLING = 12
"""Least characters of a question by which other rows are searched; shorter ones stand everywhere."""


class SqlPeople:
    """The `PersonStore` port on SQL; `names` made the one-way names that retention has given."""

    def __init__(self, database: Database, names: Names | None = None) -> None:
        self._database = database
        self._names = names or Names(b"", {})

    async def held(self, accounts: Collection[str]) -> dict[str, list[dict[str, Any]]]:
        """Return all rows that say something of a person, by what they are, the latest first."""
        async with self._database.read() as connection:
            return await held_of(connection, accounts, self._names)

    async def forget(self, accounts: Collection[str], voters: Collection[str]) -> Forgotten:
        """Remove a person's questions, their answers, pairs and votes, and what was derived from them.

        What others were told from these pairs goes as well. Raises StorageError; then nothing is gone.
        """
        async with self._database.write() as connection:
            asked = await self._rows(connection, "questions", accounts, AnswerRow.id, AnswerRow.question)
            named = await self._rows(connection, "remembered", accounts, PairRow.id, PairRow.question)
            columns = (ClaimRow.message, ClaimRow.conversation, ClaimRow.payload)
            claims = await self._rows(connection, "messages", accounts, *columns)
            cast = await self._rows(connection, "votes", voters, VoteRow.number)
            own, pairs = {row.id for row in asked}, {row.id for row in named}
            texts = {row.question for row in (*asked, *named) if row.question}
            texts |= {str(row.payload["text"]) for row in claims if row.payload.get("text")}
            follow_ups, more = await _followed(connection, {row.conversation for row in claims}, texts)
            pairs |= more
            written = set(await _ids(connection, AuthorRow.pair_id, AuthorRow.person, accounts))
            texts |= set(await _ids(connection, PairRow.answer, PairRow.id, written))
            pairs |= written
            answers = own | follow_ups | set(await _ids(connection, AnswerRow.id, AnswerRow.pair_id, pairs))
            votes = await _delete_votes(connection, answers, pairs, {row.number for row in cast})
            topics = set(await _ids(connection, PairRow.topic, PairRow.id, pairs))
            topics |= await topics_of(connection, answers)
            for table, column, keys in (
                (AnswerRow, AnswerRow.id, answers),
                (PairRow, PairRow.id, pairs),
                (UnaskedRow, UnaskedRow.answer_id, answers),
                (AuthorRow, AuthorRow.pair_id, pairs),
                (CorrectionRow, CorrectionRow.answer_id, answers),
                (PostRow, PostRow.message, {row.message for row in claims}),
                (ClaimRow, ClaimRow.message, {row.message for row in claims}),
                (EventRow, EventRow.event, await events_of(connection, accounts)),
            ):
                await _delete(connection, table, column, keys)
            for stand in STANDS:
                own_rows = stand.who.in_({*accounts, *voters})
                if stand.goes == "row":
                    await connection.execute(delete(stand.table).where(own_rows))
                else:
                    gone_name = {stand.who.key: FORGOTTEN}
                    await connection.execute(update(stand.table).where(own_rows).values(**gone_name))
            await clean_mentions(connection, accounts, [text for text in texts if len(text) >= TELLING])
            for part in slices(list(follow_ups)):  # their askers' messages stay claimed, without an answer
                settled = update(ClaimRow).where(ClaimRow.answer_id.in_(part))
                await connection.execute(settled.values(answer_id=""))
            await delete_vectors(connection, topics)
            await clean_traces(connection, pairs)
            await self._database.owe_scrub(connection)
        gone = (frozenset(answers), frozenset(texts), frozenset(pairs))
        return Forgotten(len(own), len(pairs), votes, len(claims), *gone)

    async def _rows(
        self, connection: AsyncConnection, section: str, names: Collection[str], *columns: Any
    ) -> list[Any]:
        stand = next(stand for stand in STANDS if stand.section == section)
        return await rows_of(connection, stand, names, self._names, *columns)

    async def scrub(self) -> None:
        """Leave nothing of what was removed in unused room, as far as nobody has to wait for that."""
        await self._database.scrub()


async def _ids(connection: AsyncConnection, wanted: Any, column: Any, keys: Iterable[str]) -> list[str]:
    found: list[str] = []
    for part in slices(list(keys)):
        found += (await connection.scalars(select(wanted).where(column.in_(part)))).all()
    return found


async def topics_of(connection: AsyncConnection, answers: Iterable[str]) -> set[str]:
    """Return what memory compared when these answers were given."""
    queries = AnswerRow.trace["queries"]
    found: set[str | None] = set()
    for form in ("topic", "base"):
        found |= set(await _ids(connection, queries[form].as_string(), AnswerRow.id, answers))
    return {topic for topic in found if topic}


async def _delete(connection: AsyncConnection, table: Any, column: Any, keys: Iterable[Any]) -> int:
    count = 0
    for part in slices(list(keys)):
        count += (await connection.execute(delete(table).where(column.in_(part)))).rowcount
    return count


async def _delete_votes(
    connection: AsyncConnection, answers: set[str], pairs: set[str], numbers: Collection[int]
) -> int:
    own = await _delete(connection, VoteRow, VoteRow.number, numbers)
    await _delete(connection, VoteRow, VoteRow.answer_id, answers)
    await _delete(connection, VoteRow, VoteRow.pair_id, pairs)
    return own


async def _followed(
    connection: AsyncConnection, conversations: Iterable[str], texts: set[str]
) -> tuple[set[str], set[str]]:
    """Return answers and pairs of others in the same threads that were completed by the person's words."""
    telling = [text for text in texts if len(text) >= TELLING]
    answers: set[str] = set()
    pairs: set[str] = set()
    for part in slices(list(conversations)):
        rows = await connection.execute(
            select(AnswerRow.__table__)
            .join(ClaimRow, ClaimRow.answer_id == AnswerRow.id)
            .where(ClaimRow.conversation.in_(part))
        )
        for row in rows:
            told = said(row.trace.get("queries"), row.text)
            if any(text in told and text not in row.question for text in telling):
                answers.add(row.id)
                pairs |= {row.pair_id} if row.route != "reuse" and row.pair_id else set()
    return answers, pairs


async def delete_vectors(connection: AsyncConnection, topics: set[str]) -> None:
    """Remove the vectors of topics that no other pair, no passage and nothing made of one has."""
    left = set(await _ids(connection, PairRow.topic, PairRow.topic, topics))
    unused = [content_hash(topic) for topic in topics - left]
    used: ColumnElement[bool] = exists().where(SearchRowTable.text_hash == VectorRow.text_hash)
    for column in (PregeneratedRow.question_hash, PregeneratedRow.answer_hash):
        used = used | exists().where(column == VectorRow.text_hash)
    for part in slices(unused):
        await connection.execute(delete(VectorRow).where(VectorRow.text_hash.in_(part), ~used))
