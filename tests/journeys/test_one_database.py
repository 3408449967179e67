"""Two homes on one database: one process has it, the others are told which and end."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from core.errors import DatabaseBusy, StorageError
from storage.database.database import Database
from storage.database.hold import Holder, ServerHold, address_of
from storage.serving.about import SqlAbout
from tests.databases import DATABASES, postgres_schema
from tests.journeys.child import run, serving
from tests.journeys.house import Kettle
from tests.journeys.stage import until
from tests.patience import PATIENCE

PORT = "Which port does the dashboard listen on?"


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a database that lies in nobody's home."""
    if request.param == "sqlite":
        (tmp_path / "shared").mkdir()
        yield f"sqlite:///{tmp_path / 'shared' / 'threadlore.sqlite3'}"
        return
    with postgres_schema() as within:
        yield within


@pytest.fixture
def postgres() -> Iterator[str]:
    with postgres_schema() as within:
        yield within


def homes(kettle: Kettle, tmp_path: Path) -> tuple[Kettle, Kettle]:
    """Return two homes in which nothing is indexed, with the same key and embedder."""
    for name in ("threadlore.sqlite3", "threadlore.sqlite3-wal", "threadlore.sqlite3-shm"):
        (kettle.home / name).unlink(missing_ok=True)
    return kettle, kettle.copy(tmp_path / "other")


def execute(url: str, statement: str) -> list[tuple[object, ...]]:
    """Carry out a statement beside the bot."""
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def cut(url: str, name: str) -> int:
    """End the connections of that name; return how many there were."""
    found = execute(
        url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'"
    )
    return len(found)


async def test_a_second_home_on_a_database_that_is_served_is_refused(
    kettle: Kettle, tmp_path: Path, url: str
) -> None:
    first, second = homes(kettle, tmp_path)
    given = {"DATABASE_URL": url, "THREADLORE_PLAYGROUND": "true", "THREADLORE_PORT": "0"}
    async with serving(first, **given) as child:
        own = await run(first, "status", "--json", **given)
        assert own.code == 0 and json.loads(own.out), "its own commands go over the socket"
        for command in (("serve",), ("ask", PORT)):
            told = await run(second, *command, **given)
            assert told.code == 1 and not told.out, (command, told)
            for word in (str(child.process.pid), socket.gethostname(), str(first.home), "threadlore serve"):
                assert word in told.err, (command, told)
            [sentence] = [line for line in told.err.splitlines() if line.startswith("threadlore:")]
            assert "DATABASE_URL" in sentence
        await child.kill()
    async with serving(second, **given) as child:
        assert (await run(second, "status", **given)).code == 0, "who was killed is in nobody's way"
        assert await child.stop() == 0
    assert (await run(first, "status", **given)).code == 0


async def test_who_has_the_database_is_written_down(tmp_path: Path, url: str) -> None:
    database = await Database.open(tmp_path, url, "index")
    written = json.loads(await SqlAbout(database).told("holder"))
    assert written["pid"] == os.getpid() and written["what"] == "index" and written["home"] == str(tmp_path)
    waiting = asyncio.create_task(Database.open(tmp_path / "other", url, "ask"))
    await asyncio.sleep(0.5)
    assert not waiting.done(), "a command waits for another one"
    await database.close()
    await (await waiting).close()


async def test_two_schemas_of_one_server_are_two_databases(tmp_path: Path, postgres: str) -> None:
    with postgres_schema() as other:
        first = await Database.open(tmp_path / "a", postgres, "serve")
        second = await Database.open(tmp_path / "b", other, "serve")
        with pytest.raises(DatabaseBusy):
            await Database.open(tmp_path / "c", other, "serve")
        await first.close()
        await second.close()


async def test_a_lock_whose_connection_was_cut_is_taken_again(
    tmp_path: Path, postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    lost: list[bool] = []
    database = await Database.open(tmp_path, postgres, "serve", lambda: lost.append(True))
    hold = database._hold
    assert isinstance(hold, ServerHold)
    hold._check = 0.05
    me = hold._me.name
    assert cut(postgres, me) == 1
    await until(lambda: "is held again" in caplog.text)
    with pytest.raises(DatabaseBusy, match=str(os.getpid())):
        await Database.open(tmp_path / "other", postgres, "serve")
    assert not lost and await SqlAbout(database).told("holder")
    await database.close()


async def test_a_lock_that_is_free_the_next_moment_is_nobody_elses(tmp_path: Path, postgres: str) -> None:
    """The server ended the old connection between the try to take the lock and the look at who has it."""

    class Racing(ServerHold):
        tries = 0

        async def _taken(self) -> bool:
            self.tries += 1
            if self.tries > 1:
                return await super()._taken()
            self._connection = await self._engine.connect()
            return False

    hold = Racing(address_of(tmp_path, postgres), Holder.this(tmp_path, "serve"), print, 0.01)
    assert await hold._retake() == "" and hold.tries == 2
    await hold.release()


async def test_a_lock_whose_holder_the_server_does_not_name_is_somebody_elses(
    tmp_path: Path, postgres: str
) -> None:
    """The holder has another role: whoever may not read all statistics sees nothing of it."""

    class Hidden(ServerHold):
        async def _taken(self) -> bool:
            self._connection = await self._engine.connect()
            return False

    hold = Hidden(address_of(tmp_path, postgres), Holder.this(tmp_path, "serve"), print, 0.01)
    async with asyncio.timeout(PATIENCE):
        assert await hold._retake() == "another process"
    await hold.release()


async def test_who_lost_the_database_to_another_writes_nothing_more(tmp_path: Path, postgres: str) -> None:
    lost: list[bool] = []
    first = await Database.open(tmp_path / "first", postgres, "serve", lambda: lost.append(True))
    hold = first._hold
    assert isinstance(hold, ServerHold)
    cut(postgres, hold._me.name)  # it looks only every five seconds, and the other one is quicker
    second = await Database.open(tmp_path / "second", postgres, "ask")
    await until(lambda: lost)
    for use in (SqlAbout(first).told("holder"), SqlAbout(first).tell("holder", "x")):
        with pytest.raises(StorageError, match=r"second, since .*took it"):
            await use
    assert Holder.read(await SqlAbout(second).told("holder")) is not None
    await second.close()
    await first.close()


async def test_a_bot_that_lost_its_database_ends_and_says_to_whom(
    kettle: Kettle, tmp_path: Path, postgres: str
) -> None:
    first, second = homes(kettle, tmp_path)
    given = {"DATABASE_URL": postgres, "THREADLORE_PLAYGROUND": "true", "THREADLORE_PORT": "0"}
    async with serving(first, **given) as child:
        [[name]] = execute(
            postgres,
            "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'threadlore serve %' "
            f"AND application_name LIKE '% {child.process.pid}@%'",
        )
        assert cut(postgres, str(name)) == 1
        database = await Database.open(second.home, postgres, "index")
        assert await asyncio.wait_for(child.process.wait(), PATIENCE) == 1
        assert str(second.home) in child.log and "Traceback" not in child.log, child.log
        await database.close()
