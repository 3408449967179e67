"""Whose words rows hold: written down with the rows, and looked up by who is to be forgotten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import delete, exists, insert, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import Answer, Question
from core.ports import Remembered
from core.privacy.names import Names, is_veiled
from storage.database.database import Database
from storage.tables import AnswerRow, AuthorRow, EscalationRow, PairRow, WordsRow
from storage.tables.columns import slices

ANSWER, PAIR, CLAIM, TICKET, PAGE = "answer", "pair", "claim", "ticket", "page"
ASKED, QUERIES, TOLD, TRACE = "asked", "queries", "told", "trace"


class Name(NamedTuple):
    """An account, or a one-way name with the place that it holds for."""

    person: str
    place: str = ""


Held = Mapping[tuple[str, str], set[str]]
"""Keys of rows, by their kind and the part of them that holds the words."""


def _rows(kind: str, key: str, people: Iterable[Name], part: str = "") -> list[dict[str, str]]:
    return [
        {"kind": kind, "key": key, "person": name.person, "part": part, "place": name.place}
        for name in sorted(set(people))
        if name.person
    ]


async def _keep(database: Database, connection: AsyncConnection, rows: list[dict[str, str]]) -> None:
    if rows:
        await connection.execute(database.insert(WordsRow).on_conflict_do_nothing(), rows)


async def keep_words(
    database: Database, connection: AsyncConnection, kind: str, key: str, people: Iterable[Name]
) -> None:
    """Write down whose words a row holds, beside those that are known already."""
    await _keep(database, connection, _rows(kind, key, people))


async def drop_words(
    connection: AsyncConnection, kind: str, keys: Collection[str], keep: Collection[str] = ()
) -> None:
    """Forget whose words rows hold that are gone, or whose words are; the parts to `keep` are there still."""
    gone = (WordsRow.kind == kind, WordsRow.part.not_in(keep))
    for part in slices(list(keys)):
        await connection.execute(delete(WordsRow).where(*gone, WordsRow.key.in_(part)))


async def drop_orphans(connection: AsyncConnection, kind: str, column: Any) -> None:
    """Forget whose words rows hold that are not there any more; `column` is the key of their table."""
    there = exists().where(column == WordsRow.key)
    await connection.execute(delete(WordsRow).where(WordsRow.kind == kind, ~there))


async def of_answers(
    connection: AsyncConnection, keys: Collection[str], without: Collection[str] = (TRACE,)
) -> set[Name]:
    """Return whose words answers hold, `without` the parts named so."""
    found: set[Name] = set()
    told = (WordsRow.kind == ANSWER, WordsRow.part.not_in(without))
    for part in slices(list(keys)):
        rows = select(WordsRow.person, WordsRow.place).where(*told, WordsRow.key.in_(part))
        found |= {Name(*row) for row in await connection.execute(rows)}
    return found


async def of_pairs(connection: AsyncConnection, pairs: Collection[str]) -> tuple[set[Name], set[str]]:
    """Return whose words pairs hold, who asked and who answered among them, and which pairs are there."""
    found: set[Name] = set()
    there: set[str] = set()
    for part in slices(list(pairs)):
        told = select(literal("words"), WordsRow.person, WordsRow.place)
        asked = select(literal("pair"), PairRow.asker, PairRow.id).where(PairRow.id.in_(part))
        rows = asked.union_all(
            select(literal("author"), AuthorRow.person, literal("")).where(AuthorRow.pair_id.in_(part)),
            told.where(WordsRow.kind == PAIR, WordsRow.key.in_(part)),
        )
        for kind, person, place in await connection.execute(rows):
            if kind == "pair":
                there.add(place)
            found.add(Name(person, place if kind == "words" or is_veiled(person) else ""))
    return {name for name in found if name.person}, there


async def keep_answer_words(
    database: Database,
    connection: AsyncConnection,
    answer: Answer,
    question: Question,
    pair: Remembered | None,
) -> bool:
    """Write down whose words an answer holds, and its pair; False where a pair it was made of is gone."""
    reused = {answer.pair_id} - {""} if pair is None else set()
    wanted = set(answer.taken.pairs) | reused
    lent, there = await of_pairs(connection, wanted)
    if wanted - there:
        return False
    traced = {str(near["pair"]) for kind in ("high", "low") for near in answer.trace.get(kind) or ()}
    seen, _ = (lent, there) if traced == wanted else await of_pairs(connection, traced)
    asker = Name(question.asker)
    asked = {Name(person) for person in question.authors} - {asker}
    queries = {Name(person) for person in answer.taken.asked} - {asker}
    told = ({Name(person) for person in answer.taken.people} | lent) - {asker}
    shown = ({Name(person) for person in answer.taken.shown} | seen) - {asker}
    parts = ((ASKED, asked), (QUERIES, queries), (TOLD, told), (TRACE, shown))
    rows = [row for part, people in parts for row in _rows(ANSWER, answer.id, people, part)]
    rows += _rows(PAIR, pair.id, asked | queries | told) if pair is not None else []
    await _keep(database, connection, rows)
    return True


async def keep_ticket_words(
    database: Database, connection: AsyncConnection, message: str, answer_id: str
) -> None:
    """Write down whose words a ticket holds: those of its answer's question, and of what it says."""
    people = await of_answers(connection, {answer_id})
    await keep_words(database, connection, TICKET, message, people)


