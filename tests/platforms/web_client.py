"""A client of the playground: calls its API and reads its stream like a page does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from bot.platforms.web.platform import Playground, connect
from bot.ports.chat import Choice, Control
from core.settings import Settings, load_settings
from tests.patience import PATIENCE
from tests.platforms.web_dispatch import FakeDispatch


def settings(home: Path, **more: object) -> Settings:
    return load_settings(None, home=home, **{"port": 0, **more})


class Client:
    """Talks to one playground like a page does."""

    def __init__(
        self, session: aiohttp.ClientSession, playground: Playground, dispatch: FakeDispatch
    ) -> None:
        self.session, self.playground, self.dispatch = session, playground, dispatch

    @property
    def token(self) -> str:
        """Return the token that the playground wants, empty where it wants none."""
        return str(getattr(self.playground, "link", "")).partition("?token=")[2]

    async def call(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        """Send a request, with the token where one is wanted and no `Authorization` is given."""
        given = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        options["headers"] = given | (options.get("headers") or {})
        async with self.session.request(method, self.playground.url + path, **options) as response:
            return response.status, await response.json()

    async def post(self, path: str, **body: Any) -> tuple[int, Any]:
        return await self.call("POST", path, json=body)

    async def say(self, text: str, person: str = "ada", channel: str = "help", thread: str = "") -> str:
        status, told = await self.post(
            "/api/messages", person=person, channel=channel, thread=thread, text=text
        )
        assert status == 201, told
        return str(told["id"])

    async def messages(self, person: str = "ada") -> list[dict[str, Any]]:
        _, told = await self.call("GET", f"/api/state?person={person}")
        return list(told["messages"])

    async def answer(self, root: str, person: str = "ada") -> dict[str, Any]:
        """Return the newest finished answer in a thread."""
        found: list[dict[str, Any]] = []

        async def there() -> bool:
            found[:] = [m for m in await self.messages(person) if m["thread"] == root and m["votable"]]
            return bool(found)

        await until(there)
        return found[-1]


def choices_of(entry: dict[str, Any]) -> tuple[Choice, ...]:
    """Return the choices of a control or a field, as the API tells it."""
    return tuple(Choice(**choice) for choice in entry["choices"])


def controls_of(post: dict[str, Any]) -> tuple[Control, ...]:
    """Return the controls of a message, as the API tells it."""
    return tuple(Control(**{**control, "choices": choices_of(control)}) for control in post["controls"])


async def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while True:
        value = condition()
        if await value if asyncio.iscoroutine(value) else value:
            return
        assert asyncio.get_running_loop().time() < end, "this did not happen in time"
        await asyncio.sleep(0.005)


@asynccontextmanager
async def serving(
    given: Settings, dispatch: FakeDispatch, kind: type[Any] = Playground
) -> AsyncIterator[Client]:
    playground: Any = connect(given, dispatch)  # type: ignore[arg-type]
    assert type(playground) is kind
    task = asyncio.create_task(playground.run())
    waiting = asyncio.create_task(playground.started.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        await task
    try:
        async with aiohttp.ClientSession() as session:
            yield Client(session, playground, dispatch)
    finally:
        await playground.stop()
        await asyncio.wait_for(task, PATIENCE)


class Stream:
    """Reads server-sent events."""

    def __init__(self, client: Client, person: str, since: str = "", last_id: str = "") -> None:
        self._client = client
        self._query = {"person": person} | ({"since": since} if since else {})
        self._headers = {"Last-Event-ID": last_id} if last_id else {}
        if client.token:
            self._headers["Authorization"] = f"Bearer {client.token}"

    async def __aenter__(self) -> Stream:
        url = f"{self._client.playground.url}/api/events"
        self.response = await self._client.session.get(url, params=self._query, headers=self._headers)
        assert self.response.status == 200
        assert await self._block() == {"retry": "1000"}
        return self

    async def __aexit__(self, *_: object) -> None:
        self.response.close()

    async def _block(self) -> dict[str, str]:
        lines = (await self.response.content.readuntil(b"\n\n")).decode().strip().split("\n")
        return dict(line.split(": ", 1) for line in lines)

    async def next(self) -> tuple[str, str, Any]:
        """Return kind, id and data of the next event."""
        block = await asyncio.wait_for(self._block(), PATIENCE)
        return block["event"], block["id"], json.loads(block["data"])

    async def until(self, wanted: str, **fields: Any) -> tuple[str, Any]:
        while True:
            kind, mark, data = await self.next()
            if kind == wanted and all(data[name] == value for name, value in fields.items()):
                return mark, data
