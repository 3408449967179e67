"""The dashboard beside the playground, and what machines ask: `/readyz` and `/metrics`.

    GET /dashboard               the page
    GET /api/dashboard           its figures as JSON; ?days=7&release=3.1&channel=slack:C1 narrow them
    GET /api/threads?answers=…   links to the public conversations behind a figure, by answers' ids
    GET /api/progress            the index work that goes on, and how the last of each release ended
    GET /metrics                 the same for Prometheus
    GET /readyz                  200 once a release answers and answers can be kept, else 503 and `why`; and
                                 whether the bot is paused

All but `/readyz` want DASHBOARD_TOKEN where the server listens on more than this machine: as
`Authorization: Bearer …`, or once as `?token=…`, which the page keeps in a cookie of the browser session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aiohttp import web

from bot.platforms.web.http.guard import Token
from bot.platforms.web.http.requests import ApiError
from bot.ports.platforms import Figures
from core.settings import Settings

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

COOKIE = "threadlore_dashboard"
DAYS = 90
"""Days of which figures are shown at most."""
THREADS = 5
"""Conversations that are looked up at once."""
WANTED = "This needs the token: /dashboard?token=…, or an Authorization header."


class Dashboard:
    """Routes that show how everything is; they change nothing."""

    def __init__(
        self, settings: Settings, dispatch: Dispatch, page: bytes, *, local: bool, public: Callable[[], str]
    ) -> None:
        """`local` says whether the server is for this machine alone, `public` where others reach it."""
        self._token = Token(settings.dashboard_token.get_secret_value(), COOKIE, "/dashboard")
        self._dispatch = dispatch
        self._local, self._public = local, public
        self._page = page

    def add_to(self, app: web.Application) -> None:
        """Add the routes to a server."""
        app.router.add_get("/dashboard", self._show)
        app.router.add_get("/api/dashboard", self._figures)
        app.router.add_get("/api/threads", self._threads)
        app.router.add_get("/api/progress", self._progress)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/readyz", self._ready)

    async def _show(self, request: web.Request) -> web.Response:
        if opened := self._token.opened(request):
            return opened
        self._admit(request)
        return web.Response(body=self._page, content_type="text/html", charset="utf-8")

    async def _figures(self, request: web.Request) -> web.Response:
        self._admit(request)
        asked = request.query
        days = asked.get("days", "")
        span = min(max(int(days), 1), DAYS) if days.isascii() and days.isdigit() and len(days) < 5 else 30
        figures = await self._overview().figures(span, asked.get("release", ""), asked.get("channel", ""))
        named = {channel: await self._dispatch.place(channel) for channel in figures.get("channels", ())}
        return web.json_response({**figures, "channels": named})

    async def _threads(self, request: web.Request) -> web.Response:
        self._admit(request)
        wanted = request.query.get("answers", "").split(",")[:THREADS]
        found = [link for one in wanted if one and (link := await self._dispatch.thread(one))]
        here = self._public()
        return web.json_response([{**one, "link": one["link"].removeprefix(here)} for one in found])

    async def _progress(self, request: web.Request) -> web.Response:
        self._admit(request)
        return web.json_response(self._overview().progress())

    async def _metrics(self, request: web.Request) -> web.Response:
        self._admit(request)
        return web.Response(body=await self._overview().metrics(), content_type="text/plain", charset="utf-8")

    async def _ready(self, request: web.Request) -> web.Response:
        overview = self._dispatch.overview
        why = await overview.unready() if overview else "The bot is starting."
        paused = await self._dispatch.paused()
        told = {"ready": not why, "paused": paused} | ({"why": why} if why else {})
        return web.json_response(told, status=503 if why else 200)

    def _overview(self) -> Figures:
        if self._dispatch.overview is None:
            raise ApiError(503, "There are no figures yet; try again in a moment.")
        return self._dispatch.overview

    def _admit(self, request: web.Request) -> None:
        if self._local and not self._token:
            return
        if not self._token:
            raise ApiError(403, "Set DASHBOARD_TOKEN in .env to see this from another machine.")
        self._token.admit(request, WANTED)
