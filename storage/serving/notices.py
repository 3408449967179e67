"""Notices to the people who run the bot, in SQL."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import delete, select

from core.community.notices import Notice
from storage.database.database import Database
from storage.tables import NoticeRow


class SqlNotices:
    """The `NoticeStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def notice(self, destination: str, key: str) -> Notice | None:
        """Return what is known of a notice to a channel."""
        wanted = select(NoticeRow.__table__).where(NoticeRow.destination == destination, NoticeRow.key == key)
        async with self._database.read() as connection:
            row = (await connection.execute(wanted)).first()
        return Notice(**row._mapping) if row else None

    async def keep(self, notice: Notice) -> None:
        """Keep a notice in place of the one before of the same destination and key."""
        same = (NoticeRow.destination == notice.destination, NoticeRow.key == notice.key)
        async with self._database.write() as connection:
            await connection.execute(delete(NoticeRow).where(*same))
            await self._database.add(connection, NoticeRow, **asdict(notice))

    async def untold(self) -> tuple[Notice, ...]:
        """Return the notices that wait to be said, the oldest first."""
        waiting = select(NoticeRow.__table__).where(NoticeRow.told_at == 0, NoticeRow.text != "")
        async with self._database.read() as connection:
            rows = await connection.execute(waiting.order_by(NoticeRow.at, NoticeRow.destination))
            return tuple(Notice(**row._mapping) for row in rows)
