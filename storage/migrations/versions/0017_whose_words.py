"""Whose words rows hold beside those of who is named in them; of old rows, as far as they tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

AT_ONCE = 500
BY_MODEL = ("reference", "avoid", "documents")
"""Routes on which a model wrote, which had read the thread."""

answers = sa.table(
    "answers",
    sa.column("id", sa.String),
    sa.column("at", sa.Float),
    sa.column("asker", sa.String),
    sa.column("channel", sa.String),
    sa.column("question", sa.Text),
    sa.column("route", sa.String),
    sa.column("pair_id", sa.String),
    sa.column("trace", sa.JSON),
)
claims = sa.table(
    "claims",
    sa.column("message", sa.String),
    sa.column("conversation", sa.String),
    sa.column("asker", sa.String),
    sa.column("at", sa.Float),
    sa.column("answer_id", sa.String),
    sa.column("payload", sa.JSON),
)
pairs = sa.table("pairs", sa.column("id", sa.String), sa.column("asker", sa.String))
authors = sa.table("authors", sa.column("pair_id", sa.String), sa.column("person", sa.String))
tickets = sa.table("escalations", sa.column("message", sa.String), sa.column("answer_id", sa.String))
words = sa.table(
    "words",
    *(sa.column(name, sa.String) for name in ("kind", "key", "person", "part", "place")),
)
Row = tuple[str, str, str, str, str]
"""Kind, key, person, part, and the place that a one-way name holds for."""


def upgrade() -> None:
    op.create_table(
        "words",
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("part", sa.String(length=8), nullable=False, server_default=""),
        sa.Column("place", sa.String(length=255), nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("kind", "key", "person", "part"),
    )
    op.create_index("ix_words_person", "words", ["person"])
    connection = op.get_bind()
    _keep(connection, _lent(connection))
    _keep(connection, _asked_anew(connection))
    _keep(connection, _answered_for_others(connection))
    _keep(connection, _followed(connection))
    _keep(connection, _put_to_people(connection))
    _clean_traces(connection)


def _keep(connection: sa.Connection, rows: Iterable[Row]) -> None:
    """Write rows down that are not there yet."""
    columns = [words.c.kind, words.c.key, words.c.person, words.c.part]
    known = {tuple(row) for row in connection.execute(sa.select(*columns))}
    new = {row[:4]: row for row in rows if row[2] and row[:4] not in known}
    values = [dict(zip(words.c.keys(), row, strict=True)) for _, row in sorted(new.items())]
    for start in range(0, len(values), AT_ONCE):
        connection.execute(sa.insert(words), values[start : start + AT_ONCE])


def _is_veiled(name: str) -> bool:
    return name.rpartition(":")[2].startswith("~")


def _lent(connection: sa.Connection) -> Iterator[Row]:
    """Yield who lent others' answers the words of a remembered pair: who asked it, and who wrote its answer."""
    used = answers.join(pairs, pairs.c.id == answers.c.pair_id)
    of_pair = sa.select(answers.c.id, answers.c.asker, pairs.c.id, pairs.c.asker).select_from(used)
    for answer, asker, pair, first in connection.execute(of_pair.where(pairs.c.asker != answers.c.asker)):
        yield "answer", answer, first, "told", pair if _is_veiled(first) else ""
    wrote = answers.join(authors, authors.c.pair_id == answers.c.pair_id)
    by = sa.select(answers.c.id, answers.c.asker, authors.c.person).select_from(wrote)
    for answer, asker, person in connection.execute(by):
        if person != asker:
            yield "answer", answer, person, "told", ""


def _of_question(answer: str | None, person: str) -> Iterator[Row]:
    if answer:
        yield "answer", answer, person, "asked", ""
        yield "pair", f"p{answer[1:]}", person, "", ""


