"""A home that is asked over and over: through whoever serves it, else by this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from bot.home.control_socket import Control, Send, call
from bot.operations.application import Application
from core.errors import HomeBusy, ThreadloreError, UsageError
from core.settings import Settings

RETRY_SECONDS = 0.2


class Home:
    """Sends requests to the process that serves; where none does, becomes that process itself.

    Other programs of the same home, a second editor among them, then go through this one.
    """

    def __init__(self, settings: Settings, opened: AsyncExitStack) -> None:
        self._settings = settings
        self._opened = opened
        self._app: Application | None = None
        self._opening = asyncio.Lock()

    async def ask(self, request: dict[str, Any]) -> Any:
        """Return what a request gives, as JSON holds it.

        Raises UsageError for a request that is wrong, ThreadloreError with what went wrong otherwise.
        """
        said: list[dict[str, Any]] = []
        if self._app is None:
            try:
                said = [message async for message in call(self._settings.home, request)]
                return _value(said)
            except ConnectionError:
                async with self._opening:
                    if self._app is None:
                        await self._open()

        async def keep(message: dict[str, Any]) -> None:
            said.append(message)

        if self._app is None:  # somebody began to serve meanwhile
            await asyncio.sleep(RETRY_SECONDS)
            return await self.ask(request)
        await self._handle(request, keep)
        return _value(said)

    async def _open(self) -> None:
        from bot.app.bootstrap import build

        try:
            self._app = await self._opened.enter_async_context(build(self._settings, "mcp"))
        except HomeBusy:
            return
        control = Control(self._settings.home, self._handle)
        await control.start()
        self._opened.push_async_callback(control.stop)

    async def _handle(self, request: dict[str, Any], send: Send) -> None:
        from bot.commands.command_line import handle

        assert self._app is not None
        await handle(self._app, request, send)


def _value(said: list[dict[str, Any]]) -> Any:
    for message in said:
        if "error" in message:
            is_wrong = message.get("code") == UsageError.exit_code
            raise (UsageError if is_wrong else ThreadloreError)(str(message["error"]))
    lines = [message["line"] for message in said if "line" in message]
    if not lines:
        raise ThreadloreError("The process that serves ended before it was done; ask again.")
    return json.loads(lines[0])


@asynccontextmanager
async def home(settings: Settings) -> AsyncIterator[Home]:
    """Hold a home for as long as somebody asks it."""
    async with AsyncExitStack() as opened:
        yield Home(settings, opened)
