"""What was removed goes from the files, too: SQLite's file and PostgreSQL's tables are written anew.

Whoever reads for long, as a backup does, keeps that from being done. Nobody waits for them: it stays owed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from storage.database.sqlite_file import EMPTY_LOG, LOG_OWED, OWED, SMALL_PAGES
from storage.tables import Base

TRIES = 5
"""How often SQLite's log is tried to be emptied, and writers let in between."""
MOMENT_MS = 200
"""How long a try waits for readers."""
LOCK_SECONDS = 1
"""How long a table of PostgreSQL is waited for; who comes after that waits as long."""
_LOCKED = "55P03"


class UnusedRoom:
    """Rewrites the files of a database, where that is owed and nobody has to wait for it.

    `writing` is the lock of who writes, `waiting` tells how many wait for it, `written` when one wrote last.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        read: Callable[[], AbstractAsyncContextManager[AsyncConnection]],
        writing: asyncio.Lock,
        waiting: Callable[[], int],
        written: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._read = read
        self._writing = writing
        self._waiting = waiting
        self._written = written
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._owed: list[str] = []  # tables of PostgreSQL; the first one is tried next
        self.rewriting: Any = None
        """The connection that rewrites SQLite's file just now."""

    async def owe(self, connection: AsyncConnection) -> None:
        """Have the files rewritten by the next `scrub`; SQLite's also by that of a later process."""
        if self._is_sqlite:
            await connection.exec_driver_sql(f"PRAGMA user_version = {OWED}")
        else:
            self._owed = list(Base.metadata.tables)

    async def scrub(self, quiet: float) -> bool:
        """Rewrite what is owed; tell whether nothing is owed any more."""
        return await (self._vacuum(quiet) if self._is_sqlite else self._vacuum_tables())

    async def give_up(self) -> None:
        """Give up rewriting SQLite's file: somebody waits."""
        while self.rewriting is not None:  # a statement that has not begun yet is not interrupted
            await self.rewriting.interrupt()
            await asyncio.sleep(0.01)

    async def empty_log(self) -> bool:
        """Let nothing that was removed stand in SQLite's log; where readers hold it, it is owed."""
        for again in range(TRIES):
            if again:
                await asyncio.sleep(MOMENT_MS / 1000)
            async with self._writing, self._engine.connect() as connection:
                if await _is_emptied(connection):
                    await _owe(connection, LOG_OWED, 0)
                    return True
        async with self._writing, self._engine.connect() as connection:
            await _owe(connection, 0, LOG_OWED)
        return False

    async def _vacuum(self, quiet: float) -> bool:
        async with self._read() as connection:
            owed = (await connection.exec_driver_sql("PRAGMA user_version")).scalar()
            pages = (await connection.exec_driver_sql("PRAGMA page_count")).scalar_one()
        if not owed:
            return True
        if owed == OWED:
            if pages > SMALL_PAGES and time.monotonic() - self._written() < quiet:
                return False
            if not await self._rewrite():
                return False
        return await self.empty_log()

    async def _rewrite(self) -> bool:
        async with self._writing, self._engine.connect() as connection:
            self.rewriting = (await connection.get_raw_connection()).driver_connection
            try:
                if self._waiting():
                    return False
                await connection.exec_driver_sql("VACUUM")
            except OperationalError as error:
                if "interrupted" not in str(error):
                    raise
                return False
            finally:
                self.rewriting = None
            await _owe(connection, OWED, LOG_OWED)
        return True

    async def _vacuum_tables(self) -> bool:
        """Rewrite PostgreSQL's tables one by one, and let writers in between; end at one that is read."""
        engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        while True:
            async with self._writing, engine.connect() as connection:
                if not self._owed:
                    return True
                name = self._owed.pop(0)
                try:
                    await connection.exec_driver_sql(f"SET lock_timeout = '{LOCK_SECONDS}s'")
                    await connection.exec_driver_sql(f"VACUUM FULL {name}")
                except BaseException as error:  # also one that is cancelled leaves the table as it was
                    self._owed.append(name)
                    if getattr(getattr(error, "orig", None), "sqlstate", "") != _LOCKED:
                        raise
                    return False
                finally:
                    await connection.invalidate()  # others wait for locks as long as they did


async def _is_emptied(connection: AsyncConnection) -> bool:
    """Empty SQLite's log; False where readers hold it for more than a moment."""
    patience = (await connection.exec_driver_sql("PRAGMA busy_timeout")).scalar_one()
    await connection.exec_driver_sql(f"PRAGMA busy_timeout = {MOMENT_MS}")
    try:
        return not (await connection.exec_driver_sql(EMPTY_LOG)).scalar()
    finally:
        await connection.exec_driver_sql(f"PRAGMA busy_timeout = {patience}")


async def _owe(connection: AsyncConnection, before: int, owed: int) -> None:
    """Write down what is owed, if it is still what it was before."""
    if (await connection.exec_driver_sql("PRAGMA user_version")).scalar() == before:
        await connection.exec_driver_sql(f"PRAGMA user_version = {owed}")
