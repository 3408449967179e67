"""The form of the database: its migrations, and bringing it to the newest."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, MetaData, column, create_engine, inspect, select, table

from core.errors import ConfigurationError, HomeTooNew
from storage.database.hold import address_of
from storage.database.places import TROUBLE, failure

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parents[1] / "migrations"
WAIT_SECONDS = 10
"""Longest that a server may take to be connected to."""
_VERSION = table("alembic_version", column("version_num"))
"""Alembic's table of the revision that a database is at."""


def migrations() -> Config:
    """Return the Alembic configuration of this package's migrations."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def newest() -> str:
    """Return the newest revision, which the names of the migrations begin with: each start looks at it."""
    return max(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*.py")).partition("_")[0]


def migrate(connection: Connection) -> None:
    """Bring a database to the newest form.

    Raises HomeTooNew where a newer version wrote it, ConfigurationError where it cannot hold all text.
    """
    check_encoding(connection)
    if inspect(connection).has_table(_VERSION.name):
        found = connection.execute(select(_VERSION)).scalars().all()
        if found == [newest()]:
            return
    from alembic import command  # with all it brings a fifteenth of a second
    from alembic.util import CommandError

    config = migrations()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        if "Can't locate revision" in str(error):
            raise too_new() from None
        raise


def check_encoding(connection: Connection) -> None:
    """Raise ConfigurationError where a database of PostgreSQL cannot hold all text."""
    if connection.dialect.name != "postgresql":
        return
    encoding = str(connection.exec_driver_sql("SHOW server_encoding").scalar())
    if encoding != "UTF8":
        raise ConfigurationError(
            f"The database is encoded as {encoding}, which does not hold all that people write. Make "
            f"another one with `createdb -E UTF8 -T template0 NAME`, and name it in DATABASE_URL."
        )


def check_server(home: Path, url: str) -> None:
    """See that a database of PostgreSQL answers, can hold all text and is of no newer version; blocking.

    Raises StorageError, ConfigurationError and HomeTooNew.
    """
    engine = create_engine(address_of(home, url), connect_args={"connect_timeout": WAIT_SECONDS})
    try:
        with engine.connect() as connection:
            check_encoding(connection)
            if inspect(connection).has_table(_VERSION.name):
                _check_known(connection.execute(select(_VERSION)).scalars())
    except TROUBLE as error:
        raise failure(error) from error
    finally:
        engine.dispose()


def check_known(file: Path) -> None:
    """Raise HomeTooNew where a newer version wrote a database file; blocking. It is read, not written.

    What cannot be read is told by who opens it to write.
    """
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        try:
            statement = str(select(_VERSION))
            found = {str(row[0]) for row in connection.execute(statement)}
        finally:
            connection.close()
    except sqlite3.Error:
        return
    _check_known(found)


def _check_known(found: Iterable[str]) -> None:
    known = {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}
    if set(found) - known:
        raise too_new()


def too_new() -> HomeTooNew:
    """Return what is said of a database that a newer version wrote."""
    return HomeTooNew(
        f"The database was written by a newer version of Threadlore (this one knows it up to "
        f"revision {newest()}); install that version, or set THREADLORE_HOME to another folder."
    )


def revisions() -> frozenset[str]:
    """Return every revision that this version knows."""
    from alembic.script import ScriptDirectory

    script = ScriptDirectory.from_config(migrations())
    return frozenset(revision.revision for revision in script.walk_revisions())


def tables_of(revision: str) -> frozenset[str]:
    """Return the names of the tables that a database of a known revision has, as its migrations make them.

    A schema of PostgreSQL may hold those of other programs, too.
    """
    from alembic import command

    config, made = migrations(), MetaData()
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
            made.reflect(connection)
    finally:
        engine.dispose()
    return frozenset(made.tables) - {_VERSION.name}
