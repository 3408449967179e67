"""Databases for the tests of storage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import DATABASES, postgres_schema


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database without any table."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'threadlore.sqlite3'}"
        return
    with postgres_schema() as made:
        yield made
