"""The stages of each journey, and the bot on a copy of Kettle for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.journeys.house import Bot, Kettle, house
from tests.ollama_server import OllamaServer

STAGES = ("fake", "web", "slack", "discord")
Rooms = Callable[..., AbstractAsyncContextManager[Bot]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Play a journey on the stages that its mark names; with `--thorough` on all."""
    if mark := metafunc.definition.get_closest_marker("stages"):
        more = STAGES if metafunc.config.getoption("--thorough") else ()
        metafunc.parametrize("platform", list(dict.fromkeys((*mark.args, *more))))


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
