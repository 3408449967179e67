"""The SQLite file: whether it is one, whole, not a lost one's; its connections; how failures are told."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection, AsyncAdapt_aiosqlite_cursor
from sqlalchemy.ext.asyncio import AsyncConnection

from core.errors import StorageError, StorageUnavailable
from core.system.private_files import private
from core.text.words import one_line

T = TypeVar("T")
FILE = "threadlore.sqlite3"
"""Name of the database in a home."""
BACKUP = "Put the latest backup in its place (docs/running.md, Backups); nothing was changed."
SMALL_BYTES = 64_000_000
"""Size up to which every process reads the whole file first, at 0.1 s; a larger one is read by who serves."""
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
SIGNS = ("vectors", "words", "privacy.key")
"""What stands in a home only after its database was there."""


def damaged(file: Path | str, what: str) -> StorageError:
    """Return what is said of a database that cannot be used."""
    return StorageError(f"The database {file} is damaged: {what}. {BACKUP}")


def check(file: Path, thorough: bool = False, make: bool = True) -> None:
    """See that a file can be used, and `make` it, for this user alone, where there is none; blocking.

    It is read, not written. Raises StorageError that says what is wrong and how to recover.
    """
    try:
        size = 0 if not file.exists() else file.stat().st_size
        if file.is_dir():
            raise damaged(file, "it is a folder")
        if size == 0:
            _begin(file, make)
            return
        with open(file, "rb") as opened:
            wrong = _structure(opened.read(_HEADER_BYTES), size, _is_settled(file))
    except OSError as error:
        raise StorageError(
            f"The database {file} cannot be used ({error.strerror}); give it to the user that runs the bot."
        ) from None
    if not wrong and (thorough or size <= SMALL_BYTES):
        wrong = _contents(file)
    if wrong:
        raise damaged(file, wrong)


def _begin(file: Path, make: bool) -> None:
    """Make an empty database, if that is wanted, unless the home was used: then another one is lost."""
    signs = [name for name in SIGNS if (file.parent / name).exists()]
    if file.name == FILE and signs:
        what = "is empty" if file.exists() else "is missing"
        raise StorageError(
            f"The database {file} {what}, but the home was used: there is {', '.join(signs)}. {BACKUP} "
            f"If it was another one, set DATABASE_URL again; to start over, name an empty folder with --home."
        )
    if make:
        os.close(private(str(file), os.O_RDWR | os.O_CREAT))


def _is_settled(file: Path) -> bool:
    """Return True if nothing waits in the log that SQLite writes ahead: then the file alone must be whole."""
    ahead = file.with_name(f"{file.name}-wal")
    return not (ahead.exists() and ahead.stat().st_size)


def _structure(header: bytes, size: int, settled: bool) -> str:
    """Return what a header says is wrong, or ""."""
    if header[: len(_MAGIC)] != _MAGIC:
        return "it is not a database of SQLite"
    if len(header) < _HEADER_BYTES:
        return "it ends within its first page"
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(header[28:32], "big") if header[24:28] == header[92:96] else 0
    if page < 512 or page & (page - 1):
        return "its pages have no size"
    if settled and (size % page or size < page * pages):
        return f"it ends after {size} bytes of {page * pages}"
    return ""


def _contents(file: Path) -> str:
    """Return what SQLite finds wrong when it reads every page, or ""."""
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=30)
    except sqlite3.Error as error:
        return str(error)
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        # what cannot be opened or is busy is told by who opens it to write
        return "" if isinstance(error, sqlite3.OperationalError) else str(error)
    finally:
        connection.close()
    return "" if found == "ok" else one_line(found.removeprefix("*** in database main ***"))[:200]


LOOKS = 2
"""Short looks at once."""
SMALL_PAGES = 8_000
"""Pages of 4 KiB that SQLite rewrites in about half a second."""
QUIET_SECONDS = 30.0
"""Time without a write after which a larger file is rewritten, for nobody is likely to come just then."""
EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
OWED, LOG_OWED = 1, 2
"""SQLite's `user_version` while pieces of what was removed may lie in room that holds nothing.

