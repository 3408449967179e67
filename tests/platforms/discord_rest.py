"""Discord's REST API on 127.0.0.1 in front of simcord's people and channels, for what has no gateway.

    async with discord_rest(env.backend) as rest:
        settings = load_settings(None, discord_token=TOKEN, discord_api_url=rest.url)

What simcord leaves out is done here: tokens, the intent's flag, pages of archived threads, waiting.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from discord import ApplicationFlags
from simcord.backend import Backend
from simcord.backend.errors import BackendError
from simcord.http import router

from tests.platforms.discord_server import TOKEN


class DiscordRest:
    """The server; `calls` are the paths that were asked for."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.url = ""
        self.calls: list[str] = []
        self.token = TOKEN
        self.texts = True
        """Whether the Message Content Intent is on."""
        self.page_size = 100
        self.too_often = 0
        """Calls that are answered by 429 from now on."""
        self.broken = False

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one call as Discord does."""
        path = "/" + request.match_info["path"]
        self.calls.append(path)
        if self.broken:
            return _json({"message": "upstream", "code": 0}, 503)
        if request.headers.get("Authorization") != f"Bot {self.token}":
            return _json({"message": "401: Unauthorized", "code": 0}, 401)
        if self.too_often:
            self.too_often -= 1
            body = {"message": "You are being rate limited.", "retry_after": 0.05, "global": False}
            return _json(body, 429, {"Retry-After": "1"})
        try:
            told = router.dispatch(
                self.backend,
                request.method,
                path,
                params=dict(request.query),
                message_content_access=self.texts,
            )
        except BackendError as error:
            return _json(error.to_json(), error.status)
        if path == "/oauth2/applications/@me":
            flags = ApplicationFlags()
            flags.gateway_message_content_limited = self.texts
            told = {**told, "flags": flags.value}
        if path.endswith("/threads/archived/public"):
            told = self._archive(told, request.query.get("before", "~"), int(request.query["limit"]))
        return _json(told, 200)

    def _archive(self, told: dict[str, Any], before: str, limit: int) -> dict[str, Any]:
        """Return a page of the archive, what went there last first."""

        def when(thread: dict[str, Any]) -> str:
            return str(thread["thread_metadata"]["archive_timestamp"])

        threads = sorted((t for t in told["threads"] if when(t) < before), key=when, reverse=True)
        size = min(limit, self.page_size)
        return {"threads": threads[:size], "members": [], "has_more": len(threads) > size}


def _json(body: Any, status: int, headers: dict[str, str] | None = None) -> web.Response:
    # discord.py parses a body as JSON only when its type is exactly this, without a charset
    kind = {"Content-Type": "application/json"}
    return web.Response(body=json.dumps(body).encode(), status=status, headers=kind | (headers or {}))


@asynccontextmanager
async def discord_rest(backend: Backend) -> AsyncIterator[DiscordRest]:
    """Serve on a free port of 127.0.0.1."""
    server = DiscordRest(backend)
    app = web.Application()
    app.router.add_route("*", "/api/v10/{path:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/v10"
    try:
        yield server
    finally:
        await runner.cleanup()
