"""What a scenario is, and how one is played on one platform.

A scenario is a name, a line of what is expected, and a function like a journey test's: it asks for
what it needs by the names of its parameters.

    platform   the name of the platform: slack, discord or web
    kettle     a copy of Kettle's home, to be changed freely
    bot        the whole bot on that home, without a model
    ollama     the loopback model's server
    writer     the whole bot with that model
"""

from __future__ import annotations

import asyncio
import inspect
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.journeys.house import Kettle, house
from tests.ollama_server import OllamaServer

PLATFORMS = ("slack", "discord", "web")
LONGEST = 120.0
"""Seconds after which a scenario has failed."""


@dataclass(frozen=True)
class Scenario:
    """One thing that people live through; the same is expected on every platform."""

    name: str
    expects: str
    play: Callable[..., Awaitable[None]]

    @property
    def of_journeys(self) -> bool:
        """Return True if the function is a journey test, which pytest plays itself."""
        return self.play.__module__.startswith("tests.journeys.")


@dataclass(frozen=True)
class Outcome:
    """How a scenario went on a platform; `problem` is empty where it passed."""

    name: str
    platform: str
    seconds: float
    problem: str = ""


async def play(scenario: Scenario, platform: str, kettle: Kettle) -> None:
    """Play a scenario on a home of its own; raises what it raises."""
    wanted = inspect.signature(scenario.play).parameters
    given: dict[str, Any] = {"platform": platform, "kettle": kettle}
    async with AsyncExitStack() as stack:
        if "ollama" in wanted:
            given["ollama"] = await stack.enter_async_context(OllamaServer())
        if "bot" in wanted:
            given["bot"] = await stack.enter_async_context(house(kettle))
        if "writer" in wanted:
            model = house(kettle, ollama_host=given["ollama"].url)
            given["writer"] = await stack.enter_async_context(model)
        async with asyncio.timeout(LONGEST):
            await scenario.play(**{name: given[name] for name in wanted})


async def outcome(scenario: Scenario, platform: str, indexed: Kettle, folder: Path) -> Outcome:
    """Play a scenario on a copy of an indexed home and tell how it went."""
    began, problem = time.perf_counter(), ""
    try:
        await play(scenario, platform, indexed.copy(folder))
    except Exception as error:  # the table tells of it
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "/tests/" in f.filename]
        where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].line})" if frames else ""
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:400] + where
    return Outcome(scenario.name, platform, time.perf_counter() - began, problem)
