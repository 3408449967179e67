"""The schema and its history, a database that cannot be used, and a full disk."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, Connection, column, create_engine, inspect, make_url, table, text
from sqlalchemy.exc import OperationalError

from core.domain import Answer, Question, Vote
from core.errors import ConfigurationError, HomeTooNew, StorageError
from core.ports import Claim
from storage.corpora import corpora
from storage.corpora.corpora import SqlCorpora
from storage.database.database import Database
from storage.database.schema import check_server, migrations, newest
from storage.database.sqlite_file import read
from storage.memory.memories import SqlMemories
from storage.memory.upkeep import SqlUpkeep
from storage.people.forgetting import topics_of
from storage.serving.conversations import SqlConversations
from storage.serving.statistics import SqlStatistics
from storage.tables import Base
from storage.tables.columns import slices
from tests.contracts.samples import document, keep, pair
from tests.databases import as_of, postgres_schema
from tests.patience import PATIENCE, SOON


def differences(connection: Connection) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    found: list[Any] = compare_metadata(context, Base.metadata)
    return found


def tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


async def test_migrations_lead_from_nothing_to_the_models(url: str, tmp_path: Path) -> None:
    database = await Database.open(tmp_path, url)
    async with database.read() as connection:
        assert await connection.run_sync(differences) == []
        assert await connection.run_sync(tables) == {*Base.metadata.tables, "alembic_version"}
    await database.close()
    again = await Database.open(tmp_path, url)
    await again.close()


async def test_a_migration_that_breaks_off_leaves_nothing_behind(url: str, tmp_path: Path) -> None:
    database = await Database.open(tmp_path, url)
    async with database.write() as connection:
        for name in [*Base.metadata.tables, "alembic_version"]:
            await connection.execute(text(f"DROP TABLE {name} {'CASCADE' if 'postgres' in url else ''}"))
        await connection.execute(text("CREATE TABLE votes (number INTEGER)"))  # in the migration's way
    await database.close()
    with pytest.raises(StorageError, match="votes"):
        await Database.open(tmp_path, url)

    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as plain:
        assert tables(plain) == {"votes"}
        plain.execute(text("DROP TABLE votes"))
    engine.dispose()
    await (await Database.open(tmp_path, url)).close()


async def test_a_database_of_a_newer_version_is_told_and_left_alone(url: str, tmp_path: Path) -> None:
    database = await Database.open(tmp_path, url)
    await keep(SqlMemories(database), pair())
    async with database.write() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await database.close()
    with pytest.raises(HomeTooNew, match=r"newer version of Threadlore.*install that version"):
        await Database.open(tmp_path, url)
    with pytest.raises(HomeTooNew):
        await Database.open(tmp_path, url)


async def test_a_home_of_the_second_version_keeps_what_it_knows(url: str, tmp_path: Path) -> None:
    database = await Database.open(tmp_path, url)
    memories = SqlMemories(database)
    both = pair("p2", release="1.0+2.0", stale=True)
    for made, channel in ((pair("p1", stale=True), "slack:C1"), (both, ""), (pair("p3", channel="x"), "")):
        answer = Answer(f"a{made.id[1:]}", "x", "quote", made.release, pair_id=made.id)
        await memories.save_answer(answer, Question("x", "u", channel), made)
    await memories.vote(Vote("a1", "u", 1), 2.0)

    async with database.write() as connection:
        await connection.run_sync(as_of, "0002")
    await database.close()
    database = await Database.open(tmp_path, url)
    memories = SqlMemories(database)
    found = await memories.pairs(["p1", "p2", "p3"])
    assert [found[key].channel for key in ("p1", "p2", "p3")] == ["slack:C1", "", ""]
    assert found["p1"].opinions == ((1, 2.0),) and found["p1"].strangers == ()
    assert await SqlUpkeep(database).broken() == []
    assert await memories.mark_stale("1.0", {"h1"}) == 0
    still = await memories.pairs(["p1", "p2"])
    assert (still["p1"].stale, still["p2"].stale) == (False, True), "of 2.0 nothing is known yet"
    await memories.mark_stale("2.0", set())
    assert not (await memories.pairs(["p2"]))["p2"].stale, "it cites no page of 2.0"
    await database.close()


NUL, HALF = "a\0b", "a\ud83d"


async def looked_into(database: Database) -> None:
    """Ask what the database itself reads in what explains the answers."""
    assert len(await SqlStatistics(database).days(0)) == 1
    async with database.read() as connection:
        assert await topics_of(connection, ["a1"]) == {"t\ufffd", "b"}


@pytest.mark.parametrize("bad", [NUL, HALF], ids=["a NUL", "half a pair"])
async def test_what_postgresql_cannot_look_into_is_replaced_in_json(
    url: str, tmp_path: Path, bad: str
) -> None:
    database = await Database.open(tmp_path, url)
    trace = {"ms": 3, "queries": {"topic": "t\0", "base": "b"}, "again": [{bad: (bad, "😀", None)}]}
    answer = Answer("a1", "x", "quote", "1.0", trace=trace)
    await SqlMemories(database).save_answer(answer, Question("x", "u"), None)
    await looked_into(database)
    kept = await SqlMemories(database).answer("a1")
    assert kept and kept["trace"]["again"] == [{"a\ufffd" + bad[2:]: ["a\ufffd" + bad[2:], "😀", None]}]
    await database.close()


async def test_what_an_older_version_kept_in_json_is_made_readable(url: str, tmp_path: Path) -> None:
    database = await Database.open(tmp_path, url)
    await SqlMemories(database).save_answer(Answer("a1", "x", "quote", "1.0"), Question("x", "u"), None)
    older = table("answers", column("trace", JSON))
    async with database.write() as connection:
        await connection.run_sync(as_of, "0029")
        trace = {"ms": 3, "queries": {"topic": "t\0", "base": "b"}, "again": [NUL, HALF, "😀"]}
        await connection.execute(older.update().values(trace=trace))
    await database.close()
    database = await Database.open(tmp_path, url)
    await looked_into(database)
    kept = await SqlMemories(database).answer("a1")
    assert kept and kept["trace"]["again"] == ["a\ufffdb", "a\ufffd", "😀"]
    await database.close()


@pytest.mark.parametrize("url", ["mysql://user@host/name", "postgresql+asyncpg://h/n", "nonsense", "://"])
async def test_a_url_that_names_no_known_database_is_a_mistake(url: str, tmp_path: Path) -> None:
    if url.startswith("postgresql"):  # another driver's spelling is understood
        with pytest.raises(StorageError):
            await Database.open(tmp_path, "postgresql+asyncpg://nobody@127.0.0.1:9/none")
        return
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        await Database.open(tmp_path, url)


async def test_a_server_that_is_not_there_is_told_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="check DATABASE_URL") as told:
        await Database.open(tmp_path, "postgresql://user:hunter2@127.0.0.1:9/none")
    assert "hunter2" not in str(told.value)


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "threadlore.sqlite3").write_text("this is no database " * 100)
    with pytest.raises(StorageError, match="not a database"):
        await Database.open(tmp_path)


async def test_a_failure_in_a_write_leaves_nothing_of_it(url: str, tmp_path: Path) -> None:
    database = await Database.open(tmp_path, url)
    with pytest.raises(ZeroDivisionError):
        async with database.write() as connection:
            await connection.execute(text("INSERT INTO events (event, at) VALUES ('e', 1)"))
            raise ZeroDivisionError
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM events"))).scalar_one() == 0
    await database.close()


async def test_a_full_disk_is_told_and_what_was_there_still_serves(tmp_path: Path) -> None:
    database = await Database.open(tmp_path)
    memories, corpora = SqlMemories(database), SqlCorpora(database)
    await keep(memories, pair(), "a1")
    kept = document("a.rst")
    await corpora.put("1.0", kept)
    live = await corpora.swap("1.0", [kept.id], "e")

    async def allow(pages: int) -> None:
        async with database.read() as connection:  # one connection after the other: it is always the same
            await connection.execute(text(f"PRAGMA max_page_count = {pages}"))

    async with database.read() as connection:
        used = (await connection.execute(text("PRAGMA page_count"))).scalar_one()
    await allow(used + 4)
    with pytest.raises(StorageError, match=r"disk .* is full .*free some space"):
        for number in range(200):
            await corpora.put("1.0", document(f"{number}.rst", text="much text " * 500))
    with pytest.raises(StorageError, match="full"):
        await corpora.swap("1.0", [kept.id], "e" * 90_000)

    assert await corpora.live() == {"1.0": live}
    assert len(await corpora.rows("1.0")) == 4
    assert await memories.pair("p1") == pair()

    await allow(1_000_000)
    found = await memories.vote(Vote("a1", "u", 1), 1.0)
    assert found is not None
    await corpora.put("1.0", document("new.rst", text="much text " * 500))
    async with database.read() as connection:
        assert (await connection.execute(text("PRAGMA integrity_check"))).scalar_one() == "ok"
    await database.close()


async def test_writers_wait_for_each_other_and_readers_do_not(url: str, tmp_path: Path) -> None:
    database = await Database.open(tmp_path, url)
    order: list[str] = []

    async def write(name: str) -> None:
        async with database.write() as connection:
            order.append(f"{name} in")
            await connection.execute(text(f"INSERT INTO events (event, at) VALUES ('{name}', 1)"))
            async with database.read() as reader:
                seen = (await reader.execute(text("SELECT count(*) FROM events"))).scalar_one()
            order.append(f"{name} saw {seen}")

    await asyncio.gather(write("a"), write("b"), write("c"))
    assert order == ["a in", "a saw 0", "b in", "b saw 1", "c in", "c saw 2"]
    await database.close()


async def test_two_processes_can_write_one_sqlite_file_in_turn(tmp_path: Path) -> None:
    one, two = [await Database.open(tmp_path) for _ in range(2)]
    stores = [SqlMemories(one), SqlMemories(two)]
    await keep(stores[0], pair(), "a1")
    votes = [Vote("a1", f"u{n}", 1) for n in range(40)]
    await asyncio.gather(*(stores[n % 2].vote(vote, 1.0) for n, vote in enumerate(votes)))
    assert (await stores[0].counts())["votes"] == 40
    await one.close()
    await two.close()


async def test_nobody_waits_while_a_sweep_looks_at_every_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, goes_on = threading.Event(), threading.Event()

    def slow(_: object) -> set[str]:
        looking.set()
        goes_on.wait(SOON)
        return set()

    monkeypatch.setattr(corpora, "_windows", slow)
    database = await Database.open(tmp_path)
    store, page = SqlCorpora(database), document("a.rst")
    await store.put("1.0", page)
    await store.swap("1.0", [page.id], "e")
    sweeping = asyncio.create_task(store.sweep("1.0"))
    assert await asyncio.to_thread(looking.wait, SOON)
    asked = SqlConversations(database).claim(Claim("slack:C1:1", "slack:C1:1", "slack:U1", 1.0))
    assert await asyncio.wait_for(asked, SOON / 2)
    goes_on.set()
    await sweeping
    await database.close()


def test_slices_hold_every_value_once_in_order() -> None:
    assert slices([]) == []
    assert [len(part) for part in slices(list(range(1001)), 500)] == [500, 500, 1]
    assert [value for part in slices("abcde", 2) for value in part] == list("abcde")


async def test_a_write_that_nobody_waits_for_any_more_lets_the_next_one_in(tmp_path: Path) -> None:
    chance = random.Random(1)
    database = await Database.open(tmp_path)
    store = SqlConversations(database)
    for number in range(60):
        writing = asyncio.create_task(store.claim(Claim(f"given up {number}", "c", "a", 1.0)))
        for _ in range(chance.randrange(30)):
            await asyncio.sleep(0)
        writing.cancel()
        kept = await asyncio.wait({writing})  # the task keeps where it was cancelled, as one that waits does
        assert await asyncio.wait_for(store.claim(Claim(f"after {number}", "c", "a", 1.0)), PATIENCE), kept
    await database.close()


async def test_sqlite_waits_for_the_disk_before_a_commit_is_acknowledged(tmp_path: Path) -> None:
    """Else a power cut takes the last seconds, as `make faults` showed."""
    database = await Database.open(tmp_path)
    async with database.read() as connection:
        assert (await connection.exec_driver_sql("PRAGMA synchronous")).scalar() == 2
    await database.close()


async def test_a_statement_goes_to_the_thread_of_sqlite_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips: list[Any] = []
    handed: Any = aiosqlite.Connection._execute

    async def counted(self: Any, *given: Any, **named: Any) -> Any:
        trips.append(given)
        return await handed(self, *given, **named)

    monkeypatch.setattr(aiosqlite.Connection, "_execute", counted)
    database = await Database.open(tmp_path)
    async with database.write() as connection:
        await connection.execute(text("CREATE TABLE cups (name TEXT)"))
        trips.clear()
        cups = [{"n": "blue"}, {"n": "red"}]
        several = await connection.execute(text("INSERT INTO cups VALUES (:n)"), cups)
        changed = await connection.execute(text("UPDATE cups SET name = 'green' WHERE name = 'red'"))
        found = (await connection.execute(text("SELECT name FROM cups ORDER BY name"))).all()
        assert (several.rowcount, changed.rowcount, found) == (2, 1, [("blue",), ("green",)])
        assert len(trips) == 3
        with pytest.raises(OperationalError, match="lids"):
            await connection.execute(text("SELECT * FROM lids"))
        assert len(trips) == 4 and (await connection.execute(text("SELECT count(*) FROM cups"))).scalar() == 2
    await database.close()


def test_the_newest_revision_is_the_one_that_alembic_finds() -> None:
    assert newest() == ScriptDirectory.from_config(migrations()).get_current_head()


async def test_a_look_reads_what_is_committed_and_says_what_fails(tmp_path: Path) -> None:
    database = await Database.open(tmp_path)
    try:
        assert await database.look(lambda connection: connection.scalar(text("SELECT 41 + 1"))) == 42
        async with database.write() as connection:
            await connection.execute(text("CREATE TABLE cups (name TEXT)"))
            await connection.execute(text("INSERT INTO cups VALUES ('blue')"))
        names = "SELECT name FROM cups WHERE name IN ({}) AND name = {}"
        found = await database.look(lambda connection: read(connection, names, ["red", "blue"], "blue"))
        assert [name for (name,) in found] == ["blue"]
        with pytest.raises(StorageError, match="lids"):
            await database.look(lambda connection: read(connection, "SELECT * FROM lids", []))
        database.lost = "Another process took it."
        with pytest.raises(StorageError, match="Another process"):
            await database.look(lambda connection: connection.scalar(text("SELECT 1")))
        database.lost = ""
    finally:
        await database.close()


async def test_a_look_after_the_end_is_an_error_of_storage(tmp_path: Path) -> None:
    database = await Database.open(tmp_path)
    assert await database.look(lambda connection: connection.execute(text("SELECT 1")).scalar()) == 1
    await database.close()
    with pytest.raises(StorageError, match="closed"):
        await database.look(lambda connection: connection.execute(text("SELECT 1")).scalar())


async def test_no_statement_waits_for_a_network_that_drops_it_longer_than_it_is_told(tmp_path: Path) -> None:
    with postgres_schema() as url:
        for given, seconds in ((url, "30000"), (f"{url}&tcp_user_timeout=5000", "5000")):
            database = await Database.open(tmp_path, given)
            async with database.read() as connection:
                driver: Any = (await connection.get_raw_connection()).driver_connection
                told = driver.info.get_parameters()
            await database.close()
            assert (told["tcp_user_timeout"], told["keepalives_idle"]) == (seconds, "30")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
async def test_a_database_of_postgresql_that_cannot_hold_all_text_is_told(
    tmp_path: Path, encoding: str
) -> None:
    with postgres_schema() as url:
        other = make_url(url).set(database=f"threadlore_{encoding.lower()}_{os.getpid()}", query={})
        engine = create_engine(
            url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
        )
        made = f"ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {other.database} {made}")
            try:
                for what in ("", "serve"):
                    with pytest.raises(ConfigurationError, match=f"as {encoding}.*createdb -E UTF8"):
                        await Database.open(tmp_path, other.render_as_string(False), what)
                with pytest.raises(ConfigurationError, match=f"as {encoding}"):
                    check_server(tmp_path, other.render_as_string(False))
            finally:
                connection.exec_driver_sql(f"DROP DATABASE {other.database} WITH (FORCE)")
        engine.dispose()
        check_server(tmp_path, url)
