"""Nothing of what was removed is left in the files of SQLite, and nobody waits for that."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest
from sqlalchemy import delete, text

from storage.database.database import Database
from storage.database.sqlite_file import OWED
from storage.tables import AnswerRow

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
    while database._rewriting is None:
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
