"""Nothing of what was removed is left in the files of SQLite, and nobody waits for that."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, delete, text

from storage.database import backup
from storage.database.database import Database
from storage.database.hold import address_of
from storage.database.sqlite_file import LOG_OWED, OWED
from storage.tables import AnswerRow, Base
from tests.databases import postgres_schema
from tests.patience import PATIENCE

WORDS = "what nobody may read any more, by "
PEOPLE = 40


@pytest.fixture(name="database")
async def database_fixture(tmp_path: Path):
    database = await Database.open(tmp_path)
    yield database
    await database.close()


def row(number: int, asker: str, words: str) -> dict[str, object]:
    kept: dict[str, object] = dict.fromkeys(
        ("channel", "scope", "release", "route", "text", "pair_id"), ""
    ) | {"citations": [], "trace": {}, "confidence": 0.0, "similarity": 0.0}
    return kept | {"id": f"{number}", "at": float(number), "question": words, "asker": asker}


async def fill(database: Database, count: int) -> None:
    """Keep answers of many people, long and short, so that pages are filled anew again and again."""
    chance = random.Random(1)
    for start in range(0, count, 10):
        async with database.write() as connection:
            for number in range(start, start + 10):
                asker = f"slack:U{chance.randrange(PEOPLE):03}"
                words = f"{WORDS}{asker} {'x' * chance.randrange(400)}"
                await connection.execute(database.insert(AnswerRow), row(number, asker, words))
                other = str(chance.randrange(number + 1))
                if number % 3 == 0:
                    longer = text("UPDATE answers SET text = :words WHERE id = :id")
                    words = "y" * chance.randrange(900)
                    await connection.execute(longer, {"words": words, "id": other})
                if number % 5 == 0:
                    await connection.execute(delete(AnswerRow).where(AnswerRow.id == other))


async def forget(database: Database) -> None:
    async with database.write() as connection:
        for who in range(0, PEOPLE, 2):
            await connection.execute(delete(AnswerRow).where(AnswerRow.asker == f"slack:U{who:03}"))
        await database.owe_scrub(connection)


def left(folder: Path) -> int:
    """Count the places in a home's database where those who were forgotten are named."""
    held = b"".join(path.read_bytes() for path in folder.glob("threadlore.sqlite3*"))
    return sum(held.count(f"slack:U{who:03}".encode()) for who in range(0, PEOPLE, 2))


async def test_pieces_in_unused_room_go(database: Database, tmp_path: Path) -> None:
    await fill(database, 1500)
    await forget(database)
    await database.checkpoint()
    assert left(tmp_path), "secure_delete alone leaves some, so there is something to do"
    assert await database.scrub()
    assert left(tmp_path) == 0
    async with database.read() as connection:
        assert (await connection.exec_driver_sql("PRAGMA user_version")).scalar() != OWED
        assert (await connection.exec_driver_sql("PRAGMA integrity_check")).scalar() == "ok"


async def test_who_writes_goes_first_and_the_rest_is_done_when_it_is_quiet(tmp_path: Path) -> None:
    database = await Database.open(tmp_path)
    await fill(database, 400)
    async with database.write() as connection:
        await connection.execute(text("CREATE TABLE large (words TEXT)"))
        many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        await connection.execute(text(f"INSERT INTO large {many} SELECT hex(randomblob(1000)) FROM n"))
    await forget(database)
    scrubbing = asyncio.create_task(database.scrub(quiet=0.0))
    while database._room.rewriting is None:
        await asyncio.sleep(0)
    began = time.perf_counter()
    async with database.write() as connection:
        await connection.execute(database.insert(AnswerRow), row(9000, "slack:U001", "new"))
    took = time.perf_counter() - began
    assert not await scrubbing, f"it was not given up, and the write took {took:.2f} s"
    assert not await database.scrub(), "somebody has written just now"
    await database.close()

    later = await Database.open(tmp_path)
    assert await later.scrub(quiet=0.0), "a later process does what is owed"
    assert left(tmp_path) == 0
    async with later.read() as connection:
        assert (await connection.execute(text("SELECT question FROM answers WHERE id = '9000'"))).scalar()
    await later.close()


