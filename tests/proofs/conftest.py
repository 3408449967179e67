"""One bot for all machines of a process, and one database for those that need no bot."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import DATABASES, postgres_schema
from tests.journeys.house import new_kettle
from tests.proofs.memory import Home
from tests.proofs.world import World


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("proofs")
    world = World(asyncio.run(new_kettle(folder / "kettle", encoder_cache, "2.0")))
    yield world
    world.close()


@pytest.fixture(params=DATABASES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    if request.param == "sqlite":
        home = Home(tmp_path)
        yield home
        home.close()
        return
    with postgres_schema() as url:
        home = Home(tmp_path, url)
        yield home
        home.close()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Leave out the warnings of a bot that is killed again and again."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)
