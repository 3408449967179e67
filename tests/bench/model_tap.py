"""What a model server is asked and what it writes: a proxy in front of it that keeps both."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web


@dataclass(slots=True)
class Call:
    """One call: what was asked, what came back, and why it ended."""

    body: dict[str, Any]
    status: int = 0
    text: str = ""
    finish: str = ""
    tokens: dict[str, int] = field(default_factory=dict)

    @property
    def asked(self) -> str:
        """Return what the model was given beside its instructions."""
        return "\n".join(m["content"] for m in self.body["messages"] if m["role"] == "user")

    @property
    def writes(self) -> bool:
        """Return True if it asked for an answer, and not for a step before it."""
        return "response_format" not in self.body

    @property
    def repairs(self) -> bool:
        """Return True if it asked for an answer once more, with its faults named."""
        return self.writes and "without these faults" in self.asked


class Tap:
    """A server on 127.0.0.1 that hands on every request to `upstream`, and keeps the chats in `calls`."""

    def __init__(self, upstream: str) -> None:
        self.calls: list[Call] = []
        self.url = ""
        self._upstream = upstream
        self._runner: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Tap:
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._hand_on)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._runner is not None and self._session is not None
        await self._runner.cleanup()
        await self._session.close()

    async def _hand_on(self, request: web.Request) -> web.StreamResponse:
        assert self._session is not None
        body = await request.read()
        call = Call(json.loads(body)) if request.path.endswith("/chat/completions") else None
        if call is not None:
            self.calls.append(call)
        headers = {"Content-Type": request.headers.get("Content-Type", "application/json")}
        url = self._upstream + request.path_qs
        async with self._session.request(request.method, url, data=body, headers=headers) as answer:
            response = web.StreamResponse(
                status=answer.status, headers={"Content-Type": answer.headers.get("Content-Type", "")}
            )
            await response.prepare(request)
            read = bytearray()
            try:
                async for piece in answer.content.iter_any():
                    read += piece
                    await response.write(piece)
            finally:
                if call is not None:
                    _note(call, answer.status, read.decode("utf-8", "replace"))
            await response.write_eof()
            return response


def _note(call: Call, status: int, read: str) -> None:
    """Keep what a stream of events said."""
    call.status = status
    if status != 200:
        call.text = read
        return
    for line in read.split("\n"):
        if not line.startswith("data: {"):
            continue
        try:
            event = json.loads(line[6:])
        except ValueError:  # cut in the middle
            continue
        for choice in event.get("choices") or ():
            call.text += (choice.get("delta") or {}).get("content") or ""
            call.finish = choice.get("finish_reason") or call.finish
        call.tokens = event.get("usage") or call.tokens
