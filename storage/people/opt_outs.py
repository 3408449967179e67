"""Who opted out, in SQL."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select, update

from storage.database.database import Database
from storage.tables import ForgottenRow, OptOutRow


class SqlOptOuts:
    """The `OptOutStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def opt_outs(self) -> frozenset[str]:
        """Return the names of all who opted out."""
        async with self._database.read() as connection:
            return frozenset((await connection.scalars(select(OptOutRow.person))).all())

    async def opt_out(self, names: Collection[str], at: float) -> None:
        """Put names on the list; what is there already stays as it is."""
        async with self._database.write() as connection:
            for name in sorted(names):
                await self._database.add(connection, OptOutRow, person=name, told="", at=at)

    async def opt_in(self, names: Collection[str]) -> None:
        """Take names off the list; a name that is not there is no error."""
        async with self._database.write() as connection:
            await connection.execute(delete(OptOutRow).where(OptOutRow.person.in_(names)))

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
