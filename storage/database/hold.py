"""One process at a time has a database, whatever its home; the others are told which.

Each home has its own indexes, schedule and list of who opted out, so two of them on one database would work
against each other. On PostgreSQL a lock says who has it, which ends with the connection that took it; beside
a SQLite file that lies elsewhere than in the home there is a lock file.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from core.errors import ConfigurationError, DatabaseBusy
from core.ports.about import HOLDER
from core.system.private_files import locked, private
from storage.database.sqlite_file import FILE
from storage.tables import AboutRow

log = logging.getLogger(__name__)

LOCK = 0x54484C44
"""First number of the lock in PostgreSQL; the second is of the schema, so that schemas are apart."""
GRACE_SECONDS = 3.0
"""Time in which the connection of a process that was killed just now may end."""
PATIENCE_SECONDS = 60.0
"""How long a command waits for another command, as it does for a home."""
CHECK_SECONDS = 5.0
"""How often the connection that holds the lock is tried."""
SERVE = "serve"
_NAME_BYTES = 63
_ALIVE = (
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
    "SET idle_session_timeout = 0",
)
"""Lets the server notice within a minute that the machine of who holds the lock is gone, and not earlier."""
CONNECTED = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""Lets a statement fail within half a minute where the network drops it, which else takes a quarter of an
hour, and keeps a firewall from dropping what is idle; DATABASE_URL may say otherwise."""
_UTF8 = {"client_encoding": "utf8"}
"""Else texts come as bytes where the server knows no encoding."""
NAMELESS_LOOKS = 3
"""How often in vain a lock is taken for free that shows no holder: the server hides those of other roles."""
SCHEMA = "hashtext(coalesce(current_schema(), ''))"
TAKE = text(f"SELECT pg_try_advisory_lock(:lock, {SCHEMA})")
_BY = text(
    "SELECT a.application_name FROM pg_locks l "  # nosec B608 # made of constants
    "JOIN pg_stat_activity a ON a.pid = l.pid AND a.datid = l.database "
    f"WHERE l.granted AND l.locktype = 'advisory' AND l.classid::bigint = :lock AND l.objsubid = 2 "
    f"AND l.objid::bigint = {SCHEMA}::bigint & 4294967295"
)
_SIGNED = select(AboutRow.value).where(AboutRow.name == HOLDER)
Lost = Callable[[str], None]
"""Told in a sentence that another process took the database."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a database: `what` is the command, `since` a time of that machine's clock."""

    host: str
    pid: int
    home: str
    what: str
    since: str

    @classmethod
    def this(cls, home: Path, what: str) -> Holder:
        """Return this process."""
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        return cls(socket.gethostname(), os.getpid(), str(home), what, since)

    @classmethod
    def read(cls, written: str | None) -> Holder | None:
        """Return who was written down; None for nobody."""
        try:
            return cls(**json.loads(written or ""))
        except (ValueError, TypeError, RecursionError):
            return None

    @property
    def written(self) -> str:
        """Return it as it is written down."""
        return json.dumps(asdict(self))

    @property
    def name(self) -> str:
        """Return how the connection that holds the lock is called in the database's own lists."""
        named = f"threadlore {self.what} {self.pid}@{self.host}"
        return named.encode("ascii", "replace")[:_NAME_BYTES].decode()

    @property
    def text(self) -> str:
        """Say who it is."""
        given = f"`threadlore {self.what}`, home {self.home}, since {self.since}"
        return f"process {self.pid} on {self.host} ({given})"


