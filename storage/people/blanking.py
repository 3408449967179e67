"""What is taken out of rows of others that hold a person's words, and what stays theirs.

What explains answers names remembered questions: these are taken out of it, too.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Text, bindparam, cast, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import content_hash
from storage.people.authorship import ANSWER, ASKED, CLAIM, PAGE, PAIR, QUERIES, drop_words
from storage.tables import (
    AnswerRow,
    ClaimRow,
    ContextRow,
    DistinctionRow,
    DocumentRow,
    PairRow,
    PlacementRow,
    PregeneratedDocumentRow,
    PregeneratedRow,
    SearchRowTable,
    VectorRow,
)
from storage.tables.columns import slices

WORDLESS = (
    "ms",
    "first_ms",
    "timings",
    "calls",
    "language",
    "release_origin",
    "untranslated",
    "confidence",
    "threshold",
    "offers",
    "model",
    "prompts",
    "temperature",
    "origin",
    "replaced",
)
"""Keys of a trace under which nobody's words can stand."""
NEAR = ("high", "low")
"""Keys of a trace under which the questions of pairs stand."""
PATHS_AT_ONCE = 50
"""Pages that one statement looks for in all citations."""
Voted = Callable[[AsyncConnection, str], Awaitable[bool]]
"""Tells whether a vote that memory looks at stands on a pair."""


async def blank_answers(
    connection: AsyncConnection, ids: Collection[str], asked: Collection[str], pairs: Collection[str]
) -> None:
    """Empty answers of others: the text and what explains it, of those in `asked` the question, too.

    Who asked, when, and by which route stays. They belong to none of the removed `pairs` any more.
    """
    columns = (AnswerRow.id, AnswerRow.question, AnswerRow.pair_id, AnswerRow.trace)
    for part in slices(list(ids)):
        rows = (await connection.execute(select(*columns).where(AnswerRow.id.in_(part)))).all()
        changes = [
            {
                "key": row.id,
                "question": "" if row.id in asked else row.question,
                "text": "",
                "citations": [],
                "pair_id": "" if row.pair_id in pairs else row.pair_id,
                "trace": wordless(row.trace),
            }
            for row in rows
        ]
        await change(connection, AnswerRow.id, changes)
    await drop_words(connection, ANSWER, asked)
    await drop_words(connection, ANSWER, ids, keep=(ASKED,))