def _asked_anew(connection: sa.Connection) -> Iterator[Row]:
    """Yield whose question somebody else asked again, for another release or by sharing its answer."""
    columns = (claims.c.message, claims.c.asker, claims.c.answer_id)
    again = connection.execute(sa.select(*columns).where(claims.c.message.like("%@%"))).all()
    asked_by: dict[str, str] = {}
    keys = list({row.message.rpartition("@")[0] for row in again})
    for start in range(0, len(keys), AT_ONCE):
        some = claims.c.message.in_(keys[start : start + AT_ONCE])
        asked_by |= {row.message: row.asker for row in connection.execute(sa.select(*columns).where(some))}
    for message, asker, answer in again:
        first = asked_by.get(message.rpartition("@")[0], "")
        if first and first != asker and not _is_veiled(first):
            yield "claim", message, first, "", ""
            yield from _of_question(answer, first)


def _answered_for_others(connection: sa.Connection) -> Iterator[Row]:
    """Yield whose message somebody else had answered for themselves: it says the same, in the same channel."""
    claimed = sa.select(claims.c.answer_id).where(claims.c.answer_id.is_not(None), claims.c.answer_id != "")
    alone = sa.select(answers.c.id, answers.c.asker, answers.c.channel, answers.c.question, answers.c.at)
    alone = alone.where(answers.c.id.not_in(claimed), answers.c.question != "", answers.c.channel != "")
    found = connection.execute(alone).all()
    texts = {(row.channel, row.question) for row in found}
    first: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    columns = sa.select(claims.c.conversation, claims.c.asker, claims.c.at, claims.c.payload)
    for conversation, asker, at, payload in connection.execute(columns) if found else ():
        said = (":".join(conversation.split(":")[:2]), str((payload or {}).get("text", "")))
        if said in texts and asker and not _is_veiled(asker):
            first[said].append((at, asker))
    for row in found:
        for at, person in first[row.channel, row.question]:
            if at <= row.at and person != row.asker:
                yield from _of_question(row.id, person)


def _followed(connection: sa.Connection) -> Iterator[Row]:
    """Yield who asked before others in a thread, where these were completed from it or a model had read it."""
    several = sa.select(claims.c.conversation).where(claims.c.asker != "").group_by(claims.c.conversation)
    several = several.having(sa.func.count(sa.distinct(claims.c.asker)) > 1)
    columns = (claims.c.conversation, claims.c.asker, claims.c.at, answers.c.id, answers.c.route)
    whole = sa.select(*columns, answers.c.asker.label("own"), answers.c.trace)
    rows = whole.select_from(claims.outerjoin(answers, answers.c.id == claims.c.answer_id))
    before: dict[str, set[str]] = defaultdict(set)
    for row in connection.execute(rows.where(claims.c.conversation.in_(several)).order_by(claims.c.at)):
        others = before[row.conversation] - {row.own, row.asker}
        if row.id and others and ((row.trace or {}).get("rewritten") or row.route in BY_MODEL):
            for person in others:
                yield "answer", row.id, person, "queries", ""
                yield "pair", f"p{row.id[1:]}", person, "", ""
        if row.asker and not _is_veiled(row.asker):
            before[row.conversation].add(row.asker)


def _put_to_people(connection: sa.Connection) -> list[Row]:
    """Return whose words questions hold that were put to people: those of their answers."""
    both = tickets.join(words, sa.and_(words.c.kind == "answer", words.c.key == tickets.c.answer_id))
    rows = sa.select(tickets.c.message, words.c.person).select_from(both).where(words.c.place == "")
    return [("ticket", message, person, "", "") for message, person in connection.execute(rows)]


def _clean_traces(connection: sa.Connection) -> None:
    """Take the questions of pairs that are gone out of what explains answers: nobody knows whose they were."""
    there = set(connection.execute(sa.select(pairs.c.id)).scalars())
    changes: list[dict[str, Any]] = []
    for row in connection.execute(sa.select(answers.c.id, answers.c.trace)):
        near = {kind: (row.trace or {}).get(kind) or [] for kind in ("high", "low")}
        left = {kind: [e for e in near[kind] if e.get("pair") in there] for kind in near}
        if left != near:
            changes.append({"key": row.id, "new": {**row.trace, **left, "guard": ""}})
    for start in range(0, len(changes), AT_ONCE):
        change = sa.update(answers).where(answers.c.id == sa.bindparam("key"))
        change = change.values(trace=sa.bindparam("new", type_=sa.JSON))
        connection.execute(change, changes[start : start + AT_ONCE])