`secure_delete` overwrites what is removed where it stands, but not the copies that pages keep of what moved
out of them. Only VACUUM ends those: it writes the whole file. After it the log is to be emptied."""
DATABASE = "The database"
"""What is said of the database, as distinct from an index."""
_DAMAGED = ("database disk image is malformed", "file is not a database")
_READ_ONLY = "readonly database"
_FULL = ("disk is full", "No space left", "disk I/O", "os error 28")


def storage_error(error: Exception, what: str, advice: str = "", away: bool = False) -> StorageError:
    """Word an error of a storage library; `what` names the part that failed.

    A full disk, or a database that is `away`, is a StorageUnavailable: it may work again by itself.
    """
    lines = str(getattr(error, "orig", None) or error).splitlines()
    reason = lines[0] if lines else type(error).__name__
    if what == DATABASE and any(sign in reason for sign in _DAMAGED):
        return damaged("of the home", reason)
    if what == DATABASE and _READ_ONLY in reason:
        return StorageError(
            "The database cannot be written: it may only be read; give its file, and its folder, to "
            "the user that runs the bot."
        )
    if any(sign in str(error) for sign in _FULL):
        return StorageUnavailable(
            f"The disk that holds the home folder is full ({reason}); free some space and run the command "
            f"again. What was there before still serves."
        )
    kind = StorageUnavailable if away else StorageError
    return kind(
        f"{what} fails: {reason.rstrip('.')}{advice or '; check that the disk of the home folder has room.'}"
    )


def prepare(connection: Any, _record: object) -> None:
    """Set a new connection up."""
    connection.isolation_level = None  # the driver begins too late, and never before DDL
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",  # what was acknowledged outlives a power cut, not the process alone
        "foreign_keys=ON",
        "busy_timeout=30000",
        "secure_delete=ON",  # what is removed is overwritten, without rewriting the whole file
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def begin(connection: Connection) -> None:
    """Take the lock of who writes at the beginning of a transaction, where it writes."""
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


class WholeConnection(AsyncConnection):
    """A connection whose statements end before a cancellation is felt; then it is rolled back.

    A statement that returns rows and is left halfway keeps its transaction, and so the whole file locked,
    until its cursor is collected as garbage. Tasks are cancelled all the time: a question that is deleted
    while it is answered.
    """

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


class _Done(NamedTuple):
    """What a statement came to, as a cursor tells it."""

    rows: Sequence[Any] = ()
    description: Any = None
    rowcount: int = -1
    lastrowid: int | None = None
    arraysize: int = 1


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
    """A connection of which each statement is one trip to its thread; the driver makes four."""

    __slots__ = ()
    _cursor_cls = OneTripCursor

    def rollback(self) -> None:
        """Roll back where a transaction is open; the pool wants it of every connection that comes back."""
        if self._connection._connection and self._connection.in_transaction:
            super().rollback()


def connect(dialect: Any, _record: object, given: Any, named: Any) -> OneTripConnection:
    """Open a connection for an engine; a listener to its `do_connect`."""
    opened = dialect.loaded_dbapi.connect(*given, **named)
    return OneTripConnection(opened.dbapi, opened.driver_connection)


class Peek:
    """Connections for short looks: what a question reads, in one thread from the beginning to the end.

    The asynchronous driver hands each of a transaction's statements, and its end, to its thread and waits.
    """

    def __init__(self, file: Path) -> None:
        self._engine = create_engine(URL.create("sqlite", database=str(file)))
        event.listen(self._engine, "connect", prepare)
        self._threads = ThreadPoolExecutor(LOOKS, thread_name_prefix="look")

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads; it ends also where nobody waits for it any more."""
        try:
            looking = asyncio.get_running_loop().run_in_executor(self._threads, self._run, work)
        except RuntimeError as error:  # a question that is still under way when everything is closed
            raise OSError("it is closed") from error
        return await looking

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
