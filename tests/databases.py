"""Databases for tests: a fresh SQLite file, and a schema of its own in a PostgreSQL that someone started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest
from alembic import command
from sqlalchemy import Connection, MetaData, create_engine, make_url

from storage.database.schema import migrations

VARIABLE = "THREADLORE_TEST_POSTGRES"
GIVEN = os.environ.get(VARIABLE, "")
_numbers = count()
DATABASES = ("sqlite", "postgresql") if GIVEN else ("sqlite",)
"""What a test that needs a database runs on; `contracts/test_postgresql.py` says it when one is missing."""


@contextmanager
def postgres_schema() -> Iterator[str]:
    """Make an empty schema and yield the URL that sees only this; everything else there is left alone."""
    if not GIVEN:
        told = f"needs PostgreSQL: start one and set {VARIABLE}=postgresql://user@127.0.0.1:5432/db"
        if os.environ.get("THREADLORE_CI") == "1":
            pytest.fail(told, pytrace=False)
        pytest.skip(told)
    name = f"threadlore_test_{os.getpid()}_{next(_numbers)}"
    url = make_url(GIVEN).set(drivername="postgresql+psycopg")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        try:
            within = url.set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
            yield within.render_as_string(hide_password=False)
        finally:
            connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
    engine.dispose()


def truncated(url: str) -> str:
    """Remove every row of a schema that `postgres_schema` made, but the schema's revision."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        tables = connection.exec_driver_sql(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() "
            "AND tablename <> 'alembic_version'"
        ).scalars()
        if names := ", ".join(tables):
            connection.exec_driver_sql(f"TRUNCATE {names} RESTART IDENTITY")
    engine.dispose()
    return url


def as_of(connection: Connection, revision: str) -> None:
    """Leave of a database what a version of that revision would have: its tables, and their columns."""
    there, older, config = MetaData(), MetaData(), migrations()
    there.reflect(connection)
    had = {table.name: list(connection.execute(table.select())) for table in there.sorted_tables}
    there.drop_all(connection)
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    older.reflect(connection)
    for table in older.sorted_tables:
        if (rows := had.get(table.name)) and table.name != "alembic_version":
            names = [column.name for column in table.columns]
            connection.execute(table.insert(), [{name: row._mapping[name] for name in names} for row in rows])
