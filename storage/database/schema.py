"""The form of the database: its migrations, and bringing it to the newest."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from core.errors import HomeTooNew


def migrations() -> Config:
    """Return the Alembic configuration of this package's migrations."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    return config


@cache
def newest() -> str | None:
    """Return the newest revision; to read all of them takes 20 ms."""
    return ScriptDirectory.from_config(migrations()).get_current_head()


def migrate(connection: Connection) -> None:
    """Bring a database to the newest form; raises HomeTooNew where a newer version wrote it."""
    if MigrationContext.configure(connection).get_current_heads() == (newest(),):
        return
    config = migrations()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        if "Can't locate revision" in str(error):
            raise HomeTooNew(
                f"The database was written by a newer version of Threadlore (this one knows it up to "
                f"revision {newest()}); install that version, or set THREADLORE_HOME to another folder."
            ) from None
        raise
