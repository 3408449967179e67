"""Answers in lists, in SQL: what somebody asked, voted on, or reads in public channels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import MessageRef
from core.insights.given import GivenAnswer
from storage.database.database import Database, Store
from storage.memory.pair_rows import standing
from storage.tables import AnswerRow, ClaimRow, VoteRow
from storage.tables.columns import made

PUBLIC = "public"
LOOKED_AT = 5
"""Rows that are looked at for each that is wanted, as a vote may have been taken back."""
_SHOWN = (
    AnswerRow.id,
    AnswerRow.question,
    AnswerRow.release,
    AnswerRow.route,
    AnswerRow.at,
    AnswerRow.channel,
    AnswerRow.scope,
)
Veils = Callable[[str, str], Collection[str]]
"""The one-way names that a person may stand under at a place."""


class SqlGiven(Store):
    """The `GivenStore` port on SQL."""

    def __init__(self, database: Database, veils: Veils = lambda name, place: ()) -> None:
        super().__init__(database)
        self._veils = veils

    async def asked(self, accounts: Collection[str], voter: str, limit: int) -> tuple[GivenAnswer, ...]:
        """Return the answers to what these accounts asked, with the votes of a voter."""
        return await self._listed([AnswerRow.asker.in_(accounts)], voter, limit)

    async def voted(self, voter: str, without: Collection[str], limit: int) -> tuple[GivenAnswer, ...]:
        """Return the answers on which a vote of somebody stands and that none of some accounts asked for."""
        latest = select(VoteRow.answer_id).where(VoteRow.voter == voter).order_by(VoteRow.number.desc())
        ids = list(dict.fromkeys(await self._values(latest.limit(LOOKED_AT * limit))))
        conditions = [AnswerRow.id.in_(ids), AnswerRow.asker.not_in(without)]
        found = await self._listed(conditions, voter, LOOKED_AT * limit)
        return tuple(one for one in found if one.opinion is not None)[:limit]

    async def public(self, channels: Collection[str], voter: str, limit: int) -> tuple[GivenAnswer, ...]:
        """Return the public answers that stand in channels (`slack:C1`), with the votes of a voter."""
        conditions = [
            AnswerRow.scope == PUBLIC,
            AnswerRow.channel.in_(channels),
            AnswerRow.route != "abstain",
        ]
        found = await self._listed(conditions, voter, LOOKED_AT * limit)
        return tuple(one for one in found if one.parts)[:limit]

    async def _listed(self, conditions: Sequence[Any], voter: str, limit: int) -> tuple[GivenAnswer, ...]:
        statement = select(*_SHOWN).where(AnswerRow.question != "", *conditions)
        statement = statement.order_by(AnswerRow.at.desc(), AnswerRow.id).limit(limit)
        async with self._database.read() as connection:
            rows = (await connection.execute(statement)).all()
            ids = [row.id for row in rows]
            parts, opinions = await _parts(connection, ids), await self._opinions(connection, ids, voter)
        return tuple(
            made(GivenAnswer, row, parts=parts.get(row.id, ()), opinion=opinions.get(row.id)) for row in rows
        )

    async def _opinions(self, connection: AsyncConnection, ids: Sequence[str], voter: str) -> dict[str, Any]:
        """Return which vote of somebody stands on each answer, also one under a one-way name."""
        votes = select(VoteRow.__table__).where(VoteRow.answer_id.in_(ids)).order_by(VoteRow.number)
        cast = standing(await connection.execute(votes)).items()
        own = [
            (answer, vote)
            for (answer, who), vote in cast
            if who in (voter, *self._veils(voter, vote.pair_id or answer))
        ]
        return {answer: vote.value for answer, vote in sorted(own, key=lambda found: found[1].number)}


async def _parts(connection: AsyncConnection, ids: Collection[str]) -> dict[str, tuple[MessageRef, ...]]:
    """Return the messages in which answers stand."""
    claims = select(ClaimRow.answer_id, ClaimRow.parts).where(ClaimRow.answer_id.in_(ids))
    rows = await connection.execute(claims.order_by(ClaimRow.at))
    return {row.answer_id: tuple(MessageRef(*part) for part in row.parts) for row in rows if row.parts}
