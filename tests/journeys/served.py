"""The playground with the whole bot behind it, served to a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from tests.journeys.house import Bot, Kettle, house
from tests.ollama_server import OllamaServer
from tests.platforms.browser import in_a_thread
from tests.platforms.web_client import Client, serving

Prepare = Callable[[Bot], Awaitable[None]]


def served(
    kettle: Kettle, prepare: Prepare | None = None, says: Sequence[str] = ()
) -> AbstractContextManager[str]:
    """Serve the playground of a home from another thread, once `prepare` is done; yields its address.

    With `says` there is a model, which says this, one after the other.
    """

    @asynccontextmanager
    async def whole() -> AsyncIterator[Client]:
        async with AsyncExitStack() as opened:
            ollama = await opened.enter_async_context(OllamaServer()) if says else None
            if ollama is not None:
                ollama.say(*says)
            bot = await opened.enter_async_context(house(kettle, ollama_host=ollama.url if ollama else "off"))
            if prepare is not None:
                await prepare(bot)
            settings = bot.settings.model_copy(update={"playground": True, "port": 0})
            given: Any = bot.dispatch
            async with serving(settings, given) as client:
                yield client

    return in_a_thread(whole)
