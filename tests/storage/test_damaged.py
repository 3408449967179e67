"""A database that is damaged, empty or lost is told with the way back, and nothing is changed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from core.errors import StorageError, StorageUnavailable
from storage.database.database import Database
from storage.database.sqlite_file import DATABASE, FILE, check, storage_error

Harm = Callable[[Path], None]
PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a few hundred pages, closed."""
    file = tmp_path_factory.mktemp("whole") / FILE
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, words TEXT)")
        connection.executemany("INSERT INTO said (words) VALUES (?)", [("x" * 400,) for _ in range(3000)])
    connection.close()
    assert file.stat().st_size > 200 * PAGE and not file.with_name(f"{FILE}-wal").exists()
    return file


def overwrite(file: Path, at: int, held: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(held)


def cut(file: Path) -> None:
    os.truncate(file, 100 * PAGE)


def cut_within_a_page(file: Path) -> None:
    os.truncate(file, 100 * PAGE + 7)


def cut_to_a_word(file: Path) -> None:
    os.truncate(file, 40)


def random_bytes(file: Path) -> None:
    file.write_bytes(random.Random(7).randbytes(50 * PAGE))


def another_kind(file: Path) -> None:
    overwrite(file, 0, b"PK\x03\x04")


def half_a_page(file: Path) -> None:
    overwrite(file, 50 * PAGE, random.Random(7).randbytes(PAGE // 2))


def page_of_zeros(file: Path) -> None:
    overwrite(file, 50 * PAGE, bytes(PAGE))


def first_page(file: Path) -> None:
    overwrite(file, 100, random.Random(7).randbytes(PAGE - 100))


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def text_file(file: Path) -> None:
    file.write_text("this is no database " * 1000)


HARMS: tuple[Harm, ...] = (
    cut,
    cut_within_a_page,
    cut_to_a_word,
    random_bytes,
    another_kind,
    half_a_page,
    page_of_zeros,
    first_page,
    folder,
    text_file,
)


@pytest.mark.parametrize("harm", HARMS)
async def test_a_damaged_database_names_the_backup_and_is_not_changed(
    whole: Path, tmp_path: Path, harm: Harm
) -> None:
    file = tmp_path / FILE
    shutil.copy(whole, file)
    harm(file)
    before = file.read_bytes() if file.is_file() else b""
    with pytest.raises(StorageError, match=r"is damaged: .*docs/running.md, Backups") as told:
        await Database.open(tmp_path)
    assert str(file) in str(told.value) and "\n" not in str(told.value)
    assert (file.read_bytes() if file.is_file() else b"") == before
    beside = {path.name.removeprefix(FILE) for path in tmp_path.glob(f"{FILE}?*")}
    assert beside <= {"-shm", "-wal"}, "reading makes these"


def test_a_whole_database_is_good_whatever_waits_to_be_written_into_it(whole: Path, tmp_path: Path) -> None:
    """As after a kill: what was said last stands in the log that SQLite writes ahead."""
    file = tmp_path / FILE
    shutil.copy(whole, file)
    check(file, thorough=True)
    script = (
        "import os, signal, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1])\n"
        "connection.executemany('INSERT INTO said (words) VALUES (?)', [('y' * 400,) for _ in range(900)])\n"
        "connection.commit()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(file)], check=False)
    assert killed.returncode == -signal.SIGKILL and file.with_name(f"{FILE}-wal").stat().st_size
    check(file, thorough=True)
    file.with_name(f"{FILE}-shm").unlink()
    check(file, thorough=True)


@pytest.mark.parametrize("sign", ["vectors", "words", "privacy.key"])
@pytest.mark.parametrize("is_there", [True, False])
async def test_an_empty_or_missing_database_in_a_used_home_is_not_taken_for_a_new_one(
    tmp_path: Path, sign: str, is_there: bool
) -> None:
    (tmp_path / sign).mkdir()
    if is_there:
        (tmp_path / FILE).touch()
    with pytest.raises(StorageError, match=r"the home was used.*Backups.*--home"):
        await Database.open(tmp_path)
    assert (tmp_path / FILE).exists() == is_there and not (is_there and (tmp_path / FILE).stat().st_size)


async def test_a_new_home_begins_with_an_empty_database_for_its_user_alone(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()  # what `doctor` makes
    (tmp_path / FILE).touch(0o600)
    before = os.umask(0)
    try:
        database = await Database.open(tmp_path)
        async with database.write() as connection:
            await connection.execute(text("INSERT INTO events (event, at) VALUES ('e', 1)"))
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob(f"{FILE}*")}
        await database.close()
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600} and len(modes) == 3, modes


async def test_a_page_that_is_damaged_while_the_bot_runs_names_the_backup(tmp_path: Path) -> None:
    database = await Database.open(tmp_path)
    async with database.write() as connection:
        for number in range(3000):
            await connection.execute(text(f"INSERT INTO events (event, at) VALUES ('{number:0200d}', 1)"))
    await database.checkpoint()
    pages = (tmp_path / FILE).stat().st_size // PAGE
    for page in range(20, pages):
        overwrite(tmp_path / FILE, page * PAGE, random.Random(page).randbytes(PAGE))
    await database._engine.dispose()  # what it has read is forgotten
    with pytest.raises(StorageError, match=r"is damaged.*Backups"):
        async with database.read() as connection:
            await connection.execute(text("SELECT sum(length(event)) FROM events"))
    await database.close()


def test_a_database_that_may_only_be_read_is_told_with_whose_it_should_be() -> None:
    told = storage_error(sqlite3.OperationalError("attempt to write a readonly database"), DATABASE)
    assert "give its file" in str(told) and not isinstance(told, StorageUnavailable)
