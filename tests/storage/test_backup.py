"""A backup takes what is Threadlore's and changes nothing; it goes only where nothing of a bot is."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import tracemalloc
from dataclasses import asdict
from pathlib import Path

import pytest
from sqlalchemy import create_engine, insert, make_url

from core.errors import StorageError, UsageError
from storage.database import backup
from storage.database.database import Database
from storage.database.sqlite_file import FILE
from storage.tables import ActRow
from tests.databases import postgres_schema

KEY = "privacy.key"


async def keep(home: Path, what: str, url: str = "") -> None:
    """Keep a line of the audit log."""
    database = await Database.open(home, url)
    async with database.write() as connection:
        line = {"at": 1.0, "who": "cli", "place": "", "what": what, "outcome": "done"}
        await connection.execute(insert(ActRow).values(**line))
    await database.close()


async def kept(home: Path, url: str = "") -> list[str]:
    """Return what stands in the audit log."""
    database = await Database.open(home, url)
    async with database.read() as connection:
        rows = (await connection.execute(ActRow.__table__.select())).all()
    await database.close()
    return [row.what for row in rows]


def taken(home: Path, url: str = "") -> io.BytesIO:
    """Return a backup of a home."""
    out = io.BytesIO()
    backup.write(home, url, {KEY: home / KEY}, out, home)
    out.seek(0)
    return out


def restored(held: io.BytesIO, home: Path, url: str = "") -> None:
    held.seek(0)
    home.mkdir(exist_ok=True)
    backup.read(held, home, url, {KEY: home / KEY})


def in_psycopg(url: str) -> str:
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


@pytest.fixture
async def held(tmp_path: Path) -> io.BytesIO:
    """Return a backup of a home with a line and a key."""
    await keep(tmp_path / "first", "first")
    (tmp_path / "first" / KEY).write_text("the key of the backup")
    return taken(tmp_path / "first")


@pytest.fixture(autouse=True)
def homes(tmp_path: Path) -> None:
    """Make the folders."""
    for name in ("first", "home"):
        (tmp_path / name).mkdir()


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_what_another_database_left_is_not_played_into_a_restored_one(
    held: io.BytesIO, tmp_path: Path, end: str
) -> None:
    home = tmp_path / "home"
    (home / f"{FILE}{end}").write_bytes(b"what was written last")
    with pytest.raises(UsageError, match=f"{FILE}{end}.*Put it where that database is"):
        restored(held, home)
    assert os.listdir(home) == [f"{FILE}{end}"]


@pytest.mark.parametrize("name", [KEY, "vectors", "words"])
async def test_nothing_of_a_home_that_was_used_is_written_over(
    held: io.BytesIO, tmp_path: Path, name: str
) -> None:
    """Its database may be another one, such as PostgreSQL's."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere.sqlite3"
    (home / name).write_text("of another bot")
    for url in ("", f"sqlite:///{elsewhere}"):
        with pytest.raises(UsageError, match=f"was used: there is {name}.*empty folder"):
            restored(held, home, url)
    assert (home / name).read_text() == "of another bot"
    assert os.listdir(home) == [name] and not elsewhere.exists()


@pytest.mark.parametrize("there", ["nothing", "an empty file", "no folder", "a key"])
def test_a_backup_of_no_database_makes_none(tmp_path: Path, there: str) -> None:
    home, out = tmp_path / "home", io.BytesIO()
    if there == "no folder":
        home.rmdir()
    elif there == "an empty file":
        (home / FILE).touch()
    elif there == "a key":
        (home / KEY).touch()
    before = sorted(home.glob("*"))
    with pytest.raises(
        StorageError, match="is missing, but the home was used" if there == "a key" else "yet"
    ):
        backup.write(home, "", {}, out, tmp_path)
    assert sorted(home.glob("*")) == before and not out.getvalue()
    assert not any(path.stat().st_size for path in before)


async def test_a_damaged_database_is_not_backed_up(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await keep(home, "first")
    os.truncate(home / FILE, 8192)
    with pytest.raises(StorageError, match="damaged"):
        taken(home)


async def test_a_backup_lies_beside_its_file_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's folder for temporary files may be memory, and small."""
    await keep(tmp_path / "home", "first")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "there is no such folder"))
    assert taken(tmp_path / "home").getvalue()


async def test_what_others_keep_in_the_same_schema_is_left_alone(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    with postgres_schema() as url, postgres_schema() as empty:
        await keep(home, "ours", url)
        for schema in (url, empty):
            engine = create_engine(in_psycopg(schema))
            with engine.begin() as connection:
                connection.exec_driver_sql("CREATE TABLE orders (id uuid PRIMARY KEY, at timestamptz)")
                connection.exec_driver_sql("INSERT INTO orders VALUES (gen_random_uuid(), now())")
            engine.dispose()
        held = taken(home, url)
        with tarfile.open(fileobj=held) as archive:
            assert "rows/acts.jsonl" in archive.getnames() and "rows/orders.jsonl" not in archive.getnames()
        restored(held, other, empty)
        assert await kept(other, empty) == ["ours"]
        with pytest.raises(StorageError, match=r"holds tables already \(about, acts, alembic_version\)"):
            restored(held, tmp_path / "third", empty)


def changed(held: io.BytesIO, **manifest: object) -> io.BytesIO:
    """Return a backup whose manifest says more."""
    out = io.BytesIO()
    with tarfile.open(fileobj=held) as old, tarfile.open(fileobj=out, mode="w:gz") as new:
        for member in old:
            data = old.extractfile(member).read()  # type: ignore[union-attr]
            if member.name == "manifest.json":
                data = json.dumps(json.loads(data) | manifest).encode()
                member.size = len(data)
            new.addfile(member, io.BytesIO(data))
        if "form" in manifest:
            new.addfile(tarfile.TarInfo("a/kind/of/its/own"))
    return out


async def test_a_newer_version_s_backup_is_told_from_one_that_is_torn(
    held: io.BytesIO, tmp_path: Path
) -> None:
    with pytest.raises(StorageError, match="A newer version of Threadlore wrote this backup"):
        restored(changed(held, form=2, version="9"), tmp_path / "home")
    held.seek(0)
    restored(changed(held, version="9"), tmp_path / "home")
    assert await kept(tmp_path / "home") == ["first"]
    assert (tmp_path / "home" / KEY).read_text() == "the key of the backup"


async def test_a_file_that_belongs_in_no_backup_is_told(held: io.BytesIO, tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=held) as old, tarfile.open(fileobj=out, mode="w:gz") as new:
        new.addfile(tarfile.TarInfo("../threadlore"))
        for member in old:
            new.addfile(member, old.extractfile(member))
    with pytest.raises(StorageError, match="threadlore belongs in no backup"):
        restored(out, tmp_path / "home")
    shutil.rmtree(tmp_path / "first")
    assert os.listdir(tmp_path) == ["home"] and not os.listdir(tmp_path / "home")


def test_a_table_is_unpacked_a_piece_at_a_time(tmp_path: Path) -> None:
    given, manifest = io.BytesIO(), backup.Manifest(backup.FORM, 0.0, "0001")
    with tarfile.open(fileobj=given, mode="w:gz") as archive:
        backup._add(archive, manifest, "rows/vectors.jsonl", io.BytesIO(os.urandom(8_000_000)))
        told = json.dumps(asdict(manifest)).encode()
        backup._add(archive, None, backup.MANIFEST, io.BytesIO(told))
    given.seek(0)
    tracemalloc.start()
    assert backup._unpacked(given, tmp_path) == manifest
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 4_000_000