class ServerHold:
    """The lock on a PostgreSQL database, on a connection of its own that is watched and made again.

    `lost` is told where another process took the database while the connection was down.
    """

    def __init__(self, address: URL, me: Holder, lost: Lost, check: float = CHECK_SECONDS) -> None:
        self._me = me
        self._lost = lost
        self._check = check
        self._engine = create_async_engine(
            address,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            connect_args={"application_name": me.name, "connect_timeout": 10},
        )
        self._connection: AsyncConnection | None = None
        self._watching: asyncio.Task[None] | None = None

    async def take(self) -> None:
        """Take the database; raises DatabaseBusy that says who has it."""
        began = time.monotonic()
        while not await self._taken():
            named, by = await self._holder()
            patience = GRACE_SECONDS if named.startswith(f"threadlore {SERVE} ") else PATIENCE_SECONDS
            if time.monotonic() - began > patience:
                raise busy(by)
            await asyncio.sleep(0.2)

    def watch(self) -> None:
        """Look from time to time whether the lock is still held."""
        self._watching = asyncio.create_task(self._watch())

    async def release(self) -> None:
        """Let others have the database."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._disconnect()
        await self._engine.dispose()

    async def _taken(self) -> bool:
        if self._connection is None:
            self._connection = await self._engine.connect()
            for setting in _ALIVE:
                with contextlib.suppress(DBAPIError):  # a server that does not know it
                    await self._connection.exec_driver_sql(setting)
        return bool(await self._connection.scalar(TAKE, {"lock": LOCK}))

    async def _signed(self) -> Holder | None:
        assert self._connection is not None
        with contextlib.suppress(DBAPIError):  # the table may not be there yet
            return Holder.read(await self._connection.scalar(_SIGNED))
        return None

    async def _holder(self) -> tuple[str, str]:
        """Return how the connection that holds the lock is called, and who that is in words."""
        assert self._connection is not None
        named = str(await self._connection.scalar(_BY, {"lock": LOCK}) or "")
        known = await self._signed()
        if known is not None and known.name == named:
            return named, known.text
        return named, f"another process ({named})" if named else "another process"

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._check)
            try:
                assert self._connection is not None
                async with asyncio.timeout(2 * CHECK_SECONDS):
                    await self._connection.scalar(text("SELECT 1"))
            except (DBAPIError, OSError, TimeoutError) as error:
                log.warning("the connection that holds the database was lost (%s)", type(error).__name__)
                if by := await self._retake():
                    self._lost(f"While the connection to the database was down, {by} took it.")
                    return
                log.warning("the database is held again")

    async def _retake(self) -> str:
        """Take the lock again as soon as the database answers; return who was there meanwhile, or ""."""
        nameless = 0
        while True:
            await self._disconnect()
            try:
                if await self._taken():
                    signed = await self._signed()
                    return signed.text if signed and signed != self._me else ""
                named, by = await self._holder()
                nameless += not named
                # else the server has not noticed yet that the old one ended, or did so just now
                if named != self._me.name and (named or nameless > NAMELESS_LOOKS):
                    return by
            except (DBAPIError, OSError, TimeoutError) as error:  # nobody can take what does not answer
                log.debug("the database does not answer yet (%s)", type(error).__name__)
            await asyncio.sleep(self._check)

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(DBAPIError, OSError, TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await connection.close()


class FileHold:
    """The lock on a SQLite file that several homes could name."""

    def __init__(self, file: Path, me: Holder) -> None:
        self._path = file.with_name(f"{file.name}.lock")
        self._me = me
        self._file: Any = None

    async def take(self) -> None:
        """Take the database; raises DatabaseBusy that says who has it."""
        file = await asyncio.to_thread(open, self._path, "a+", encoding="utf-8", opener=private)
        began = time.monotonic()
        while not locked(file):
            by = Holder.read(await asyncio.to_thread(self._path.read_text, "utf-8", "replace"))
            if (by and by.what == SERVE) or time.monotonic() - began > PATIENCE_SECONDS:
                file.close()
                raise busy(by.text if by else "another process")
            await asyncio.sleep(0.1)
        file.truncate(0)
        file.write(self._me.written)
        file.flush()
        self._file = file

    def watch(self) -> None:
        """Do nothing: the lock lasts as long as the process."""

    async def release(self) -> None:
        """Let others have the database."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()


Hold = ServerHold | FileHold


def hold_of(address: URL, me: Holder, lost: Lost) -> Hold | None:
    """Return what a process takes before it uses a database; None for one that lies in its own home."""
    if address.get_backend_name() == "postgresql":
        return ServerHold(address, me, lost)
    file = file_of(address)
    return None if file is None or file.parent == Path(me.home) else FileHold(file, me)


def address_of(home: Path, url: str) -> URL:
    """Return where the database is; raises ConfigurationError for a URL that names none."""
    if not url:
        return URL.create("sqlite+aiosqlite", database=str(home / FILE))
    try:
        address = make_url(url)
    except ArgumentError:
        raise ConfigurationError(
            "DATABASE_URL cannot be read; write it as postgresql://user:password@host/name."
        ) from None
    drivers = {
        "postgresql": "postgresql+psycopg",
        "postgres": "postgresql+psycopg",
        "sqlite": "sqlite+aiosqlite",
    }
    backend = address.get_backend_name() if "+" in address.drivername else address.drivername
    if backend not in drivers:
        raise ConfigurationError(
            f"DATABASE_URL names '{backend}'; allowed are postgresql://… and sqlite:///…."
        )
    address = address.set(drivername=drivers[backend])
    return address.set(query=CONNECTED | address.query | _UTF8) if "postgres" in backend else address


def file_of(address: URL) -> Path | None:
    """Return the file of a SQLite database; None where it lies in memory, or on a server."""
    if address.get_backend_name() != "sqlite" or address.database in (None, "", ":memory:"):
        return None
    return Path(str(address.database)).absolute()


def busy(by: str) -> DatabaseBusy:
    """Return what a process is told that may not have the database."""
    return DatabaseBusy(
        f"The database belongs to {by}: it serves one home at a time. Stop that process first, give the "
        f"command with that home, or use another DATABASE_URL."
    )
