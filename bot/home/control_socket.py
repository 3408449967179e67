"""Commands given while the bot serves: one JSON line each way over a socket in the home.

The caller sends `{"command": name, …}`; the server streams `{"line": …}`, `{"progress": …}` and ends
with `{"code": 0}`, or `{"error": sentence, "code": 1}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from bot.home.home import SOCKET
from core.errors import ThreadloreError

log = logging.getLogger(__name__)

LINE_BYTES = 64 * 1024 * 1024
"""Longest request or reply; a batch of questions travels in one."""
STOP_SECONDS = 2.0
"""Time that commands under way get to say that they are given up."""
NO_REQUEST = "That is no request: write one JSON object on a line."
STOPPED = "The serving process ended before it was done; give the command again."
Send = Callable[[dict[str, Any]], Awaitable[None]]
Handle = Callable[[dict[str, Any], Send], Awaitable[None]]


class Control:
    """Listens in the home and carries out what other processes ask.

    What `ends_with_caller` says so of is given up when its caller goes away.
    """

    def __init__(
        self,
        home: Path,
        handle: Handle,
        ends_with_caller: Callable[[dict[str, Any]], bool] = lambda _: False,
    ) -> None:
        self._home = home
        self._handle = handle
        self._ends_with_caller = ends_with_caller
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Listen; a socket left by a dead process is replaced (the home's lock says that it is dead)."""
        with contextlib.suppress(FileNotFoundError):
            (self._home / SOCKET).unlink()
        with _short(self._home) as path:
            self._server = await asyncio.start_unix_server(self._serve, path, limit=LINE_BYTES)
        (self._home / SOCKET).chmod(0o600)

    async def stop(self) -> None:
        """Listen no more, and give up what is being carried out; its callers are told."""
        if self._server is not None:
            self._server.close()
        with contextlib.suppress(FileNotFoundError):
            (self._home / SOCKET).unlink()
        for call_ in self._calls:
            call_.cancel()
        if self._calls:
            await asyncio.wait(self._calls, timeout=STOP_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send(message: dict[str, Any]) -> None:
            writer.write(json.dumps(message).encode() + b"\n")
            await writer.drain()

        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            request = await _request(reader)
            if request is None:
                log.warning("the control socket was sent what is no request")
                await send({"error": NO_REQUEST, "code": 2})
                return
            try:
                async with _until_left(reader, self._ends_with_caller(request)):
                    await self._handle(request, send)
            except ThreadloreError as error:
                await send({"error": str(error), "code": error.exit_code})
        except ConnectionError:
            log.debug("a caller went away")
        except asyncio.CancelledError:
            with contextlib.suppress(ConnectionError):
                await send({"error": STOPPED, "code": 1})
        except Exception:  # one command that fails must not end the server
            log.exception("a command over the socket failed")
            with contextlib.suppress(ConnectionError):
                await send({"error": "The serving process failed; its log says why.", "code": 1})
        finally:
            self._calls.discard(task)
            writer.close()


async def _request(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """Read what another process asks; None where it is no JSON object, or longer than a line may be."""
    try:
        read = json.loads(await reader.readline() or b"{}")
    except (ValueError, RecursionError):  # also one that is no UTF-8
        return None
    return read if isinstance(read, dict) else None


async def call(home: Path, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Send a request to the serving process and yield what it streams.

    The last message always has a `code`. Raises ConnectionError where nobody serves.
    """
    try:
        with _short(home) as path:
            reader, writer = await asyncio.open_unix_connection(path, limit=LINE_BYTES)
    except OSError as error:
        raise ConnectionError("nobody serves this home") from error
    try:
        ended = False
        with contextlib.suppress(ConnectionError):
            writer.write(json.dumps(request).encode() + b"\n")
            await writer.drain()
            while line := await reader.readline():
                message = json.loads(line)
                ended = ended or "code" in message
                yield message
        if not ended:
            yield {"error": STOPPED, "code": 1}
    finally:
        writer.close()


@contextlib.asynccontextmanager
async def _until_left(reader: asyncio.StreamReader, ends: bool) -> AsyncIterator[None]:
    """Cancel the body when the caller closes its end, where that is to end it."""
    task = asyncio.current_task()
    assert task is not None

    async def left() -> None:
        with contextlib.suppress(ConnectionError):
            while await reader.read(LINE_BYTES):
                pass
        log.info("a command is stopped: its caller went away")
        task.cancel()

    watch = asyncio.create_task(left()) if ends else None
    try:
        yield
    finally:
        if watch is not None:
            watch.cancel()


@contextlib.contextmanager
def _short(home: Path) -> Any:
    """Yield a path to the socket that fits the 108 bytes a socket's name may have, however deep the home."""
    path = str(home / SOCKET)
    if len(os.fsencode(path)) < 100:
        yield path
        return
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{SOCKET}"
    finally:
        os.close(folder)
