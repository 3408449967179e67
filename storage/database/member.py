"""A process of a cluster on one PostgreSQL: it says that it lives, leads where nobody does, buries the dead.

One thread with one connection does it, so that a busy event loop is not taken for a dead process. Who has not
said for `LEASE_SECONDS` that it lives is taken for dead: its connections are ended, its row is removed, and
others answer what it had open. By its own clock it notices before that (`SURE_SECONDS`), and says nothing in
answers until the database tells it that it still counts. Where it does not, the process ends.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sqlalchemy import URL, Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from core.errors import StorageUnavailable
from core.ports.cluster import GONE
from storage.database.hold import (
    GRACE_SECONDS,
    LOCK,
    PATIENCE_SECONDS,
    SCHEMA,
    SERVE,
    TAKE,
    Holder,
    Lost,
    busy,
)

log = logging.getLogger(__name__)

LEASE_SECONDS = 12.0
"""Time without a sign of life after which a process is taken for dead."""
SURE_SECONDS = 8.0
"""Time after its last sign of life for which a process knows that nobody has taken it for dead."""
BEAT_SECONDS = 2.0
LISTEN_SECONDS = 0.5
"""How long it waits for a notification before it looks whether there is something else to do."""
KEPT_SECONDS = 3600.0
"""How long changes are kept for others to hear of; what was forgotten is kept for who is away for longer."""
CHANNEL = "threadlore"
LEADER = LOCK + 1
NOW = "extract(epoch FROM clock_timestamp())"
_SHARE = text(f"SELECT pg_try_advisory_lock_shared(:lock, {SCHEMA})")
_BEAT = text("UPDATE members SET seen = extract(epoch FROM clock_timestamp()) WHERE id = :id")
_DEAD = text("SELECT id, name FROM members WHERE seen < extract(epoch FROM clock_timestamp()) - :lease")
_END = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :name "
    "AND datname = current_database() AND pid <> pg_backend_pid()"
)
_BURY = text("DELETE FROM members WHERE id = :id AND seen < extract(epoch FROM clock_timestamp()) - :lease")
_LEAVE = text("DELETE FROM members WHERE id = :id")
_LEFT = text(
    "SELECT 1 FROM claims c WHERE c.answer_id IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM members m WHERE m.id = c.holder) LIMIT 1"
)
_FORGET = text(
    "DELETE FROM changes WHERE at < extract(epoch FROM clock_timestamp()) - :kept AND topic <> :gone"
)
_ALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 6000,
}
"""Lets a connection fail within some seconds where the network lets nothing through."""


class Member:
    """This process among those of a cluster; `id` names it, and `name` every connection that it has."""

    def __init__(self, address: URL, me: Holder, lost: Lost) -> None:
        self.id = uuid.uuid4().hex[:12]
        self.name = f"{me.name[:50].rstrip()} {self.id}"
        self._serves = me.what == SERVE
        self._lost = lost
        self._why = ""
        self._until = self._steady_since = -math.inf
        self._leads = False
        self._ended = threading.Event()
        self._heard: Callable[[bool], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._engine = create_engine(
            address,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            connect_args={"application_name": self.name, **_ALIVE},
        )
        self._connection: Connection | None = None
        self._errors: tuple[type[Exception], ...] = (DBAPIError, OSError)
        self._forgot_at = 0.0

    # --- what the event loop asks -----------------------------------------------------------------

    @property
    def is_sure(self) -> bool:
        """Return True if nobody can have taken this process for dead."""
        return not self._why and time.monotonic() < self._until

    @property
    def leads(self) -> bool:
        """Return True if it is the one that leads."""
        return self._leads and self.is_sure

    async def sure(self) -> None:
        """Return once nobody can have taken this process for dead; else raises StorageUnavailable."""
        while not self.is_sure:
            if self._why:
                raise StorageUnavailable(self._why)
            await asyncio.sleep(0.1)

    def listen(self, heard: Callable[[bool], None]) -> None:
        """Call `heard` in this loop whenever there may be news, told whether something was left open."""
        self._loop, self._heard = asyncio.get_running_loop(), heard

    async def take(self) -> None:
        """Share the database with others of the cluster; raises DatabaseBusy where somebody has it alone."""
        began = time.monotonic()
        while not await asyncio.to_thread(self._shared):
            if time.monotonic() - began > (GRACE_SECONDS if self._serves else PATIENCE_SECONDS):
                raise busy("a process that does not share it (CLUSTER is not set there)")
            await asyncio.sleep(0.2)

    def watch(self) -> None:
        """Begin to say that this process lives; its row is there."""
        self._until, self._steady_since = time.monotonic() + SURE_SECONDS, time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)
        self._thread.start()

    async def release(self) -> None:
        """Leave the cluster: what is open is left to the others at once."""
        self._ended.set()
        self._why = self._why or "This process leaves the cluster: another one answers."
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._leave)

    # --- the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                if self._connection is None and not self._shared():
                    self._lose("While the connection to the database was down, another process took it.")
                    return
                if not self._beat():
                    self._lose("The others took this process for dead, as nothing was heard of it for long.")
                    return
                self._attend()
            except self._errors as error:
                log.warning("the connection to the cluster was lost (%s)", type(error).__name__)
                self._leads = False
                self._disconnect()
                self._ended.wait(1.0)

    def _beat(self) -> bool:
        began = time.monotonic()
        assert self._connection is not None
        if not self._connection.execute(_BEAT, {"id": self.id}).rowcount:
            return False
        if began > self._until:
            self._steady_since = began
        self._until = began + SURE_SECONDS
        return True

    def _attend(self) -> None:
        """Do what is to be done between two signs of life, and listen for news meanwhile."""
        assert self._connection is not None
        if self._serves:
            if not self._leads and self._connection.scalar(TAKE, {"lock": LEADER}):
                self._leads = True
                log.info("this process leads the cluster")
            if time.monotonic() - self._steady_since > LEASE_SECONDS:  # else all were cut off, not the others
                self._bury()
            if self._leads and time.monotonic() - self._forgot_at > KEPT_SECONDS / 6:
                self._forgot_at = time.monotonic()
                self._connection.execute(_FORGET, {"kept": KEPT_SECONDS, "gone": GONE})
        driver: Any = self._connection.connection.driver_connection
        until = time.monotonic() + BEAT_SECONDS
        while time.monotonic() < until and not self._ended.is_set():
            self._ring(self._serves and bool(self._connection.scalar(_LEFT)))
            for _ in driver.notifies(timeout=LISTEN_SECONDS, stop_after=1):
                self._ring(False)

    def _bury(self) -> None:
        """Take those for dead of whom nothing was heard: end their connections, then forget them."""
        assert self._connection is not None
        for dead in self._connection.execute(_DEAD, {"lease": LEASE_SECONDS}).all():
            self._connection.execute(_END, {"name": dead.name})
            if self._connection.execute(_BURY, {"id": dead.id, "lease": LEASE_SECONDS}).rowcount:
                log.warning(
                    "nothing was heard of %s for %g s: it is taken for dead", dead.name, LEASE_SECONDS
                )

    def _ring(self, left: bool) -> None:
        if self._heard is not None and self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._heard, left)

    def _lose(self, why: str) -> None:
        self._why = why
        self._leads = False
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._lost, why)

    def _shared(self) -> bool:
        if self._connection is None:
            self._connection = self._engine.connect()
            driver_error = self._engine.dialect.loaded_dbapi.Error
            self._errors = (DBAPIError, OSError, driver_error)
            with suppress(DBAPIError):  # a server that does not know it
                self._connection.exec_driver_sql("SET idle_session_timeout = 0")
            self._connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        return bool(self._connection.scalar(_SHARE, {"lock": LOCK}))

    def _leave(self) -> None:
        with suppress(*self._errors):
            if self._connection is not None and self._thread is not None:
                self._connection.execute(_LEAVE, {"id": self.id})
        self._disconnect()
        self._engine.dispose()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(*self._errors):
                connection.close()
