"""What a person left in SQL, taken out with all that was made of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import content_hash
from core.ports import Forgotten
from storage.database import Database, slices
from storage.tables import (
    AnswerRow,
    AuthorRow,
    ClaimRow,
    CorrectionRow,
    EventRow,
    MarkRow,
    PairRow,
    PostRow,
    SearchRowTable,
    VectorRow,
    VoteRow,
)
from storage.traces import clean_traces

TELLING = 12
"""Least characters of a question by which other rows are searched; shorter ones stand everywhere."""


class SqlPeople:
    """The `PersonStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def forget(self, accounts: Collection[str], voters: Collection[str]) -> Forgotten:
        """Remove a person's questions, their answers, pairs and votes, and what was derived from them.

        What others were told from these pairs goes as well. Raises StorageError; then nothing is gone.
        """
        async with self._database.write() as connection:
            own = set(await _ids(connection, AnswerRow.id, AnswerRow.asker, accounts))
            pairs = set(await _ids(connection, PairRow.id, PairRow.asker, accounts))
            texts = {
                *await _ids(connection, AnswerRow.question, AnswerRow.asker, accounts),
                *await _ids(connection, PairRow.question, PairRow.asker, accounts),
            }
            claims = (
                await connection.execute(
                    select(ClaimRow.message, ClaimRow.conversation, ClaimRow.payload).where(
                        ClaimRow.asker.in_(accounts)
                    )
                )
            ).all()
            texts |= {str(row.payload["text"]) for row in claims if row.payload.get("text")}
            follow_ups, more = await _followed(connection, {row.conversation for row in claims}, texts)
            pairs |= more
            written = set(await _ids(connection, AuthorRow.pair_id, AuthorRow.person, accounts))
            texts |= set(await _ids(connection, PairRow.answer, PairRow.id, written))
            pairs |= written
            answers = own | follow_ups | set(await _ids(connection, AnswerRow.id, AnswerRow.pair_id, pairs))
            votes = await _delete_votes(connection, answers, pairs, voters)
            topics = set(await _ids(connection, PairRow.topic, PairRow.id, pairs))
            topics |= await _topics(connection, answers)
            for table, column, keys in (
                (AnswerRow, AnswerRow.id, answers),
                (PairRow, PairRow.id, pairs),
                (AuthorRow, AuthorRow.pair_id, pairs),
                (CorrectionRow, CorrectionRow.answer_id, answers),
                (CorrectionRow, CorrectionRow.person, accounts),
                (MarkRow, MarkRow.person, accounts),
                (PostRow, PostRow.message, {row.message for row in claims}),
                (ClaimRow, ClaimRow.message, {row.message for row in claims}),
                (EventRow, EventRow.event, await _events(connection, accounts)),
            ):
                await _delete(connection, table, column, keys)
            for part in slices(list(follow_ups)):  # their askers' messages stay claimed, without an answer
                settled = update(ClaimRow).where(ClaimRow.answer_id.in_(part))
                await connection.execute(settled.values(answer_id=""))
            await _delete_vectors(connection, topics)
            await clean_traces(connection, pairs)
        gone = (frozenset(answers), frozenset(texts), frozenset(pairs))
        return Forgotten(len(own), len(pairs), votes, len(claims), *gone)

    async def scrub(self) -> None:
        """Overwrite what was removed; raises StorageError where that cannot be done now."""
        await self._database.scrub()


async def _ids(connection: AsyncConnection, wanted: Any, column: Any, keys: Iterable[str]) -> list[str]:
    found: list[str] = []
    for part in slices(list(keys)):
        found += (await connection.scalars(select(wanted).where(column.in_(part)))).all()
    return found


async def _topics(connection: AsyncConnection, answers: Iterable[str]) -> set[str]:
    """Return what memory compared when these answers were given."""
    queries = AnswerRow.trace["queries"]
    found: set[str | None] = set()
    for form in ("topic", "base"):
        found |= set(await _ids(connection, queries[form].as_string(), AnswerRow.id, answers))
    return {topic for topic in found if topic}


async def _delete(connection: AsyncConnection, table: Any, column: Any, keys: Iterable[str]) -> int:
    count = 0
    for part in slices(list(keys)):
        count += (await connection.execute(delete(table).where(column.in_(part)))).rowcount
    return count


async def _delete_votes(
    connection: AsyncConnection, answers: set[str], pairs: set[str], voters: Collection[str]
) -> int:
    own = await _delete(connection, VoteRow, VoteRow.voter, voters)
    await _delete(connection, VoteRow, VoteRow.answer_id, answers)
    await _delete(connection, VoteRow, VoteRow.pair_id, pairs)
    return own


async def _events(connection: AsyncConnection, accounts: Collection[str]) -> list[str]:
    """Return the events whose id names one of the accounts."""
    names = {account.rpartition(":")[2] for account in accounts}
    events = await connection.scalars(select(EventRow.event))
    return [event for event in events if names & set(event.split(":"))]


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
            said = _said(row.trace.get("queries"), row.text)
            if any(text in said and text not in row.question for text in telling):
                answers.add(row.id)
                pairs |= {row.pair_id} if row.route != "reuse" and row.pair_id else set()
    return answers, pairs


async def _delete_vectors(connection: AsyncConnection, topics: set[str]) -> None:
    """Remove the vectors of topics that no other pair and no passage has."""
    left = set(await _ids(connection, PairRow.topic, PairRow.topic, topics))
    unused = [content_hash(topic) for topic in topics - left]
    used = exists().where(SearchRowTable.text_hash == VectorRow.text_hash)
    for part in slices(unused):
        await connection.execute(delete(VectorRow).where(VectorRow.text_hash.in_(part), ~used))


def _said(*values: Any) -> str:
    return json.dumps(values, ensure_ascii=False)
