"""What admins and the bot itself did, in SQL."""

from __future__ import annotations

from sqlalchemy import delete, insert, select

from core.privacy.audit import Act
from storage.database.database import Database
from storage.tables import ActRow


class SqlAudit:
    """The `AuditStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, act: Act) -> None:
        """Keep an act."""
        values = {
            "at": act.at,
            "who": act.who,
            "place": act.where,
            "what": act.what,
            "outcome": act.outcome,
        }
        async with self._database.write() as connection:
            await connection.execute(insert(ActRow).values(**values))

    async def acts(self, limit: int = 50) -> tuple[Act, ...]:
        """Return the latest acts, the latest first."""
        statement = select(ActRow.__table__).order_by(ActRow.at.desc(), ActRow.number.desc()).limit(limit)
        async with self._database.read() as connection:
            rows = await connection.execute(statement)
            return tuple(Act(row.at, row.who, row.place, row.what, row.outcome) for row in rows)

    async def delete_before(self, at: float) -> int:
        """Remove the acts that are older than that time; return how many."""
        async with self._database.write() as connection:
            return (await connection.execute(delete(ActRow).where(ActRow.at < at))).rowcount
