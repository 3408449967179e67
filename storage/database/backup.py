"""A backup: every table of one moment, as lines of JSON in an archive, taken while others read and write.

It is the same for SQLite and PostgreSQL, so a home may move between them. What derives from the tables
is not in it: the indexes are made of them at the start, embedding nothing.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

from sqlalchemy import (
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    create_engine,
    event,
    func,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError

from core.errors import StorageError, UsageError
from storage.database.hold import address_of, file_of
from storage.database.schema import check_encoding, migrations, newest, revisions, tables_of, too_new
from storage.database.sqlite_file import DATABASE, FILE, SIGNS, check, prepare, storage_error
from storage.tables import Base

MANIFEST, ROWS, FILES = "manifest.json", "rows/", "files/"
FORM = 1
AT_ONCE = 500
_REVISION = "alembic_version"
_NONE = "There is no database to back up yet: start the bot once."
_BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names of what SQLite writes beside a database, and plays into the one that it finds there."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup is of, and the SHA-256 of each member."""

    form: int
    at: float
    revision: str
    rows: dict[str, int] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)


def _engine(home: Path, url: str) -> Engine:
    address = address_of(home, url)
    is_sqlite = address.get_backend_name() == "sqlite"
    engine = create_engine(address.set(drivername="sqlite" if is_sqlite else "postgresql+psycopg"))
    if is_sqlite:
        event.listen(engine, "connect", prepare)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")


def write(home: Path, url: str, files: Mapping[str, Path], out: IO[bytes], room: Path) -> Manifest:
    """Write a backup of the database and of these files of the home; blocking.

    In `room`, a folder, each table lies until it is packed. Raises StorageError where there is no database
    or it is damaged, HomeTooNew where a newer version wrote it.
    """
    if file := file_of(address_of(home, url)):
        check(file, thorough=True, make=False)
        if not file.exists() or not file.stat().st_size:
            raise StorageError(_NONE)
    engine = _engine(home, url)
    try:
        with engine.connect() as connection, tarfile.open(fileobj=out, mode="w:gz") as archive:
            if not inspect(connection).has_table(_REVISION):
                raise StorageError(_NONE)
            revision = str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one())
            if revision not in revisions():
                raise too_new()
            manifest = Manifest(FORM, time.time(), revision)
            tables = _reflected(connection, revision)
            if connection.dialect.name == "postgresql":  # rewritten now, they would keep what is still seen
                names = ", ".join(table.name for table in tables)
                connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS SHARE MODE")
            for table in tables:
                with tempfile.TemporaryFile(dir=room) as rows:
                    manifest.rows[table.name] = _dump(connection, table, rows)
                    _add(archive, manifest, f"{ROWS}{table.name}.jsonl", rows)
            for name, path in files.items():
                if path.is_file():
                    _add(archive, manifest, f"{FILES}{name}", io.BytesIO(path.read_bytes()))
            _add(archive, None, MANIFEST, io.BytesIO(json.dumps(asdict(manifest)).encode()))
            return manifest
    except DBAPIError as error:
        raise storage_error(error, DATABASE) from error
    finally:
        engine.dispose()


def _reflected(connection: Connection, revision: str) -> list[Table]:
    """Return Threadlore's tables as they stand in a database, those that others refer to first."""
    ours, found = tables_of(revision), MetaData()
    found.reflect(connection, only=lambda name, _: name in ours)
    return found.sorted_tables


def _dump(connection: Connection, table: Table, rows: IO[bytes]) -> int:
    count = 0
    streamed = connection.execution_options(stream_results=True, yield_per=AT_ONCE)
    for row in streamed.execute(select(table)):
        values = [
            {"b": base64.b64encode(v).decode()} if isinstance(v, bytes | memoryview) else v for v in row
        ]
        rows.write(json.dumps(dict(zip(table.columns.keys(), values, strict=True))).encode() + b"\n")
        count += 1
    return count


def _add(archive: tarfile.TarFile, manifest: Manifest | None, name: str, held: IO[bytes]) -> None:
    size = held.seek(0, os.SEEK_END)
    held.seek(0)
    if manifest is not None:
        manifest.members[name] = hashlib.file_digest(held, "sha256").hexdigest()  # type: ignore[arg-type]
        held.seek(0)
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    archive.addfile(member, held)


def read(given: IO[bytes], home: Path, url: str, files: Mapping[str, Path]) -> Manifest:
    """Bring a backup into a home and a database that hold nothing yet, the whole of it or nothing.

    Raises StorageError where it is not whole, was written by a newer version, or the database holds rows;
    UsageError where the home was used.
    """
    _check_unused(home, file_of(address_of(home, url)), files)
    with tempfile.TemporaryDirectory(dir=home) as folder:
        manifest = _unpacked(given, Path(folder))
        engine = _engine(Path(folder), url)
        try:
            with engine.begin() as connection:
                _fill(connection, manifest, Path(folder))
        except DBAPIError as error:
            raise storage_error(error, DATABASE) from error
        finally:
            engine.dispose()
        for name, path in files.items():
            if (held := Path(folder) / FILES / name).exists():
                held.replace(path)
        if not url:
            (Path(folder) / FILE).replace(home / FILE)  # at last: a home without it was not restored
    return manifest


