"""What a person left in SQL: told to them, or taken out with all that was made of it; and who opted out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.ports import Forgotten
from core.ports.about import FORGOTTEN
from core.ports.cluster import GONE
from core.privacy.names import Names
from storage.database.database import Database, Store
from storage.people.authorship import (
    ANSWER,
    ASKED,
    CLAIM,
    PAGE,
    PAIR,
    QUERIES,
    TICKET,
    TOLD,
    TRACE,
    drop_ticket_orphans,
    drop_words,
    held_words,
    names_of,
)
from storage.people.blanking import (
    blank_answers,
    blank_claims,
    blank_pages,
    blank_traces,
    citing,
    clean_traces,
    delete_vectors,
)
from storage.people.mentions import clean_mentions
from storage.people.personal import STANDS, events_of, held_of, rows_of
from storage.tables import (
    AnswerRow,
    AuthorRow,
    ClaimRow,
    CorrectionRow,
    DistinctionRow,
    EventRow,
    ForgottenRow,
    OptOutRow,
    PairRow,
    PostRow,
    UnaskedRow,
    VoteRow,
    WordsRow,
)
from storage.tables.columns import slices

TELLING = 12
"""Least characters of a question by which other rows are searched; shorter ones stand everywhere."""


class SqlPeople(Store):
    """The `PersonStore` port on SQL; `names` made the one-way names that retention has given."""

    def __init__(self, database: Database, names: Names | None = None) -> None:
        super().__init__(database)
        self._names = names or Names(b"", {})

    async def held(self, accounts: Collection[str]) -> dict[str, list[dict[str, Any]]]:
        """Return all rows that say something of a person, by what they are, the latest first."""
        async with self._database.read() as connection:
            return await held_of(connection, accounts, self._names)

    async def forget(self, accounts: Collection[str], voters: Collection[str]) -> Forgotten:
        """Remove a person's questions, their answers, pairs and votes, and what was derived from them.

        Of what others asked the words go that are this person's, and what others were told of them. Raises
        StorageError; then nothing is gone.
        """
        async with self._database.write() as connection:
            asked = await self._left(connection, "questions", accounts, AnswerRow.id, AnswerRow.question)
            named = await self._left(connection, "remembered", accounts, PairRow.id, PairRow.question)
            claims = await self._left(connection, "messages", accounts, ClaimRow.message, ClaimRow.payload)
            cast = await self._left(connection, "votes", voters, VoteRow.number)
            names = await names_of(connection, accounts, self._names)
            held = await held_words(connection, names)
            own, pages = {row.id for row in asked}, held[PAGE, ""]
            written = set(await _ids(connection, AuthorRow.pair_id, AuthorRow.person, accounts))
            pairs = {row.id for row in named} | written | held[PAIR, ""]
            pairs |= await citing(connection, pages, PairRow)
            pairs |= set(await _ids(connection, PairRow.id, PairRow.label, pairs))  # exported, and imported
            told = held[ANSWER, ASKED] | held[ANSWER, QUERIES] | held[ANSWER, TOLD]
            told |= set(await _ids(connection, AnswerRow.id, AnswerRow.pair_id, pairs))
            told = (told | await citing(connection, pages, AnswerRow)) - own
            texts = {row.question for row in (*asked, *named) if row.question}
            texts |= {str(row.payload["text"]) for row in claims if row.payload.get("text")}
            texts |= set(await _ids(connection, PairRow.answer, PairRow.id, written))
            telling = [text for text in texts if len(text) >= TELLING]
            theirs = held[ANSWER, ASKED] - own | await _saying(connection, told, telling)
            claimed = await _ids(connection, ClaimRow.message, ClaimRow.answer_id, theirs)
            votes = await _delete_votes(connection, own, pairs, {row.number for row in cast})
            topics = set(await _ids(connection, PairRow.topic, PairRow.id, pairs))
            topics |= await topics_of(connection, own | told)
            messages = {row.message for row in claims}
            await _delete_rows(connection, own, pairs, messages, await events_of(connection, accounts))
            await blank_answers(connection, told, theirs, pairs)
            await blank_claims(connection, held[CLAIM, ""] | set(claimed))
            paths = await blank_pages(connection, pages)
            await self._unname(connection, {*accounts, *voters})
            await clean_mentions(connection, accounts, telling, held[TICKET, ""])
            await delete_vectors(connection, topics)
            await clean_traces(connection, pairs)
            await blank_traces(connection, held[ANSWER, TRACE] - own - told)
            await _forget_words(connection, names, own, pairs, messages)
            await self._database.owe_scrub(connection)
            ids = ("", *own, *told, *pairs, *map(self._names.of_gone, paths))
            self._database.tell(connection, GONE, ids)
        gone = (frozenset(own | told), frozenset(texts), frozenset(pairs), frozenset(paths))
        return Forgotten(len(own), len(pairs), votes, len(claims), *gone)

    async def _unname(self, connection: AsyncConnection, people: Collection[str]) -> None:
        """Remove the rows that are a person's, and their name from those that others need."""
        for stand in STANDS:
            rows = stand.who.in_(people)
            if stand.goes == "row":
                await connection.execute(delete(stand.table).where(rows))
            else:
                emptied = {stand.who.key: FORGOTTEN} | {column.key: "" for column in stand.words}
                await connection.execute(update(stand.table).where(rows).values(**emptied))

    async def _left(
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


async def _delete_rows(
    connection: AsyncConnection,
    answers: Collection[str],
    pairs: Collection[str],
    messages: Collection[str],
    events: Collection[str],
) -> None:
    for table, column, keys in (
        (AnswerRow, AnswerRow.id, answers),
        (PairRow, PairRow.id, pairs),
        (UnaskedRow, UnaskedRow.answer_id, answers),
        (AuthorRow, AuthorRow.pair_id, pairs),
        (DistinctionRow, DistinctionRow.pair_id, pairs),
        (CorrectionRow, CorrectionRow.answer_id, answers),
        (PostRow, PostRow.message, messages),
        (ClaimRow, ClaimRow.message, messages),
        (EventRow, EventRow.event, events),
    ):
        await _delete(connection, table, column, keys)


async def _delete_votes(
    connection: AsyncConnection, answers: set[str], pairs: set[str], numbers: Collection[int]
) -> int:
    own = await _delete(connection, VoteRow, VoteRow.number, numbers)
    await _delete(connection, VoteRow, VoteRow.answer_id, answers)
    await _delete(connection, VoteRow, VoteRow.pair_id, pairs)
    return own


async def _saying(connection: AsyncConnection, answers: Iterable[str], texts: Collection[str]) -> set[str]:
    """Return the answers whose questions say word for word what a person said."""
    found: set[str] = set()
    for part in slices(list(answers)):
        questions = select(AnswerRow.id, AnswerRow.question).where(AnswerRow.id.in_(part))
        rows = await connection.execute(questions)
        found |= {row.id for row in rows if any(text in row.question for text in texts)}
    return found


async def _forget_words(
    connection: AsyncConnection,
    names: Collection[str],
    answers: Collection[str],
    pairs: Collection[str],
    messages: Collection[str],
) -> None:
    """Forget whose words were in what is gone, and that a person's words were anywhere."""
    for kind, keys in ((ANSWER, answers), (PAIR, pairs), (CLAIM, messages)):
        await drop_words(connection, kind, keys)
    await drop_ticket_orphans(connection)
    await _delete(connection, WordsRow, WordsRow.person, names)


class SqlOptOuts(Store):
    """The `OptOutStore` port on SQL."""

    async def opt_outs(self) -> frozenset[str]:
        """Return the names of all who opted out."""
        return frozenset(await self._values(select(OptOutRow.person)))

    async def opt_out(self, names: Collection[str], at: float) -> None:
        """Put names on the list; what is there already stays as it is."""
        async with self._database.write() as connection:
            for name in sorted(names):
                await self._database.add(connection, OptOutRow, person=name, told="", at=at)

    async def opt_in(self, names: Collection[str]) -> None:
        """Take names off the list; a name that is not there is no error."""
        await self._change(delete(OptOutRow).where(OptOutRow.person.in_(names)))

    async def forgotten(self) -> dict[str, float]:
        """Return the names of all who asked to be forgotten, and when they last did."""
        async with self._database.read() as connection:
            rows = await connection.execute(select(ForgottenRow.person, ForgottenRow.at))
            return {row.person: row.at for row in rows}

    async def forget(self, names: Collection[str], at: float) -> None:
        """Note that the person of these names asked to be forgotten."""
        async with self._database.write() as connection:
            for name in sorted(names):
                await self._database.add(connection, ForgottenRow, person=name, at=at)
            await connection.execute(update(ForgottenRow).where(ForgottenRow.person.in_(names)).values(at=at))

    async def tell(self, names: Collection[str], what: str) -> bool:
        """Note that the person of these names is told something; False where they were told before."""
        own = OptOutRow.person.in_(names)
        async with self._database.write() as connection:
            told = (await connection.scalars(select(OptOutRow.told).where(own))).all()
            heard = set(filter(None, " ".join(told).split(" ")))
            if not told or what in heard:
                return False
            all_ = " ".join(sorted(heard | {what}))
            await connection.execute(update(OptOutRow).where(own).values(told=all_))
        return True
