"""SQL that is compiled once for all databases of a test run: each opens an engine of its own.

An engine keeps what it compiled by its dialect. A test's bot compiles some fifty statements, a quarter of
what a short journey takes; in this way it finds those of the tests before it. Child processes share nothing.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.aiosqlite import SQLiteDialect_aiosqlite

_COMPILED: MutableMapping[Any, Any] = {}


class Sqlite(SQLiteDialect_aiosqlite):
    """The dialect of SQLite, of which one is like another: all are made with the same arguments."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Give an engine what all others compiled."""
        engine.update_execution_options(compiled_cache=_COMPILED)


def share() -> None:
    """Take this dialect for every SQLite that is opened from now on."""
    registry.register("sqlite.aiosqlite", __name__, Sqlite.__name__)
