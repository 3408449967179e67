"""The playground with the whole bot behind it, served to a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any

from tests.journeys.house import Bot, Kettle, house
from tests.platforms.browser import in_a_thread
from tests.platforms.web_client import Client, serving

Prepare = Callable[[Bot], Awaitable[None]]


def served(kettle: Kettle, prepare: Prepare | None = None) -> AbstractContextManager[str]:
    """Serve the playground of a home from another thread, once `prepare` is done; yields its address."""

    @asynccontextmanager
    async def whole() -> AsyncIterator[Client]:
        async with house(kettle) as bot:
            if prepare is not None:
                await prepare(bot)
            settings = bot.settings.model_copy(update={"playground": True, "port": 0})
            given: Any = bot.dispatch
            async with serving(settings, given) as client:
                yield client

    return in_a_thread(whole)
