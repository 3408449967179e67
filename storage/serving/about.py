"""What the database knows about itself, in SQL."""

from __future__ import annotations

from sqlalchemy import delete, func, select

from storage.database.database import Database
from storage.people.personal import STANDS, is_veiled_column
from storage.tables import AboutRow, AnswerRow, ForgottenRow, OptOutRow, VoteRow


class SqlAbout:
    """The `AboutStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def told(self, name: str) -> str:
        """Return what is known under a name, empty for nothing."""
        async with self._database.read() as connection:
            return await connection.scalar(select(AboutRow.value).where(AboutRow.name == name)) or ""

    async def tell(self, name: str, value: str) -> None:
        """Keep something in place of what was known under that name."""
        async with self._database.write() as connection:
            await connection.execute(delete(AboutRow).where(AboutRow.name == name))
            await self._database.add(connection, AboutRow, name=name, value=value)

    async def has_one_way_names(self, lists_alone: bool = False) -> bool:
        """Return True if anybody stands in the database under a one-way name; with `lists_alone`, on the
        lists of those who opted out or were forgotten.
        """
        columns = [OptOutRow.person, ForgottenRow.person]
        columns += [] if lists_alone else [stand.who for stand in STANDS]
        async with self._database.read() as connection:
            for column in columns:
                if await connection.scalar(select(column).where(is_veiled_column(column)).limit(1)):
                    return True
        return False

    async def newest(self, before: float) -> float:
        """Return when the newest question or vote before a time was, in seconds since the epoch, or 0."""
        async with self._database.read() as connection:
            found = [
                await connection.scalar(select(func.max(at)).where(at < before))
                for at in (AnswerRow.at, VoteRow.at)
            ]
        return max((at for at in found if at is not None), default=0.0)
