"""A real `threadlore serve` that is ended by SIGKILL, and what it is asked over its socket."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.home.control_socket import call
from bot.home.home import SOCKET
from tests import forked
from tests.journeys.house import Kettle

START_SECONDS = 120.0
TAIL = 4000
"""Characters of the log that are shown where the process fails."""


class Died(Exception):
    """The process ended although nobody killed it, or does not start."""


class Refused(Exception):
    """The process carried the command out and says that it failed."""


class Killed(Exception):
    """The process was killed before it said how the command went."""


@dataclass
class Reply:
    """What a command said, and how long it took."""

    lines: list[str]
    messages: list[dict[str, Any]]
    ms: float


class Process:
    """One home, served by one process after another."""

    def __init__(self, kettle: Kettle) -> None:
        self.kettle = kettle
        self.killed = False
        self._child: forked.Forked | None = None

    async def start(self, kill_after: float | None = None) -> float:
        """Start it; return the seconds until it listens.

        With `kill_after` it is killed so many seconds after its start, wherever it is then.
        Raises Died where it ends by itself or does not listen in time.
        """
        self.killed = False
        socket = self.kettle.home / SOCKET
        socket.unlink(missing_ok=True)
        began = time.monotonic()
        given = self.kettle.variables(THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0")
        with (self.kettle.folder / "serve.log").open("ab") as log, open(os.devnull, "rb") as nothing:
            files = (nothing.fileno(), log.fileno(), log.fileno())
            self._child = forked.fork(["serve"], given, self.kettle.folder, files)
        while not await _listens(self.kettle.home):
            if kill_after is not None and time.monotonic() - began >= kill_after:
                await self.kill()
                return time.monotonic() - began
            if self._child.returncode is not None:
                raise Died(f"it ended with {self._child.returncode} while starting:\n{self.log()}")
            if time.monotonic() - began > START_SECONDS:
                raise Died(f"it does not listen after {START_SECONDS:.0f} s:\n{self.log()}")
            await asyncio.sleep(0.02)
        return time.monotonic() - began

    async def kill(self) -> None:
        """End it as `kill -9` does."""
        self.killed = True
        if self._child is not None and self._child.returncode is None:
            self._child.kill()
            await self._child.wait()

    async def ask(self, **request: Any) -> Reply:
        """Give a command; raises Refused, Killed, or Died."""
        began = time.monotonic()
        try:
            messages = [message async for message in call(self.kettle.home, request)]
        except ConnectionError:
            messages = []
        last = messages[-1] if messages else {}
        if self._child is not None and self._child.returncode is not None and not self.killed:
            raise Died(f"it ended with {self._child.returncode}:\n{self.log()}")
        if last.get("code") == 0:
            lines = [str(m["line"]) for m in messages if "line" in m]
            return Reply(lines, messages, (time.monotonic() - began) * 1000)
        if self.killed:
            raise Killed
        if not messages or str(last.get("error", "")).startswith("The serving process"):
            await asyncio.sleep(0.2)  # it may just have been killed, or have died
            if self.killed:
                raise Killed
            raise Died(f"it does not carry out {request}: {last}\n{self.log()}")
        raise Refused(f"{request.get('command')}: {messages[-3:]}")

    def log(self) -> str:
        """Return the end of what it wrote."""
        return (self.kettle.folder / "serve.log").read_text("utf-8", "replace")[-TAIL:]


async def _listens(home: Path) -> bool:
    """Return True if somebody takes commands: a socket is there a moment before it does."""
    if not (home / SOCKET).exists():
        return False
    try:
        async for _ in call(home, {"command": "nothing"}):
            pass
    except ConnectionError:
        return False
    return True
