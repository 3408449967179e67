"""Who may use a connection to the database: in the order in which they come, and whoever has a turn at once.

The pool of SQLAlchemy gives a connection that comes free to whoever asks just then, so that under load those
who wait get none for long; and whoever holds up all others would wait behind them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree

from core.errors import StorageError
from storage.database.sqlite_file import DATABASE, storage_error

TROUBLE = (DBAPIError, OSError, NoneFree)
"""What a statement fails with; the last is that no connection was free for long."""
CONNECTIONS = 12
"""Connections that are used at once; the pool has 15, the others are for who has a turn."""
PATIENCE_SECONDS = 30.0

_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)


class Places:
    """Lets so many use a connection at once."""

    def __init__(self, connections: int = CONNECTIONS, patience: float = PATIENCE_SECONDS) -> None:
        self._free = asyncio.Semaphore(connections)
        self._patience = patience

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a connection; raises NoneFree after a while."""
        if _has_turn.get():
            yield
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._free.acquire()
        except TimeoutError:
            raise NoneFree(f"no connection was free within {self._patience:g} s") from None
        try:
            yield
        finally:
            self._free.release()


@asynccontextmanager
async def having_turn() -> AsyncIterator[None]:
    """Wait for no connection: others wait for this."""
    token = _has_turn.set(True)
    try:
        yield
    finally:
        _has_turn.reset(token)


def failure(error: Exception) -> StorageError:
    """Word what a statement failed with."""
    down = isinstance(error, OperationalError | NoneFree) or getattr(error, "connection_invalidated", False)
    return storage_error(error, DATABASE, "; check DATABASE_URL and the disk." if down else ".", down)
