"""What the processes of a cluster tell one another, on SQL; the bell is PostgreSQL's NOTIFY."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from sqlalchemy import func, select

from core.ports.cluster import News
from storage.database.database import Database, Store
from storage.database.member import Member
from storage.tables import ChangeRow


class SqlCluster(Store):
    """The `Cluster` port on PostgreSQL."""

    is_shared = True

    def __init__(self, database: Database, member: Member) -> None:
        super().__init__(database)
        self._member = member

    @property
    def leads(self) -> bool:
        """Return True if this process does what only one of them does."""
        return self._member.leads

    @property
    def is_sure(self) -> bool:
        """Return True if nobody can have taken this process for dead."""
        return self._member.is_sure

    async def sure(self) -> None:
        """Return once that is so; raises StorageUnavailable where somebody has."""
        await self._member.sure()

    def turn(self, what: str) -> AbstractAsyncContextManager[None]:
        """Let one process at a time do something, such as change memory."""
        return self._database.turn(what)

    async def news(self, since: int | None, topic: str = "") -> News:
        """Return what others changed after change number `since`; None for nothing but the last number."""
        if since is None:
            return News(await self._value(select(func.max(ChangeRow.number))) or 0)
        later = select(ChangeRow.__table__).where(ChangeRow.number > since).order_by(ChangeRow.number)
        rows = await self._rows(later.where(ChangeRow.topic == topic) if topic else later)
        news = News(rows[-1].number if rows else since)
        for row in rows:
            if row.by != self._member.id:
                news.keys.setdefault(row.topic, set()).add(row.key)
        return news

    async def tell(self, topic: str, *keys: str) -> None:
        """Tell the others of a change that is no row of theirs to read."""
        async with self._database.write() as connection:
            self._database.tell(connection, topic, keys)

    def listen(self, heard: Callable[[bool], None]) -> None:
        """Call `heard` in the event loop whenever there may be news, and every few seconds."""
        self._member.listen(heard)
