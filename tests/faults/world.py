"""A bot in a process of its own, what it acknowledged, and whether all of that is there."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psycopg

from tests.journeys.house import Kettle
from tests.journeys.kettle import PORTS
from tests.journeys.test_no_room import Page

ROOT = Path(__file__).parents[2]
PORT = "Which port does the dashboard listen on"
PATIENCE = 180.0
"""Seconds after which a bot does not serve again."""
LOOK = 0.05


class CannotBeInjected(Exception):
    """Says what a fault needs that this machine lacks."""


def command(*words: str) -> str:
    """Carry out a program and return what it says; raises CannotBeInjected where it fails."""
    if shutil.which(words[0]) is None:
        raise CannotBeInjected(f"{words[0]} is not there")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotBeInjected(f"{' '.join(words)}: {done.stderr.strip()[-200:]}")
    return done.stdout


@dataclass
class World:
    """One home, its process, and what people did there."""

    kettle: Kettle
    variables: dict[str, str]
    port: int
    page: Page
    url: str = ""
    """The database's, where it is PostgreSQL."""
    child: asyncio.subprocess.Process | None = None
    asked: dict[str, str] = field(default_factory=dict)
    """What was acknowledged: the message, and what its answer has to say."""
    voted: int = 0
    numbers: int = 0
    notes: list[str] = field(default_factory=list)

    # --- the process ------------------------------------------------------------------------------

    async def start(self, wait: bool = True, **more: str) -> None:
        """Start it, and wait until a release answers."""
        with (self.kettle.folder / "serve.log").open("ab") as log:
            self.child = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "bot", "serve"),
                cwd=self.kettle.folder,
                env={**self.kettle.variables(**self.variables), "PYTHONPATH": str(ROOT), **more},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        if wait:
            await self.until(self.is_ready, "it is ready")

    async def kill(self) -> None:
        """End it as a power cut does."""
        if self.child is not None:
            with contextlib.suppress(ProcessLookupError):
                self.child.kill()
            await self.child.wait()

    async def is_ready(self) -> bool:
        """Return True if it serves; raises AssertionError where it ended by itself."""
        assert self.child is None or self.child.returncode is None, self.log()
        try:
            return (await self.page.call("GET", "/readyz"))[0] == 200
        except aiohttp.ClientError:
            return False

    def log(self) -> str:
        """Return the end of what it wrote."""
        return (self.kettle.folder / "serve.log").read_text("utf-8", "replace")[-3000:]

    async def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait until an awaited condition holds."""
        end = time.monotonic() + PATIENCE
        while not (found := await condition()):
            assert time.monotonic() < end, f"{what}: this did not happen.\n{self.log()}"
            await asyncio.sleep(LOOK)
        return found

    # --- what people do -----------------------------------------------------------------------------

    async def say(self) -> str:
        """Ask something new; return its message once the bot acknowledged it, empty where it does not."""
        self.numbers += 1
        try:
            given = {"person": "ada", "channel": "help", "text": f"{PORT} ({self.numbers})?"}
            status, told = await self.page.call("POST", "/api/messages", **given)
        except (aiohttp.ClientError, TimeoutError):
            return ""
        if status != 201:
            return ""
        self.asked[str(told["id"])] = PORTS["2.0"]
        return str(told["id"])

    async def answer_to(self, root: str) -> dict[str, Any] | None:
        """Return the finished answer in a thread; None while there is none."""
        try:
            replies = await self.page.replies(root)
        except (aiohttp.ClientError, TimeoutError, KeyError):  # an error has no messages
            return None
        done = [m for m in replies if m["final"] and m.get("answer") and PORTS["2.0"] in m["text"]]
        return done[0] if done else None

    async def reads(self, root: str) -> str:
        """Return how what people read in a thread begins."""
        try:
            replies = await self.page.replies(root) if root else []
        except (aiohttp.ClientError, TimeoutError, KeyError):  # an error has no messages
            return "that nothing can be saved"
        return f"“{replies[0]['text'][:40]}…”" if replies else "nothing"

    async def ask(self) -> dict[str, Any]:
        """Ask until there is an answer, and return it."""
        root = await self.until(self.say, "a question is taken")
        return dict(await self.until(lambda: self.answer_to(root), "it is answered"))

    async def vote(self, answer: dict[str, Any]) -> None:
        """Vote for an answer; it is counted when the emoji stands there."""
        given = {"person": "ada", "message": answer["id"], "emoji": "👍", "added": True}
        status, told = await self.page.call("POST", "/api/reactions", **given)
        assert status == 200 and told["reactions"]["👍"] == ["ada"], told
        self.voted += 1

    # --- what is there ------------------------------------------------------------------------------

    def execute(self, statement: str) -> list[Any]:
        """Read the database beside the bot."""
        if self.url:
            with psycopg.connect(self.url, autocommit=True) as server:
                return list(server.execute(statement).fetchall())
        file = self.kettle.home / "threadlore.sqlite3"
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            return database.execute(statement).fetchall()

    async def lost(self) -> list[str]:
        """Return what was acknowledged and is not there."""
        for root in self.asked:
            with contextlib.suppress(AssertionError):
                await self.until(lambda root=root: self.answer_to(root), "an answer")
        gone = [f"the answer to {root}" for root in self.asked if not await self.answer_to(root)]
        [(votes,)] = self.execute("SELECT count(*) FROM votes")
        gone += [f"{self.voted - votes} votes"] if votes < self.voted else []
        several = [root for root in self.asked if len(await self.page.replies(root)) != 1]
        return gone + [f"{len(several)} questions have not one reply"] * bool(several)


@asynccontextmanager
async def world(kettle: Kettle, url: str = "", **variables: str) -> AsyncIterator[World]:
    """Serve a home whose bot has answered three questions and counted a vote on each."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    given = {
        "THREADLORE_PLAYGROUND": "true",
        "THREADLORE_PORT": str(port),
        "DISK_RESERVE_MB": "0",
        **variables,
    }
    given |= {"DATABASE_URL": url} if url else {}
    timeout = aiohttp.ClientTimeout(total=10.0)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        made = World(kettle, given, port, Page(session, f"http://127.0.0.1:{port}"), url)
        try:
            yield made
        finally:
            await made.kill()


async def lived_in(made: World, **more: str) -> None:
    """Start it, and have three questions asked, answered and voted on."""
    await made.start(**more)
    for _ in range(3):
        answer = await made.ask()
        await asyncio.sleep(0.3)  # until the message of the answer is noted
        await made.vote(answer)
