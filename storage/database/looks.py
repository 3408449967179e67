"""Short looks into a SQLite file: what a question reads, in one thread from the beginning to the end.

The asynchronous driver hands each step of a statement to its thread and waits for it, six times a statement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, create_engine, event

from storage.database.sqlite_file import prepare

T = TypeVar("T")
READERS = 2
AT_ONCE = 500
"""Values in one IN list; below SQLite's and PostgreSQL's limits on parameters."""


class Looks:
    """Connections for reading, each used by one thread at a time."""

    def __init__(self, file: Path) -> None:
        self._engine = create_engine(URL.create("sqlite", database=str(file)))
        event.listen(self._engine, "connect", prepare)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="look")

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads; it ends also where nobody waits for it any more."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, work)

    def close(self) -> None:
        """Let go of the file; blocking."""
        self._threads.shutdown(wait=True)
        self._engine.dispose()

    def _run(self, work: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection:
            return work(connection)


def read(connection: Connection, sql: str, keys: Sequence[str], *more: str) -> Sequence[Any]:
    """Return the rows of a statement whose first `{}` takes the keys, the others one value each.

    SQL as it is takes a third of the time of a statement that is built.
    """
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    statement = sql.format(", ".join([mark] * len(keys)), *[mark] * len(more))
    return connection.exec_driver_sql(statement, (*keys, *more)).all()


def slices(values: Sequence[T], size: int = AT_ONCE) -> list[Sequence[T]]:
    """Cut values into lists short enough for one statement."""
    return [values[start : start + size] for start in range(0, len(values), size)]
