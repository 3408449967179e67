"""The web server without a playground: beside Slack and Discord, or for the widget alone."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from aiohttp import web

from bot.platforms.web.dashboard import Dashboard
from bot.platforms.web.http.requests import ApiError
from bot.platforms.web.http.server import Server
from bot.platforms.web.people import PLATFORM
from bot.platforms.web.widget.widget import Widget
from core.settings import Settings

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

log = logging.getLogger(__name__)

NO_PLAYGROUND = (
    "There is no playground beside Slack and Discord unless THREADLORE_PLAYGROUND=true asks for it; "
    "/dashboard shows the figures."
)


class Figures:
    """Serves the dashboard, the widget and what machines ask, on the playground's port.

    With THREADLORE_PLAYGROUND=false there is no dashboard either, only the widget and the sign of life.
    """

    name = PLATFORM

    def __init__(self, settings: Settings, dispatch: Dispatch, widget: Widget | None = None) -> None:
        self._server = Server(settings, widget)
        self._has_dashboard = settings.playground is None
        if self._has_dashboard:
            self._server.app.router.add_get("/", self._none)
            self._server.add(lambda page: Dashboard(settings, dispatch, self._server.local, page))
        else:
            self._server.add(None)
        self.started = asyncio.Event()
        self._stopping = asyncio.Event()

    @property
    def url(self) -> str:
        """Return where it is served, empty while it is not."""
        return self._server.url

    async def run(self) -> None:
        """Serve until `stop`; raises PlatformRejected where the port cannot be had."""
        try:
            await self._server.start()
            self.started.set()
            if self._has_dashboard:
                log.info("the dashboard is on %s/dashboard; beside Slack and Discord no playground", self.url)
            else:
                log.info("the widget is on %s/widget.js; there is neither dashboard nor playground", self.url)
            await self._stopping.wait()
        finally:
            self.started.clear()
            await self._server.stop()

    async def stop(self) -> None:
        """Close the port."""
        self._stopping.set()

    async def _none(self, request: web.Request) -> web.Response:
        raise ApiError(404, NO_PLAYGROUND)