def _check_unused(home: Path, file: Path | None, files: Mapping[str, Path]) -> None:
    """Raise UsageError where something of a bot is in a home, or beside the database's `file`."""
    elsewhere = "Restore into an empty folder: --home FOLDER."
    if file and file.exists():
        raise UsageError(f"{file.parent} holds a database already ({file.name}). {elsewhere}")
    beside = [file.with_name(f"{file.name}{end}") for end in _BESIDE] if file else []
    if left := [path.name for path in beside if path.exists()]:
        raise UsageError(
            f"{beside[0].parent} holds what belongs to another database: {', '.join(left)}. SQLite would "
            f"change the restored one by it. Put it where that database is. {elsewhere}"
        )
    parts = dict.fromkeys((*(path.name for path in files.values()), *SIGNS))
    if used := [name for name in parts if (home / name).exists()]:
        raise UsageError(f"{home} was used: there is {', '.join(used)}. {elsewhere}")


def _unpacked(given: IO[bytes], folder: Path) -> Manifest:
    found: dict[str, str] = {}
    foreign = ""
    try:
        with tarfile.open(fileobj=given, mode="r|gz") as archive:
            for member in archive:
                held = archive.extractfile(member)
                if held is None or not _is_ours(member.name):
                    foreign = foreign or member.name
                    continue
                place = folder / member.name
                place.parent.mkdir(exist_ok=True)
                with place.open("w+b") as written:  # a piece at a time: a table may be larger than the memory
                    shutil.copyfileobj(held, written)
                    written.seek(0)
                    found[member.name] = hashlib.file_digest(written, "sha256").hexdigest()
        told = json.loads((folder / MANIFEST).read_bytes())
        if told["form"] != FORM:  # what else a newer version writes is not known
            raise StorageError("A newer version of Threadlore wrote this backup; install that version.")
        known = {item.name for item in fields(Manifest)}
        manifest = Manifest(**{name: value for name, value in told.items() if name in known})
    except (tarfile.TarError, EOFError, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StorageError(f"This is no whole backup ({error}). Take another one.") from None
    if foreign:
        raise StorageError(f"{foreign} belongs in no backup.")
    if {name: digest for name, digest in found.items() if name != MANIFEST} != manifest.members:
        raise StorageError("This backup was changed since it was written. Take another one.")
    return manifest


def _is_ours(name: str) -> bool:
    """Return True for the name of a member: in one of our folders, and nothing that leads elsewhere."""
    folder, _, rest = name.partition("/")
    return name == MANIFEST or (f"{folder}/" in (ROWS, FILES) and rest == os.path.basename(rest) != "..")


def _fill(connection: Connection, manifest: Manifest, folder: Path) -> None:
    """Make the tables as they were, fill them, and bring them to the form of this version."""
    from alembic import command

    check_encoding(connection)
    config = migrations()
    if manifest.revision not in revisions():
        raise StorageError(
            f"A newer version of Threadlore wrote this backup (revision {manifest.revision}, this one knows "
            f"up to {newest()}); install that version."
        )
    ours = {_REVISION, *tables_of(manifest.revision), *Base.metadata.tables}
    if held := ours.intersection(inspect(connection).get_table_names()):
        raise StorageError(
            f"The database holds tables already ({', '.join(sorted(held)[:3])}). "
            f"Restore into an empty one (DATABASE_URL)."
        )
    config.attributes["connection"] = connection
    command.upgrade(config, manifest.revision)
    for table in _reflected(connection, manifest.revision):
        place = folder / ROWS / f"{table.name}.jsonl"
        if place.exists():
            for some in _rows(table, place):
                connection.execute(table.insert(), some)
            _count_on(connection, table)
    command.upgrade(config, "head")


def _rows(table: Table, place: Path) -> Iterator[list[dict[str, Any]]]:
    binary = {column.name for column in table.columns if isinstance(column.type, LargeBinary)}
    some: list[dict[str, Any]] = []
    with place.open("rb") as lines:
        for line in lines:
            row = json.loads(line)
            for name in binary:
                row[name] = None if row[name] is None else base64.b64decode(row[name]["b"])
            some.append(row)
            if len(some) == AT_ONCE:
                yield some
                some = []
    if some:
        yield some


def _count_on(connection: Connection, table: Table) -> None:
    """Let PostgreSQL number new rows after the ones that are there."""
    keys = [column for column in table.primary_key.columns if isinstance(column.type, Integer)]
    if connection.dialect.name != "postgresql" or len(keys) != 1:
        return
    name = keys[0].name
    sequence = connection.execute(
        text("SELECT pg_get_serial_sequence(:t, :c)"), {"t": table.name, "c": name}
    ).scalar()
    if sequence:
        last = connection.execute(select(func.max(keys[0]))).scalar()
        connection.execute(select(func.setval(sequence, last or 1)))
