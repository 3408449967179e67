"""What people say of answers beside votes by button, in SQL: emoji, marks, authors of pairs, corrections."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import Any, Literal

from sqlalchemy import delete, func, select, update

from core.domain import MessageRef
from core.ports.about import FORMER
from core.ports.opinions import Correction, Mark, Shown
from storage.database.database import Database, Store
from storage.memory.pair_rows import Veils, no_veils, raised
from storage.people.authorship import PAIR, drop_words
from storage.tables import (
    AboutRow,
    AnswerRow,
    AuthorRow,
    ClaimRow,
    CorrectionRow,
    DistinctionRow,
    MarkRow,
    PairRow,
    VoteRow,
)
from storage.tables.columns import values_of


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

    async def former(self, pair_id: str) -> str:
        """Return under which id a pair stands that was made before its message's channel had another id."""
        return await self._value(select(AboutRow.value).where(AboutRow.name == FORMER + pair_id)) or ""

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
        same = (
            CorrectionRow.answer_id == correction.answer_id,
            CorrectionRow.person == correction.person,
        )
        await self._replace(CorrectionRow, same, values_of(CorrectionRow, correction))

    async def corrections(self, answer_id: str = "", limit: int = 50) -> tuple[Correction, ...]:
        """Return the corrections of one answer, or of all, the latest first."""
        statement = (
            select(
                CorrectionRow.__table__,
                AnswerRow.question,
                AnswerRow.release,
                AnswerRow.scope.label("heard"),
                PairRow.aside,
            )
            .join(AnswerRow, AnswerRow.id == CorrectionRow.answer_id)
            .outerjoin(PairRow, PairRow.id == CorrectionRow.pair_id)
            .order_by(CorrectionRow.at.desc())
            .limit(limit)
        )
        if answer_id:
            statement = statement.where(CorrectionRow.answer_id == answer_id)
        return tuple(_correction(**row._mapping) for row in await self._rows(statement))


def _correction(scope: str, heard: str, pair_id: str, aside: str | None, **values: Any) -> Correction:
    """Return a correction as it counts now: heard where it was said, and remembered only if its pair is."""
    narrow = heard if scope in ("", "public") else scope
    return Correction(**values, scope=narrow, pair_id="" if aside in (None, "retired") else pair_id)


class SqlReactions(Store):
    """The `ReactionStore` port on SQL; `veils` are the names that retention has given to voters."""

    def __init__(self, database: Database, veils: Veils = no_veils) -> None:
        super().__init__(database)
        self._veils = veils

    async def shown(self, platform: str, since: float, limit: int) -> tuple[Shown, ...]:
        """Return the latest answers that stand on a platform, newest first, but none from before a time."""
        # one that is about to be posted may stand there already
        answer = func.coalesce(ClaimRow.answer_id, ClaimRow.posting)
        here = ClaimRow.message.startswith(f"{platform}:", autoescape=True)
        found = (
            select(answer.label("answer_id"), ClaimRow.parts, ClaimRow.at, ClaimRow.before)
            .where(here, ClaimRow.at >= since, answer != "")
            .order_by(ClaimRow.at.desc(), ClaimRow.message)
            .limit(limit)
        )
        return tuple(
            Shown(row.answer_id, tuple(MessageRef(*part) for part in row.parts), row.at, tuple(row.before))
            for row in await self._rows(found)
            if row.parts
        )

    async def newest(self, shown: Shown) -> int:
        """Return the number of the latest vote on an answer; 0 for none."""
        answers = (*shown.before, shown.answer_id)
        return await self._value(select(func.max(VoteRow.number)).where(VoteRow.answer_id.in_(answers))) or 0

    async def unheard(
        self, shown: Shown, value: Literal[0, 1], voters: Collection[str], until: int
    ) -> frozenset[str]:
        """Return who of these voters has an emoji there that is not known, and did not vote since `until`."""
        answers = (*shown.before, shown.answer_id)
        votes = select(VoteRow.__table__).where(VoteRow.answer_id.in_(answers)).order_by(VoteRow.number)
        rows = await self._rows(votes) if voters else []
        known = _put(rows, value) | {row.voter for row in rows if row.number > until}
        for (answer_id, voter), hands in raised(rows).items():
            if answer_id == shown.answer_id and any(hand.value == value for hand in hands):
                known.add(voter)
        places = {row.pair_id or row.answer_id for row in rows}
        return frozenset(
            voter
            for voter in voters
            if known.isdisjoint({voter, *(name for place in places for name in self._veils(voter, place))})
        )


def _put(votes: Iterable[Any], value: Literal[0, 1]) -> set[str]:
    """Return whose emoji for a vote was put and not taken off; a button changes nothing of that."""
    found: set[str] = set()
    for vote in votes:
        if vote.value == value and vote.by_reaction:
            found.add(vote.voter)
        elif vote.value is None and vote.withdraws == value:
            found.discard(vote.voter)
    return found