async def owed(database: Database) -> int:
    async with database.read() as connection:
        return int((await connection.exec_driver_sql("PRAGMA user_version")).scalar_one())


async def writes_go_on(database: Database, scrubbing: asyncio.Task[bool]) -> int:
    """Write until a scrub ends; return how often one could."""
    count = 0
    while not scrubbing.done():
        async with database.write() as connection:
            await connection.execute(database.insert(AnswerRow), row(9000 + count, "slack:U001", "new"))
        count += 1
        await asyncio.sleep(0.01)
    return count


async def test_a_long_reader_leaves_the_log_owed_and_nobody_waits(database: Database, tmp_path: Path) -> None:
    """As a backup is, which reads one moment of a large database."""
    await fill(database, 400)
    async with database.read() as reader:
        await reader.exec_driver_sql("BEGIN")
        await reader.exec_driver_sql("SELECT count(*) FROM answers")
        await forget(database)
        scrubbing = asyncio.create_task(database.scrub())
        async with asyncio.timeout(PATIENCE):
            while await owed(database) == OWED:
                await asyncio.sleep(0.01)
        assert await writes_go_on(database, scrubbing) > 1 and not await scrubbing
        assert await owed(database) == LOG_OWED, "the file is not written again by each try"
        await database.checkpoint()
        await reader.exec_driver_sql("COMMIT")
    assert left(tmp_path) and await database.scrub()
    assert left(tmp_path) == 0 and await owed(database) == 0


async def test_a_log_that_retention_could_not_empty_is_emptied_later(
    database: Database, tmp_path: Path
) -> None:
    await fill(database, 20)
    log = tmp_path / "threadlore.sqlite3-wal"
    async with database.read() as reader:
        await reader.exec_driver_sql("BEGIN")
        await reader.exec_driver_sql("SELECT count(*) FROM answers")
        await database.checkpoint()
        assert log.stat().st_size > 20_000
        await reader.exec_driver_sql("COMMIT")
    assert await database.scrub()
    assert log.stat().st_size < 20_000, "nothing but that nothing is owed"


async def test_a_table_of_postgresql_that_is_read_for_long_stays_owed(tmp_path: Path) -> None:
    with postgres_schema() as url:
        database = await Database.open(tmp_path, url)
        engine = create_engine(address_of(tmp_path, url))
        with engine.connect() as reader:
            reader.execute(text("SELECT count(*) FROM answers"))
            await forget(database)
            scrubbing = asyncio.create_task(database.scrub())
            async with asyncio.timeout(PATIENCE):
                assert await writes_go_on(database, scrubbing) and not await scrubbing
        engine.dispose()
        async with database.read() as connection:
            assert (await connection.exec_driver_sql("SHOW lock_timeout")).scalar() == "0"
        assert await database.scrub()
        await database.close()


async def test_no_table_is_rewritten_while_a_backup_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would keep what the backup still sees, and nothing would be owed any more."""
    began, goes_on, dump = asyncio.Event(), threading.Event(), backup._dump
    loop = asyncio.get_running_loop()

    def slow(*given: Any) -> int:
        loop.call_soon_threadsafe(began.set)
        assert goes_on.wait(PATIENCE)
        return dump(*given)

    monkeypatch.setattr(backup, "_dump", slow)
    with postgres_schema() as url:
        database = await Database.open(tmp_path, url)
        await fill(database, 10)
        taking = asyncio.create_task(asyncio.to_thread(backup.write, tmp_path, url, {}, BytesIO(), tmp_path))
        async with asyncio.timeout(PATIENCE):
            await began.wait()
        await forget(database)
        assert not await database.scrub()
        assert len(database._room._owed) == len(Base.metadata.tables)
        goes_on.set()
        assert (await taking).rows["answers"] and await database.scrub()
        await database.close()
