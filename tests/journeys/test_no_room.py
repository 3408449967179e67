"""The disk is full: people are told so, nothing seems to be kept that is not, and all is answered afterwards.

A child process may write no file beyond a size, which is what a full disk is to everything in it.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.journeys.child import Served, serving
from tests.journeys.house import Kettle
from tests.journeys.kettle import PORTS
from tests.patience import PATIENCE

PORT = "Which port does the dashboard listen on?"


class Page:
    """The playground as one person's page sees it."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session, self._url = session, url

    async def call(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        given: dict[str, Any] = {"json": body} if body else {}
        async with self._session.request(method, self._url + path, **given) as answer:
            return answer.status, await answer.json()

    async def messages(self) -> list[dict[str, Any]]:
        _, told = await self.call("GET", "/api/state?person=ada")
        return list(told["messages"])

    async def say(self, text: str) -> str:
        status, told = await self.call("POST", "/api/messages", person="ada", channel="help", text=text)
        assert status == 201, told
        return str(told["id"])

    async def replies(self, root: str) -> list[dict[str, Any]]:
        return [m for m in await self.messages() if m["thread"] == root and not m["only"]]

    async def until(self, root: str, part: str, *, final: bool = False) -> dict[str, Any]:
        """Wait until one reply stands in a thread that says so (`final`: the whole of it), and return it."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            found = await self.replies(root)
            if len(found) == 1 and part in found[0]["text"] and (found[0]["final"] or not final):
                return found[0]
            assert asyncio.get_running_loop().time() < end, f"{part!r} is not in {found}"
            await asyncio.sleep(0.05)

    async def ready(self, wanted: int) -> dict[str, Any]:
        """Wait until `/readyz` has that status, and return what it says."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            status, told = await self.call("GET", "/readyz")
            if status == wanted:
                return dict(told)
            assert asyncio.get_running_loop().time() < end, f"{status} {told}"
            await asyncio.sleep(0.05)


@asynccontextmanager
async def page(kettle: Kettle) -> AsyncIterator[tuple[Page, Served]]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    variables = {"THREADLORE_PLAYGROUND": "true", "THREADLORE_PORT": str(port)}
    async with serving(kettle, **variables) as child, aiohttp.ClientSession() as session:
        opened = Page(session, f"http://127.0.0.1:{port}")
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            try:
                if (await opened.call("GET", "/readyz"))[0] == 200:
                    break
            except aiohttp.ClientError:
                pass
            assert asyncio.get_running_loop().time() < end, child.log
            await asyncio.sleep(0.05)
        yield opened, child


def fill(child: Served, full: bool) -> None:
    """Let the process write nothing more, or let it write again."""
    most = 1 if full else resource.RLIM_INFINITY
    resource.prlimit(child.process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


async def settled(kettle: Kettle) -> None:
    """Wait until every answer is written down with its message: only then a reaction on it is a vote."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while True:
        with sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True) as database:
            if database.execute("SELECT count(*) FROM claims WHERE answer_id IS NULL").fetchone() == (0,):
                return
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.05)


async def test_a_question_asked_while_the_disk_is_full_is_answered_in_its_place_afterwards(
    kettle: Kettle,
) -> None:
    async with page(kettle) as (ada, child):
        fill(child, True)
        root = await ada.say(PORT)
        told = await ada.until(root, "cannot save anything")
        assert "answer here as soon as I can" in told["text"]
        assert (await ada.ready(503))["why"]
        fill(child, False)
        answer = await ada.until(root, PORTS["2.0"])
        assert answer["id"] == told["id"]
        await ada.ready(200)


async def test_an_answer_that_cannot_be_kept_waits_and_says_so(kettle: Kettle) -> None:
    async with page(kettle) as (ada, child):
        first = await ada.say(PORT)
        await ada.until(first, PORTS["2.0"])
        roots = [await ada.say(f"{PORT} ({number})") for number in range(3)]
        fill(child, True)
        late = await ada.say("How do I run a job every night?")
        await ada.until(late, "cannot save anything")
        fill(child, False)
        for root in roots:
            await ada.until(root, PORTS["2.0"])
        found = await ada.until(late, "Every night", final=True)
        assert found["answer"]


async def test_a_vote_that_cannot_be_kept_does_not_stand_there(kettle: Kettle) -> None:
    async with page(kettle) as (ada, child):
        root = await ada.say(PORT)
        await ada.until(root, "Sources")
        await settled(kettle)
        answer = await ada.until(root, "Sources")
        fill(child, True)
        status, told = await ada.call(
            "POST", "/api/reactions", person="ada", message=answer["id"], emoji="👍", added=True
        )
        assert status == 200 and told["reactions"]["👍"] == [], told
        said = [m["text"] for m in await ada.messages() if m["only"]]
        assert any("does not count" in text for text in said), said
        status, told = await ada.call(
            "POST", "/api/presses", person="ada", message=answer["id"], name="up", value=answer["answer"]
        )
        assert status == 503 and "cannot save anything" in told["error"]
        [shown] = [m for m in await ada.messages() if m["id"] == answer["id"]]
        assert shown["reactions"]["👍"] == []
        fill(child, False)
        await ada.ready(200)
        status, told = await ada.call(
            "POST", "/api/reactions", person="ada", message=answer["id"], emoji="👍", added=True
        )
        assert told["reactions"]["👍"] == ["ada"]


async def test_a_command_that_cannot_be_noted_is_refused(kettle: Kettle) -> None:
    async with page(kettle) as (ada, child):
        fill(child, True)
        status, told = await ada.call(
            "POST", "/api/commands", person="ada", channel="help", text=f"/ask {PORT}"
        )
        assert status == 503 and "cannot save anything" in told["error"]
        assert not [m for m in await ada.messages() if m["only"]]
