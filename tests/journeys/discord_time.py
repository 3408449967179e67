"""Dispatch outside of the time that simcord simulates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bot.ports.chat import unheard


class InRealTime:
    """Dispatch, but questions are answered by tasks that simcord does not know: it would hold their clocks,
    and a model that hangs would never be given up."""

    def __init__(self, dispatch: Any) -> None:
        self._dispatch = dispatch
        self._asked: asyncio.Queue[tuple[Any, asyncio.Future[None]]] = asyncio.Queue()
        self._answering = asyncio.create_task(self._answer())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatch, name)

    async def message(self, chat: Any, message: Any, taken: Callable[[], None] = unheard) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((self._dispatch.message(chat, message, taken), done))
        await done

    async def _answer(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                work, done = await self._asked.get()
                group.create_task(self._one(work, done))

    async def _one(self, work: Any, done: asyncio.Future[None]) -> None:
        try:
            await work
        except Exception as error:  # whoever handed it over is told
            if not done.done():
                done.set_exception(error)
        finally:
            if not done.done():
                done.set_result(None)

    async def close(self) -> None:
        self._answering.cancel()
        await asyncio.gather(self._answering, return_exceptions=True)
