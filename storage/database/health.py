"""Whether something can be written down now."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import delete

from core.errors import StorageError
from storage.database.database import Database
from storage.tables import EventRow

PROBE = "probe"
"""An event that is written and removed again to see whether writing works."""
LEAST_BYTES = 4_000_000
"""Free bytes of the home's disk below which nothing is sure to be kept: a page of every table and the log."""


class SqlHealth:
    """The `StorageHealth` port on SQL; `free` returns the free bytes of the disk that holds the home."""

    def __init__(self, database: Database, free: Callable[[], int]) -> None:
        self._database = database
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
            async with self._database.write() as connection:
                await connection.execute(delete(EventRow).where(EventRow.event == PROBE))
        except StorageError as error:
            return str(error)
        return self.problem()
