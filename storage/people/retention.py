"""Old questions lose their words, and old votes the names of those who cast them, a slice at a time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from core.ports import Slice
from core.privacy.names import Names
from storage.database.database import Database, Store
from storage.people.authorship import (
    ANSWER,
    ASKED,
    CLAIM,
    PAIR,
    QUERIES,
    drop_ticket_orphans,
    drop_words,
    veil_words,
)
from storage.people.blanking import change, delete_vectors
from storage.people.forgetting import topics_of
from storage.people.personal import is_veiled_column
from storage.tables import (
    AnswerRow,
    AuthorRow,
    ClaimRow,
    CorrectionRow,
    DistinctionRow,
    EscalationPostRow,
    EscalationRow,
    EventRow,
    NoticeRow,
    PairRow,
    PlacementRow,
    UnaskedRow,
    VoteRow,
)

Step = Callable[[AsyncConnection, float, int], Awaitable[int]]
"""Removes up to so many old rows of one kind, and tells how many."""
LATELY_SECONDS = 86400.0
"""A pair with a vote within this time is left alone: its place may be written down only now."""


class SqlRetention(Store):
    """The `RetentionStore` port on SQL."""

    def __init__(self, database: Database, names: Names) -> None:
        super().__init__(database)
        self._names = names

    async def due(self, questions: float, votes: float) -> dict[str, int]:
        """Count what would go by those times (seconds since the epoch, 0 for none); nothing changes."""
        goes = select(PairRow.id).where(_neutral(questions, time.time()))
        wanted: dict[str, tuple[Any, ColumnElement[bool]]] = {
            "questions": (AnswerRow, _said(questions)),
            "remembered answers without who asked": (PairRow, _asked(questions) & PairRow.id.not_in(goes)),
            "answers that nobody voted for": (PairRow, PairRow.id.in_(goes)),
            "messages": (ClaimRow, _told(questions)),
            "questions put to people": (EscalationRow, EscalationRow.at < questions),
            "corrections": (CorrectionRow, CorrectionRow.at < questions),
            "names of who told questions apart": (
                DistinctionRow,
                _told_apart(questions) & DistinctionRow.pair_id.not_in(goes),
            ),
            "notices to admins": (NoticeRow, NoticeRow.at < questions),
            "notes on answers that nobody asked for": (UnaskedRow, UnaskedRow.at < questions),
            "ids of events": (EventRow, EventRow.at < questions),
            "names of voters": (
                VoteRow,
                _cast(votes) & ~_voted_again(votes) & VoteRow.pair_id.not_in(goes),
            ),
        }
        found = {}
        async with self._database.read() as connection:
            for what, (table, old) in wanted.items():
                count = select(func.count()).select_from(table).where(old)
                found[what] = int((await connection.execute(count)).scalar_one())
        return found

    async def drop(self, before: float, cursor: int, limit: int) -> Slice:
        """Remove one kind of what is old; `cursor` counts the kinds, and stays while there is more of one."""
        kinds: tuple[tuple[str, Step], ...] = (
            ("questions", self._answers),
            ("answers that nobody voted for", self._neutral),
            ("remembered answers without who asked", self._pairs),
            ("messages", self._claims),
            ("questions put to people", self._tickets),
            ("corrections", partial(_old, CorrectionRow.at, CorrectionRow.answer_id)),
            ("names of who told questions apart", self._unnamed),
            ("notices to admins", partial(_old, NoticeRow.at, NoticeRow.key)),
            ("notes on answers that nobody asked for", partial(_old, UnaskedRow.at, UnaskedRow.answer_id)),
            ("ids of events", partial(_old, EventRow.at, EventRow.event)),
        )
        what, step = kinds[cursor]
        async with self._database.write() as connection:
            if count := await step(connection, before, limit):
                await self._database.owe_scrub(connection)
        following = cursor if count >= limit else cursor + 1
        return Slice({what: count} if count else {}, following if following < len(kinds) else None)

    async def veil(self, before: float, cursor: int, limit: int) -> Slice:
        """Pseudonymise votes of people who have not voted on the pair since."""
        columns = (VoteRow.number, VoteRow.voter, VoteRow.pair_id, VoteRow.answer_id)
        old = select(*columns).where(VoteRow.number > cursor, _cast(before))
        async with self._database.write() as connection:
            rows = (await connection.execute(old.order_by(VoteRow.number).limit(limit))).all()
            later = select(VoteRow.voter, VoteRow.pair_id).where(VoteRow.at >= before)
            pairs = later.where(VoteRow.pair_id.in_({row.pair_id for row in rows}))
            busy = {tuple(row) for row in await connection.execute(pairs)}
            changes = [
                {"key": row.number, "voter": self._names.veil(row.voter, row.pair_id or row.answer_id)}
                for row in rows
                if (row.voter, row.pair_id) not in busy
            ]
            await change(connection, VoteRow.number, changes)
            if changes:
                await self._database.owe_scrub(connection)
        done = {"names of voters": len(changes)} if changes else {}
        return Slice(done, rows[-1].number if len(rows) == limit else None)

    async def settle(self) -> None:
        """Let nothing of what was removed stand in the log that the database writes ahead."""
        await self._database.checkpoint()

    # --- the kinds of rows --------------------------------------------------------------------

    async def _answers(self, connection: AsyncConnection, before: float, limit: int) -> int:
        """Remove old answers; of those with opinions on a remembered pair stays what these are about."""
        old = select(AnswerRow.id).where(_said(before))
        ids = (await connection.scalars(old.order_by(AnswerRow.at).limit(limit))).all()
        if not ids:
            return 0
        topics = await topics_of(connection, ids)
        voted: set[str] = set()
        for said in (VoteRow.answer_id, DistinctionRow.answer_id):
            voted |= set(await connection.scalars(select(said).where(said.in_(ids))))
        await connection.execute(delete(AnswerRow).where(AnswerRow.id.in_(set(ids) - voted)))
        await drop_words(connection, ANSWER, set(ids) - voted)
        held = select(PlacementRow.pair_id)
        columns = (AnswerRow.id, AnswerRow.asker, AnswerRow.pair_id, AnswerRow.trace)
        rows = await connection.execute(
            select(*columns, AnswerRow.pair_id.in_(held).label("held")).where(AnswerRow.id.in_(voted))
        )
        changes = []
        for row in rows.all():
            queries = row.trace.get("queries") or {}
            topic = str(queries.get("topic") or queries.get("base") or "") if row.held else ""
            trace = {"queries": {"topic": topic}, "offers": row.trace.get("offers") or []}
            trace |= {key: row.trace[key] for key in ("replaced",) if key in row.trace}
            topics -= {topic}
            name = self._names.veil(row.asker, row.pair_id or row.id)
            bare = {"question": "", "text": "", "citations": [], "asker": name, "trace": trace}
            changes.append({"key": row.id, **bare})
        await change(connection, AnswerRow.id, changes)
        await drop_words(connection, ANSWER, voted, keep=(ASKED, QUERIES))
        await veil_words(connection, ANSWER, voted, self._names)
        await delete_vectors(connection, topics)
        return len(ids)

    async def _neutral(self, connection: AsyncConnection, before: float, limit: int) -> int:
        """Remove old pairs that stand in no store."""
        old = select(PairRow.id, PairRow.topic).where(_neutral(before, time.time()))
        rows = (await connection.execute(old.limit(limit))).all()
        ids = [row.id for row in rows]
        for column in (VoteRow.pair_id, AuthorRow.pair_id, DistinctionRow.pair_id, PairRow.id):
            await connection.execute(delete(column.class_).where(column.in_(ids)))
        await drop_words(connection, PAIR, ids)
        await delete_vectors(connection, {row.topic for row in rows})
        return len(ids)

    async def _pairs(self, connection: AsyncConnection, before: float, limit: int) -> int:
        """Take who asked out of old pairs."""
        rows = await _some(connection, (PairRow.id, PairRow.asker), _asked(before), limit)
        changes = [{"key": row.id, "asker": self._names.veil(row.asker, row.id)} for row in rows]
        await change(connection, PairRow.id, changes)
        await veil_words(connection, PAIR, [row.id for row in rows], self._names)
        return len(rows)

    async def _claims(self, connection: AsyncConnection, before: float, limit: int) -> int:
        """Take words and names out of old claims; that a message was taken stays, so that it is not again."""
        rows = await _some(connection, (ClaimRow.message, ClaimRow.asker), _told(before), limit)
        changes = [
            {"key": row.message, "asker": self._names.veil(row.asker or "~", row.message), "payload": {}}
            for row in rows
        ]
        await change(connection, ClaimRow.message, changes)
        await drop_words(connection, CLAIM, [row.message for row in rows])
        return len(rows)

    async def _unnamed(self, connection: AsyncConnection, before: float, limit: int) -> int:
        """Take who said so out of what was told apart long ago."""
        keys = (DistinctionRow.pair_id, DistinctionRow.key)
        rows = await _some(connection, keys, _told_apart(before), limit)
        for pair_id, key in rows:
            one = update(DistinctionRow).where(keys[0] == pair_id, keys[1] == key)
            await connection.execute(one.values(person=""))
        return len(rows)

    async def _tickets(self, connection: AsyncConnection, before: float, limit: int) -> int:
        """Remove old questions that were put to people."""
        count = await _old(EscalationRow.at, EscalationRow.message, connection, before, limit)
        if count:
            kept = select(EscalationRow.message)
            posts = delete(EscalationPostRow).where(EscalationPostRow.message.not_in(kept))
            await connection.execute(posts)
            await drop_ticket_orphans(connection)
        return count


def _said(before: float) -> ColumnElement[bool]:
    """Return which old answers hold a question, or name who asked: of one that was deleted that is left."""
    named = and_(AnswerRow.asker != "", ~is_veiled_column(AnswerRow.asker))
    return and_(AnswerRow.at < before, or_(AnswerRow.question != "", named))


def _asked(before: float) -> ColumnElement[bool]:
    """Return which pairs name who asked them long ago."""
    return and_(PairRow.created_at < before, PairRow.asker != "", ~is_veiled_column(PairRow.asker))


def _told(before: float) -> ColumnElement[bool]:
    """Return which claims hold words of long ago."""
    return and_(ClaimRow.at < before, ~is_veiled_column(ClaimRow.asker))


def _cast(before: float) -> ColumnElement[bool]:
    """Return which votes name who cast them long ago."""
    return and_(VoteRow.at < before, ~is_veiled_column(VoteRow.voter))


def _voted_again(before: float) -> ColumnElement[bool]:
    """Return which votes are of somebody who voted on the same pair later than that."""
    later = aliased(VoteRow)
    return exists().where(later.voter == VoteRow.voter, later.pair_id == VoteRow.pair_id, later.at >= before)


def _neutral(before: float, now: float) -> ColumnElement[bool]:
    """Return which old pairs memory does not hold: in no store, of no person, not set aside for room."""
    return and_(
        PairRow.created_at < before,
        or_(PairRow.origin == "answer", PairRow.aside == "retired"),
        PairRow.aside != "evicted",
        PairRow.id.not_in(select(PlacementRow.pair_id)),
        PairRow.id.not_in(select(VoteRow.pair_id).where(VoteRow.at > now - LATELY_SECONDS)),
    )


def _told_apart(before: float) -> ColumnElement[bool]:
    """Return which distinctions name who made them long ago."""
    return and_(DistinctionRow.at < before, DistinctionRow.person != "")


async def _some(
    connection: AsyncConnection, columns: Sequence[Any], old: ColumnElement[bool], limit: int
) -> Collection[Any]:
    return (await connection.execute(select(*columns).where(old).limit(limit))).all()


async def _old(at: Any, key: Any, connection: AsyncConnection, before: float, limit: int) -> int:
    """Delete some rows of that time; returns how many at most were looked for and found."""
    keys = (await connection.scalars(select(key).where(at < before).limit(limit))).all()
    if keys:
        await connection.execute(delete(key.class_).where(key.in_(set(keys)), at < before))
    return len(keys)
