"""Statements on SQLite run to their end, also when nobody waits for them any more.

A statement that returns rows and is left halfway keeps its transaction, and so the whole file locked, until
its cursor is collected as garbage. Tasks are cancelled all the time: a question that is deleted while it is
answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")


class WholeConnection(AsyncConnection):
    """A connection whose statements end before a cancellation is felt; then it is rolled back."""

    async def start(self, is_ctxmanager: bool = False) -> AsyncConnection:
        """Take a connection from the pool; whoever stops waiting for it gives it back."""
        try:
            return await _whole(super().start(is_ctxmanager))
        except asyncio.CancelledError:
            if self.sync_connection is not None:
                await _whole(self.close())
            raise

    async def execute(self, *args: Any, **named: Any) -> Any:
        """Carry out a statement and fetch its rows."""
        return await _whole(super().execute(*args, **named))

    async def exec_driver_sql(self, *args: Any, **named: Any) -> Any:
        """Carry out a statement that is written in SQL."""
        return await _whole(super().exec_driver_sql(*args, **named))


async def _whole(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.cancelled() or task.exception()  # looked at, so that nothing is logged
        raise cancelled
    return task.result()
