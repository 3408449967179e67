"""Kettle's index, built once, and the bot on a copy of it for each test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.journeys.house import Bot, Kettle, house, new_kettle
from tests.ollama_server import OllamaServer

Rooms = Callable[..., AbstractAsyncContextManager[Bot]]


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Kettle:
    """Kettle with all its releases indexed; not to be changed."""
    return asyncio.run(new_kettle(tmp_path_factory.mktemp("kettle"), encoder_cache))


@pytest.fixture
def kettle(indexed: Kettle, tmp_path: Path) -> Kettle:
    """A copy of Kettle that a test may do anything to."""
    return indexed.copy(tmp_path / "kettle")


@pytest.fixture
async def bot(kettle: Kettle) -> AsyncIterator[Bot]:
    """The bot without a model."""
    async with house(kettle) as found:
        yield found


@pytest.fixture
async def ollama() -> AsyncIterator[OllamaServer]:
    async with OllamaServer() as server:
        yield server


@pytest.fixture
async def writer(kettle: Kettle, ollama: OllamaServer) -> AsyncIterator[Bot]:
    """The bot with the loopback model."""
    async with house(kettle, ollama_host=ollama.url) as found:
        yield found
