"""A page of another site: asks the widget's endpoints as a browser there does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from bot.platforms.web.platform import WithoutPlayground, connect
from core.settings import Settings
from tests.patience import PATIENCE

SITE = "https://docs.kettle.example"
PAGE = f"{SITE}/en/1.5/jobs.html"
Events = list[tuple[str, dict[str, Any]]]


@dataclass
class Reader:
    """Somebody on a page of a site; what a tab keeps is kept here."""

    session: aiohttp.ClientSession
    url: str
    origin: str = SITE
    page: str = PAGE
    conversation: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def another(self, **given: Any) -> Reader:
        """Return somebody else on the same server."""
        return Reader(self.session, self.url, **{"origin": self.origin, "page": self.page, **given})

    def sent(self, **body: Any) -> dict[str, Any]:
        told = {"page": self.page, "conversation": self.conversation, **body}
        return {"json": told, "headers": {"Origin": self.origin, **self.headers}}

    async def call(self, name: str, **body: Any) -> tuple[int, Any]:
        """Ask for something; return the status and what was told."""
        url = f"{self.url}/widget/api/{name}"
        async with self.session.post(url, **self.sent(**body)) as response:
            return response.status, await response.json()

    async def stream(self, name: str, **body: Any) -> tuple[int, Events]:
        """Follow an answer to its end; what was refused is one event, `refused`."""
        url = f"{self.url}/widget/api/{name}"
        async with self.session.post(url, **self.sent(**body)) as response:
            if response.status != 200:
                return response.status, [("refused", await response.json())]
            assert response.content_type == "text/event-stream"
            text = await asyncio.wait_for(response.text(), PATIENCE)
        frames = [frame.split("\n", 1) for frame in text.split("\n\n") if frame and frame[0] != ":"]
        events = [
            (kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in frames
        ]
        self.conversation = events[0][1]["conversation"]
        return 200, events

    async def ask(self, text: str, **body: Any) -> dict[str, Any]:
        """Ask a question and return the finished answer."""
        status, events = await self.stream("ask", text=text, **body)
        assert status == 200 and [kind for kind, _ in events if kind == "done"], events
        return events[-1][1]

    async def begun(self, text: str, **body: Any) -> dict[str, Any]:
        """Ask a question and return what was said before its answer."""
        status, events = await self.stream("ask", text=text, **body)
        assert status == 200 and events[0][0] == "begun", events
        return events[0][1]


@asynccontextmanager
async def widget(
    settings: Settings, dispatch: Any, kind: type[Any] = WithoutPlayground
) -> AsyncIterator[Reader]:
    """Serve the widget, and yield a reader of a site that may show it."""
    platform: Any = connect(settings, dispatch)
    assert type(platform) is kind
    task = asyncio.create_task(platform.run())
    waiting = asyncio.create_task(platform.started.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        await task
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            yield Reader(session, platform.url)
    finally:
        await platform.stop()
        await asyncio.wait_for(task, PATIENCE)
