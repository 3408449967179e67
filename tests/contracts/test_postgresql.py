"""PostgreSQL is tested wherever one is at hand, and in CI always."""

from __future__ import annotations

from sqlalchemy import make_url

from tests.databases import postgres_schema


def test_the_suites_run_on_postgresql_too() -> None:
    with postgres_schema() as url:
        assert make_url(url).get_backend_name() == "postgresql"
