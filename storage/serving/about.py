"""What the database knows of itself, whether it can be written, what was done, what admins were told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

from sqlalchemy import delete, func, insert, select

from core.errors import StorageError
from core.ports.about import Act, Notice
from storage.database.database import Database, Store
from storage.people.personal import STANDS, is_veiled_column
from storage.tables import AboutRow, ActRow, AnswerRow, EventRow, ForgottenRow, NoticeRow, OptOutRow, VoteRow
from storage.tables.columns import made, values_of


class SqlAbout(Store):
    """The `AboutStore` port on SQL."""

    async def told(self, name: str) -> str:
        """Return what is known under a name, empty for nothing."""
        return await self._value(select(AboutRow.value).where(AboutRow.name == name)) or ""

    async def tell(self, name: str, value: str) -> None:
        """Keep something in place of what was known under that name."""
        await self._replace(AboutRow, [AboutRow.name == name], {"name": name, "value": value})

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
        found = [
            await self._value(select(func.max(at)).where(at < before)) for at in (AnswerRow.at, VoteRow.at)
        ]
        return max((at for at in found if at is not None), default=0.0)


class SqlAudit(Store):
    """The `AuditStore` port on SQL."""

    async def note(self, act: Act) -> None:
        """Keep an act."""
        await self._change(insert(ActRow).values(**values_of(ActRow, act, place=act.where)))

    async def acts(self, limit: int = 50) -> tuple[Act, ...]:
        """Return the latest acts, the latest first."""
        statement = select(ActRow.__table__).order_by(ActRow.at.desc(), ActRow.number.desc()).limit(limit)
        rows = await self._rows(statement)
        return tuple(made(Act, row, where=row.place) for row in rows)

    async def older(self, at: float) -> int:
        """Count the acts that are older than that time."""
        return int(await self._value(select(func.count()).where(ActRow.at < at)))

    async def delete_before(self, at: float) -> int:
        """Remove the acts that are older than that time; return how many."""
        return await self._change(delete(ActRow).where(ActRow.at < at))


class SqlNotices(Store):
    """The `NoticeStore` port on SQL."""

    async def notice(self, destination: str, key: str) -> Notice | None:
        """Return what is known of a notice to a channel."""
        wanted = select(NoticeRow.__table__).where(NoticeRow.destination == destination, NoticeRow.key == key)
        row = await self._row(wanted)
        return Notice(**row._mapping) if row else None

    async def keep(self, notice: Notice) -> None:
        """Keep a notice in place of the one before of the same destination and key."""
        same = (NoticeRow.destination == notice.destination, NoticeRow.key == notice.key)
        await self._replace(NoticeRow, same, asdict(notice))

    async def untold(self) -> tuple[Notice, ...]:
        """Return the notices that wait to be said, the oldest first."""
        waiting = select(NoticeRow.__table__).where(NoticeRow.told_at == 0, NoticeRow.text != "")
        rows = await self._rows(waiting.order_by(NoticeRow.at, NoticeRow.destination))
        return tuple(Notice(**row._mapping) for row in rows)


PROBE = "probe"
"""An event that is written and removed again to see whether writing works."""
LEAST_BYTES = 4_000_000
"""Free bytes of the home's disk below which nothing is sure to be kept: a page of every table and the log."""


class SqlHealth(Store):
    """The `StorageHealth` port on SQL; `free` returns the free bytes of the disk that holds the home."""

    def __init__(self, database: Database, free: Callable[[], int]) -> None:
        super().__init__(database)
        self._free = free

    def problem(self) -> str:
        """Return why the last write failed, or that the disk is nearly full; empty where all is well."""
        if self._database.problem:
            return self._database.problem
        if (left := self._free()) < LEAST_BYTES:
            return (
                f"The disk that holds the home folder is full ({left // 1_000_000} MB left); free some space."
            )
        return ""

    async def check(self) -> str:
        """Write something and remove it; return what is wrong, empty where all is well."""
        try:
            async with self._database.write() as connection:
                await self._database.add(connection, EventRow, event=PROBE, at=time.time())
            await self._change(delete(EventRow).where(EventRow.event == PROBE))
        except StorageError as error:
            return str(error)
        return self.problem()
