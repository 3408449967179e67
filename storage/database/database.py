"""The database: SQLite with a write-ahead log in the home folder, or PostgreSQL by its URL."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, delete, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from core.domain import Vector
from core.errors import StorageError, StorageUnavailable
from core.ports.about import HOLDER
from storage.database import changes
from storage.database.hold import SERVE, Hold, Holder, address_of, file_of, hold_of
from storage.database.member import Member
from storage.database.places import TROUBLE, Places, failure, having_turn
from storage.database.schema import migrate
from storage.database.sqlite_file import QUIET_SECONDS, Peek, WholeConnection, begin, check, connect, prepare
from storage.database.unused_room import UnusedRoom
from storage.tables import AboutRow, Base, VectorRow

T = TypeVar("T")


class Database:
    """Connections to the database: readers side by side, one writer at a time."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.lost = ""
        """Says who took the database meanwhile, where somebody did: then nothing is read or written."""
        self._hold: Hold | Member | None = None
        self._engine = engine
        self._looks: Peek | None = None
        self._writer = engine.execution_options(writes=True)
        self._adding: dict[type[Base], Any] = {}
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._connection = WholeConnection if self._is_sqlite else AsyncConnection
        self._writing = asyncio.Lock()
        self._places = Places()
        self._written = -math.inf
        self._waiting = 0
        self.problem = ""
        """Why the last write failed; empty since one succeeded."""
        self.member: Member | None = None  # this process among those of a cluster, where there is one

    @classmethod
    async def open(
        cls,
        home: Path,
        url: str = "",
        what: str = "",
        lost: Callable[[], object] = lambda: None,
        shared: bool = False,
    ) -> Database:
        """Connect and bring the schema up to date; for `what`, such as "serve", no other process may have it.

        A `shared` one is for any number of processes that say so, too. `lost` is called where another process
        took it while the connection was down, or took this one for dead. Raises
        ConfigurationError for a bad URL, DatabaseBusy where somebody has it, StorageError where no database
        answers, and HomeTooNew where a newer version wrote it.
        """
        address, me = address_of(home, url), Holder.this(home, what)

        def lose(why: str) -> None:
            database.lost = why
            lost()

        member = Member(address, me, lose) if shared and what else None
        named = {"application_name": member.name} if member else {}
        engine = create_async_engine(address, connect_args=named)
        if address.get_backend_name() == "sqlite":
            event.listen(engine.sync_engine, "do_connect", connect)
            event.listen(engine.sync_engine, "connect", prepare)
            event.listen(engine.sync_engine, "begin", begin)
        database = cls(engine)
        try:
            if what:
                await database._take(member or hold_of(address, me, lose))
            if file := file_of(address):
                await asyncio.to_thread(check, file, thorough=what == SERVE)
            await database._bring_up_to_date(member, me)
            database._looks = Peek(file) if file else None
        except BaseException:  # also one that is cancelled lets go of its connections
            await database.close()
            raise
        if database._hold is not None:
            database._hold.watch()
        if member:
            database.member = member
            event.listen(engine.sync_engine, "before_execute", changes.note)
        return database

    async def _bring_up_to_date(self, member: Member | None, me: Holder) -> None:
        """Migrate the schema, and write down who has the database."""
        async with self.write() as connection:
            if member:  # one after the other
                await connection.execute(changes.MIGRATING)
            await connection.run_sync(migrate)
            if member:
                await changes.join(connection, member)
            elif self._hold is not None:
                await connection.execute(delete(AboutRow).where(AboutRow.name == HOLDER))
                await self.add(connection, AboutRow, name=HOLDER, value=me.written)

    async def _take(self, hold: Hold | Member | None) -> None:
        self._hold = hold
        try:
            if hold is not None:
                await hold.take()
        except TROUBLE as error:
            raise failure(error) from error

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection for reading: each statement sees what was committed before it."""
        self._check_hold()
        try:
            async with self._places.one(), self._connection(self._engine) as connection:
                yield connection
        except TROUBLE as error:
            raise failure(error) from error

    async def look(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads on one connection; it only reads."""
        self._check_hold()
        try:
            if self._looks is not None:
                return await self._looks.run(work)
            async with self._places.one(), self._connection(self._engine) as connection:
                return await connection.run_sync(work)
        except TROUBLE as error:
            raise failure(error) from error

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction for writing, committed at the end; writers wait for each other."""
        self._check_hold()
        self._waiting += 1
        try:
            await self._make_way()
            await self._writing.acquire()
        finally:
            self._waiting -= 1
        try:
            async with self._connection(self._writer) as connection, connection.begin():
                if self.member and not await changes.counts(connection, self.member):
                    self.lost = self.lost or "The others of the cluster took this process for dead."
                    self._check_hold()
                yield connection
                if self.member:
                    await changes.publish(connection, self.member)
            self.problem = ""
        except TROUBLE as error:
            known = failure(error)
            self.problem = str(known) if isinstance(known, StorageUnavailable) else self.problem
            raise known from error
        finally:
            self._written = time.monotonic()
            self._writing.release()

    def tell(self, connection: AsyncConnection, topic: str, keys: Iterable[str]) -> None:
        """Have the other processes of a cluster, if there are any, hear of a change with its transaction."""
        if self.member is not None:
            changes.tell(connection, topic, keys)

    @asynccontextmanager
    async def turn(self, what: str) -> AsyncIterator[None]:
        """Let one process of a cluster at a time do something."""
        engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        try:
            async with engine.connect() as connection:
                try:
                    await connection.execute(changes.TURN, {"what": what})
                    async with having_turn():
                        yield
                    await connection.execute(changes.TURN_OVER, {"what": what})
                except BaseException:  # also a cancelled one lets others have their turn
                    await connection.invalidate()
                    raise
        except TROUBLE as error:
            raise failure(error) from error

    def insert(self, table: type[Base]) -> Any:
        """Begin an INSERT that can say what happens on conflict."""
        dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        return dialect.insert(table)

    async def add(self, connection: AsyncConnection, table: type[Base], **values: Any) -> bool:
        """Insert a row unless its key is taken; tell whether it was free."""
        row = self._adding.get(table)
        if row is None:  # a statement of its own for each row would be put together and looked up each time
            whole: Any = table.__table__
            row = self.insert(whole).on_conflict_do_nothing().returning(*whole.primary_key)
            self._adding[table] = row
        return (await connection.execute(row, values)).first() is not None

    async def keep_vectors(
        self,
        connection: AsyncConnection,
        encoder: str,
        vectors: Mapping[str, Vector],
        tokens: Mapping[str, bytes] | None = None,
    ) -> None:
        """Keep vectors by an encoder under the hashes of their texts, and what is given of their tokens."""
        rows: list[dict[str, Any]] = [
            {"encoder": encoder, "text_hash": key, "vector": vector.astype(np.float32).tobytes()}
            for key, vector in sorted(vectors.items())  # two processes would wait for each other's rows
        ]
        insert = self.insert(VectorRow)
        kept = insert.on_conflict_do_nothing()
        if tokens:
            rows = [row | {"tokens": tokens.get(row["text_hash"])} for row in rows]
            same = ["encoder", "text_hash"]
            kept = insert.on_conflict_do_update(index_elements=same, set_={"tokens": insert.excluded.tokens})
        await connection.execute(kept, rows)

    @cached_property
    def _room(self) -> UnusedRoom:
        return UnusedRoom(
            self._engine, self.read, self._writing, lambda: self._waiting, lambda: self._written
        )

    async def _make_way(self) -> None:
        """Give up rewriting the files: somebody waits."""
        if "_room" in vars(self):  # nothing is rewritten before it is made
            await self._room.give_up()

    async def owe_scrub(self, connection: AsyncConnection) -> None:
        """Have the files rewritten by the next `scrub`; SQLite's also by that of a later process."""
        await self._room.owe(connection)

    async def scrub(self, quiet: float = QUIET_SECONDS) -> bool:
        """Rewrite the files where that is owed; tells whether nothing of what was removed is left in them.

        On SQLite a writer that comes meanwhile goes first, and a file that is not small waits until nobody
        has written for `quiet` seconds. Where that is so, or readers do not let go of a table or of SQLite's
        log, the rest stays owed. Raises StorageError.
        """
        try:
            return await self._room.scrub(quiet)
        except TROUBLE as error:
            raise failure(error) from error

    async def checkpoint(self) -> None:
        """Let nothing that was removed stand in SQLite's write-ahead log; later, where readers hold it."""
        if self._is_sqlite:
            try:
                await self._room.empty_log()
            except TROUBLE as error:
                raise failure(error) from error

    async def close(self) -> None:
        """Close every connection, and let others have the database."""
        await self._make_way()
        if self._looks is not None:
            await asyncio.to_thread(self._looks.close)
        await self._engine.dispose()
        if self._hold is not None:
            await self._hold.release()

    def _check_hold(self) -> None:
        if self.lost:  # of a cluster another process does what is not acknowledged
            raise StorageUnavailable(self.lost) if self.member else StorageError(self.lost)


class Store:
    """Base of the ports on SQL: reads by one statement, and changes by several in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _rows(self, statement: Any) -> Sequence[Any]:
        """Return all rows of a statement."""
        return await self._database.look(lambda connection: connection.execute(statement).all())

    async def _row(self, statement: Any) -> Any:
        """Return the first row of a statement, None for none."""
        return await self._database.look(lambda connection: connection.execute(statement).first())

    async def _values(self, statement: Any) -> Sequence[Any]:
        """Return the first column of a statement's rows."""
        return [row[0] for row in await self._rows(statement)]

    async def _value(self, statement: Any) -> Any:
        """Return the first column of a statement's first row, None for none."""
        row = await self._row(statement)
        return row[0] if row else None

    async def _change(self, *statements: Any) -> int:
        """Carry out statements in one transaction; return how many rows they changed."""
        async with self._database.write() as connection:
            return sum([(await connection.execute(statement)).rowcount for statement in statements])

    async def _replace(self, table: type[Base], same: Sequence[Any], values: Mapping[str, Any]) -> None:
        """Keep a row in place of those that `same` finds, in one transaction; without values none."""
        async with self._database.write() as connection:
            await connection.execute(delete(table).where(*same))
            if values:
                await self._database.add(connection, table, **values)