def wordless(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return of what explains an answer that in which nobody's words can stand."""
    return {key: trace[key] for key in WORDLESS if key in trace}


async def withdraw_answer(
    connection: AsyncConnection, answer_id: str, replaced: bool, is_voted: Voted
) -> None:
    """Empty an answer and its question, which somebody deleted, or `replaced` by editing it.

    What memory compares stays where it holds the pair or somebody's vote stands on it, so that votes keep
    their place: while memory is rebuilt no pair has one. A pair that the answer became goes where no vote
    stands on it. A vote that is being cast waits for the end of this, or is waited for.
    """
    columns = select(AnswerRow.trace, AnswerRow.pair_id).where(AnswerRow.id == answer_id)
    row = (await connection.execute(columns.with_for_update())).first()
    if row is None:
        return
    placed = select(exists().where(PlacementRow.pair_id == row.pair_id))
    held = await connection.scalar(placed) or await is_voted(connection, row.pair_id)
    dropped = not held and await _drop_unvoted(connection, answer_id, row.pair_id)
    topic = str((row.trace.get("queries") or {}).get("topic") or "") if held else ""
    trace = wordless(row.trace) | ({"queries": {"topic": topic}} if topic else {})
    bare = {"question": "", "text": "", "citations": [], "trace": trace | {"replaced": replaced}}
    bare["pair_id"] = "" if dropped else row.pair_id
    await change(connection, AnswerRow.id, [{"key": answer_id, **bare}])
    await drop_words(connection, ANSWER, [answer_id], keep=(QUERIES,) if topic else ())


async def _drop_unvoted(connection: AsyncConnection, answer_id: str, pair_id: str) -> bool:
    """Remove the pair of an answer on which no vote stands, unless another one that has it says something."""
    others = (AnswerRow.pair_id == PairRow.id, AnswerRow.id != answer_id)
    shared = exists().where(*others, AnswerRow.text != "")
    own = (PairRow.id == pair_id, PairRow.origin == "answer", PairRow.aside == "", ~shared)
    topic = await connection.scalar(select(PairRow.topic).where(*own))
    if topic is None:
        return False
    await connection.execute(delete(PairRow).where(PairRow.id == pair_id))
    await connection.execute(delete(DistinctionRow).where(DistinctionRow.pair_id == pair_id))
    await connection.execute(update(AnswerRow).where(AnswerRow.pair_id == pair_id).values(pair_id=""))
    await drop_words(connection, PAIR, [pair_id])
    await delete_vectors(connection, {topic})
    return True


async def delete_vectors(connection: AsyncConnection, topics: set[str]) -> None:
    """Remove the vectors of topics that no other pair, no passage and nothing made of one has."""
    left: set[str] = set()
    for some in slices(list(topics)):
        left |= set(await connection.scalars(select(PairRow.topic).where(PairRow.topic.in_(some))))
    unused = [content_hash(topic) for topic in topics - left]
    used: ColumnElement[bool] = exists().where(SearchRowTable.text_hash == VectorRow.text_hash)
    for column in (PregeneratedRow.question_hash, PregeneratedRow.answer_hash):
        used = used | exists().where(column == VectorRow.text_hash)
    for part in slices(unused):
        await connection.execute(delete(VectorRow).where(VectorRow.text_hash.in_(part), ~used))


async def blank_traces(connection: AsyncConnection, ids: Collection[str]) -> None:
    """Take out of what explains answers the questions of pairs that are gone, and the titles of pages."""
    for part in slices(list(ids)):
        found = select(AnswerRow.id, AnswerRow.trace).where(AnswerRow.id.in_(part))
        rows = (await connection.execute(found)).all()
        near = {entry["pair"] for row in rows for kind in NEAR for entry in row.trace.get(kind) or ()}
        there: set[str] = set()
        for some in slices(list(near)):
            there |= set(await connection.scalars(select(PairRow.id).where(PairRow.id.in_(some))))
        changes = []
        for row in rows:
            trace = {**row.trace, "guard": ""} | ({"reasoning": ""} if row.trace.get("reasoning") else {})
            for kind in NEAR:
                trace[kind] = [entry for entry in trace.get(kind) or () if entry["pair"] in there]
            trace["evidence"] = [{**entry, "title": ""} for entry in trace.get("evidence") or ()]
            changes.append({"key": row.id, "trace": trace})
        await change(connection, AnswerRow.id, changes)


async def blank_claims(connection: AsyncConnection, messages: Collection[str]) -> None:
    """Take the words out of claims of others; one that was not answered is not answered any more."""
    for part in slices(list(messages)):
        settled = func.coalesce(ClaimRow.answer_id, "")
        claims = update(ClaimRow).where(ClaimRow.message.in_(part))
        await connection.execute(claims.values(payload={}, answer_id=settled))
    await drop_words(connection, CLAIM, messages)


async def blank_pages(connection: AsyncConnection, documents: Collection[str]) -> set[str]:
    """Remove what documents say, which their source rewrites; return their paths.

    That they were there stays until then.
    """
    paths = await paths_of(connection, documents)
    for part in slices(list(documents)):
        for table in (PregeneratedRow, PregeneratedDocumentRow, SearchRowTable, ContextRow):
            await connection.execute(delete(table).where(table.document_id.in_(part)))
        emptied = update(DocumentRow).where(DocumentRow.id.in_(part))
        await connection.execute(emptied.values(title="", hash=""))
    await drop_words(connection, PAGE, documents)
    return paths


async def paths_of(connection: AsyncConnection, documents: Collection[str]) -> set[str]:
    """Return the paths of documents."""
    paths: set[str] = set()
    for part in slices(list(documents)):
        paths |= set(await connection.scalars(select(DocumentRow.path).where(DocumentRow.id.in_(part))))
    return paths


async def citing(
    connection: AsyncConnection, documents: Collection[str], table: type[AnswerRow] | type[PairRow]
) -> set[str]:
    """Return the rows that cite documents, by their paths: those from before it was kept whose words."""
    found: set[str] = set()
    for some in slices(sorted(await paths_of(connection, documents)), PATHS_AT_ONCE):
        cited = cast(table.citations, Text)
        holds = [cited.contains(json.dumps({"path": path})[1:-1], autoescape=True) for path in some]
        found |= set(await connection.scalars(select(table.id).where(or_(*holds))))
    return found


async def change(connection: AsyncConnection, key: Any, changes: Sequence[dict[str, Any]]) -> None:
    """Change rows by their key, all in one statement; each change has the key and the same columns."""
    if not changes:
        return
    names = [name for name in changes[0] if name != "key"]
    table = key.class_.__table__
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
    rows = [{"key": each["key"]} | {f"new_{name}": each[name] for name in names} for each in changes]
    await connection.execute(update(table).where(key == bindparam("key")).values(values), rows)


PAIRS_AT_ONCE = 50
"""Pairs that one statement looks for in all traces."""


async def clean_traces(connection: AsyncConnection, pairs: set[str], *where: ColumnElement[bool]) -> None:
    """Take pairs out of what explains answers; `where` narrows down of which."""
    for some in slices(sorted(pairs), PAIRS_AT_ONCE):
        holds: list[ColumnElement[bool]] = [
            cast(AnswerRow.trace, Text).contains(key, autoescape=True) for key in some
        ]
        found = select(AnswerRow.id, AnswerRow.trace).where(or_(*holds), *where)
        for row in (await connection.execute(found)).all():
            # why one of them was not reused quotes words of its question
            trace = {**row.trace, "guard": ""} if row.trace.get("guard") else dict(row.trace)
            for kind in ("high", "low"):
                near: Sequence[dict[str, Any]] = trace.get(kind) or []
                trace[kind] = [entry for entry in near if entry.get("pair") not in pairs]
            await connection.execute(update(AnswerRow).where(AnswerRow.id == row.id).values(trace=trace))
