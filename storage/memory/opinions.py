"""What people say beside votes, in SQL: marks, authors of pairs, corrections."""

from __future__ import annotations

import time

from sqlalchemy import delete, select, update

from core.ports.opinions import Correction, Mark
from storage.database.database import Store
from storage.people.authorship import PAIR, drop_words
from storage.tables import AnswerRow, AuthorRow, CorrectionRow, DistinctionRow, MarkRow, PairRow, VoteRow


class SqlOpinions(Store):
    """The `OpinionStore` port on SQL."""

    async def mark(self, message: str, person: str, kind: Mark) -> None:
        """Note a person's mark on a message; the same again changes nothing."""
        async with self._database.write() as connection:
            row = {"message": message, "person": person, "kind": kind, "at": time.time()}
            await self._database.add(connection, MarkRow, **row)

    async def unmark(self, message: str, person: str, kind: Mark) -> bool:
        """Take a mark off; returns True if it was there."""
        of_person = (MarkRow.message == message, MarkRow.person == person, MarkRow.kind == kind)
        return bool(await self._change(delete(MarkRow).where(*of_person)))

    async def marked(self, message: str, kind: Mark) -> frozenset[str]:
        """Return who has that mark on a message."""
        statement = select(MarkRow.person).where(MarkRow.message == message, MarkRow.kind == kind)
        return frozenset(await self._values(statement))

    async def wrote(self, pair_id: str, author: str) -> None:
        """Note who wrote the answer of a pair, so that it goes when they are forgotten."""
        async with self._database.write() as connection:
            await self._database.add(connection, AuthorRow, pair_id=pair_id, person=author)

    async def author(self, pair_id: str) -> str:
        """Return who wrote the answer of a pair; empty where no person did."""
        statement = select(AuthorRow.person).where(AuthorRow.pair_id == pair_id)
        return await self._value(statement) or ""

    async def reword(self, pair_id: str, answer: str) -> None:
        """Replace the answer of a pair; an unknown pair is no error."""
        await self._change(update(PairRow).where(PairRow.id == pair_id).values(answer=answer))

    async def discard(self, pair_id: str) -> None:
        """Remove a pair that is in no store, with its votes; an unknown pair is no error."""
        async with self._database.write() as connection:
            await connection.execute(delete(VoteRow).where(VoteRow.pair_id == pair_id))
            await connection.execute(delete(AuthorRow).where(AuthorRow.pair_id == pair_id))
            await connection.execute(delete(DistinctionRow).where(DistinctionRow.pair_id == pair_id))
            await connection.execute(delete(PairRow).where(PairRow.id == pair_id))
            await drop_words(connection, PAIR, [pair_id])

    async def correct(self, correction: Correction) -> None:
        """Keep a correction in place of what the same person said of the same answer before."""
        values = {
            "answer_id": correction.answer_id,
            "person": correction.person,
            "name": correction.name,
            "what": correction.what,
            "better": correction.better,
            "at": correction.at,
            "pair_id": correction.pair_id,
        }
        key = (
            CorrectionRow.answer_id == correction.answer_id,
            CorrectionRow.person == correction.person,
        )
        async with self._database.write() as connection:
            await connection.execute(delete(CorrectionRow).where(*key))
            await self._database.add(connection, CorrectionRow, **values)

    async def corrections(self, answer_id: str = "", limit: int = 50) -> tuple[Correction, ...]:
        """Return the corrections of one answer, or of all, the latest first."""
        statement = (
            select(CorrectionRow.__table__, AnswerRow.question, AnswerRow.release, AnswerRow.scope)
            .join(AnswerRow, AnswerRow.id == CorrectionRow.answer_id)
            .order_by(CorrectionRow.at.desc())
            .limit(limit)
        )
        if answer_id:
            statement = statement.where(CorrectionRow.answer_id == answer_id)
        return tuple(Correction(**row._mapping) for row in await self._rows(statement))