async def whose(connection: AsyncConnection, answers: Collection[str], text: bool) -> frozenset[str]:
    """Return whose words answers and their questions hold, or without `text` their questions alone.

    By names that hold everywhere. Who asked in others' words is not among them.
    """
    without = (TRACE,) if text else (TRACE, TOLD)
    found = {name.person for name in await of_answers(connection, answers, without) if not name.place}
    others = exists().where(WordsRow.kind == ANSWER, WordsRow.part == ASKED, WordsRow.key == AnswerRow.id)
    for part in slices(list(answers)):
        own = select(AnswerRow.asker).where(AnswerRow.id.in_(part), ~others)
        found |= {asker for asker in await connection.scalars(own) if asker and not is_veiled(asker)}
    return frozenset(found)


async def names_of(connection: AsyncConnection, accounts: Collection[str], names: Names) -> set[str]:
    """Return all names under which a person's words are kept: accounts, and one-way names of them."""
    veiled = select(WordsRow.person, WordsRow.place).where(WordsRow.place != "").distinct()
    own = {
        row.person
        for row in await connection.execute(veiled)
        if row.person in {names.veil(account, row.place) for account in accounts}
    }
    return {*accounts, *names.authors(accounts), *own}


async def held_words(connection: AsyncConnection, people: Collection[str]) -> Held:
    """Return which rows hold words of a person, by all their names."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for part in slices(list(people)):
        rows = select(WordsRow.kind, WordsRow.part, WordsRow.key).where(WordsRow.person.in_(part))
        for kind, where, key in await connection.execute(rows):
            found[kind, where].add(key)
    return found


async def veil_words(connection: AsyncConnection, kind: str, keys: Collection[str], names: Names) -> None:
    """Replace accounts by one-way names that hold for their row alone."""
    plain = (WordsRow.kind == kind, WordsRow.place == "")
    for part in slices(list(keys)):
        found = select(WordsRow.__table__).where(*plain, WordsRow.key.in_(part))
        rows = (await connection.execute(found)).all()
        for row in rows:
            if is_veiled(row.person):  # an author of pages
                continue
            same = (WordsRow.kind == kind, WordsRow.key == row.key, WordsRow.person == row.person)
            await connection.execute(delete(WordsRow).where(*same, WordsRow.part == row.part))
            again = dict(row._mapping) | {"person": names.veil(row.person, row.key), "place": row.key}
            await connection.execute(insert(WordsRow).values(**again))


async def drop_ticket_orphans(connection: AsyncConnection) -> None:
    """Forget whose words tickets held that are gone."""
    await drop_orphans(connection, TICKET, EscalationRow.message)
