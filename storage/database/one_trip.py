"""Connections of SQLite's asynchronous driver that hand a statement to their thread once, not four times.

The driver makes a cursor, carries out, fetches and closes one after the other, and waits for its thread each
time (P-08).
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection, AsyncAdapt_aiosqlite_cursor


class _Done(NamedTuple):
    """What a statement came to, as a cursor tells it."""

    rows: Sequence[Any] = ()
    description: Any = None
    rowcount: int = -1
    lastrowid: int | None = None


_NOTHING = _Done()


class OneTripCursor(AsyncAdapt_aiosqlite_cursor):
    """Carries out a statement, fetches all its rows and closes, in one go."""

    __slots__ = ()
    _awaitable_cursor_close = False

    def _aenter_cursor(self, cursor: Any) -> Any:
        return _NOTHING

    def _make_new_cursor(self, connection: Any) -> Any:
        return None

    def close(self) -> None:
        """Let go of the rows; the cursor itself is closed."""
        self._rows.clear()

    async def _execute_async(self, operation: Any, parameters: Any) -> Any:
        await self._carry_out("execute", operation, parameters or ())

    async def _executemany_async(self, operation: Any, seq_of_parameters: Any) -> Any:
        await self._carry_out("executemany", operation, seq_of_parameters)

    async def _carry_out(self, how: str, operation: Any, parameters: Any) -> None:
        async with self._adapt_connection._execute_mutex:
            driver: Any = self._connection
            done = await driver._execute(_carry_out, driver._conn, how, operation, parameters)
            self._cursor, self._rows = done, deque(done.rows)


def _carry_out(connection: sqlite3.Connection, how: str, operation: Any, parameters: Any) -> _Done:
    cursor = connection.cursor()
    try:
        getattr(cursor, how)(operation, parameters)
        rows = cursor.fetchall() if cursor.description else ()
        return _Done(rows, cursor.description, cursor.rowcount, cursor.lastrowid)
    finally:
        cursor.close()


class OneTripConnection(AsyncAdapt_aiosqlite_connection):
    """A connection of which each statement is one trip to its thread."""

    __slots__ = ()
    _cursor_cls = OneTripCursor


def connect(dialect: Any, _record: object, given: Any, named: Any) -> OneTripConnection:
    """Open a connection for an engine; a listener to its `do_connect`."""
    opened = dialect.loaded_dbapi.connect(*given, **named)
    return OneTripConnection(opened.dbapi, opened.driver_connection)
