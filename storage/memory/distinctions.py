"""Questions that people told apart from remembered ones, in SQL; their words stand with the answers."""

from __future__ import annotations

from sqlalchemy import case, delete, func, select

from core.ports.opinions import Distinction
from storage.database.database import Database
from storage.tables import AnswerRow, DistinctionRow, PairRow

DIRECT = "direct:%"
"""Scopes of which no words are taken into memory."""


class SqlDistinctions:
    """The `DistinctionStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tell_apart(self, said: Distinction) -> bool:
        """Keep one; False where it is known already, or the pair is not there."""
        columns = ("pair_id", "key", "answer_id", "person", "at")
        values = {name: getattr(said, name) for name in columns}
        async with self._database.write() as connection:
            there = await connection.execute(select(PairRow.id).where(PairRow.id == said.pair_id))
            return there.first() is not None and await self._database.add(
                connection, DistinctionRow, **values
            )

    async def told_apart(self, pair_id: str = "") -> tuple[Distinction, ...]:
        """Return those of one pair, or of all, oldest first."""
        queries = AnswerRow.trace["queries"]
        topic = func.coalesce(
            func.nullif(queries["topic"].as_string(), ""), queries["base"].as_string(), AnswerRow.question, ""
        )
        told = func.coalesce(AnswerRow.scope, "").not_like(DIRECT)
        statement = (
            select(
                DistinctionRow.__table__,
                case((told, topic), else_="").label("topic"),
                case((told, func.coalesce(AnswerRow.question, "")), else_="").label("question"),
                func.coalesce(AnswerRow.scope, "public").label("scope"),
                PairRow.release,
                PairRow.topic.label("remembered"),
            )
            .join(PairRow, PairRow.id == DistinctionRow.pair_id)
            .outerjoin(AnswerRow, AnswerRow.id == DistinctionRow.answer_id)
            .order_by(DistinctionRow.at, DistinctionRow.key)
        )
        if pair_id:
            statement = statement.where(DistinctionRow.pair_id == pair_id)
        async with self._database.read() as connection:
            return tuple(Distinction(**row._mapping) for row in await connection.execute(statement))

    async def take_back(self, pair_id: str, key: str) -> bool:
        """Remove one; tells whether it was there."""
        one = (DistinctionRow.pair_id == pair_id, DistinctionRow.key == key)
        async with self._database.write() as connection:
            return bool((await connection.execute(delete(DistinctionRow).where(*one))).rowcount)
