"""The web server itself: it listens, says where, and why it cannot; and the pages that it has as files."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.platforms.web.dashboard import Dashboard
from bot.platforms.web.http.guard import Guard
from bot.platforms.web.post import MESSAGE
from bot.platforms.web.widget.widget import Widget
from core.errors import PlatformRejected
from core.settings import Settings

BODY_BYTES = 256 * 1024
"""Largest request body; four bytes for each of the characters a message may have, and escapes."""
_PAGE = Path(__file__).parents[1] / "playground"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}


class Server:
    """One port with the dashboard, the widget where there is one, what machines ask, and what is added to its
    routes before it starts.

    `url` is where it is, while it listens; `local` says whether it is meant for this machine alone.
    """

    def __init__(self, settings: Settings, widget: Widget | None = None) -> None:
        self.url = ""
        self._widget = widget
        self._open = ExitStack()
        self._host, self._port = settings.host, settings.port
        self._names = settings.allowed_hosts
        self._guard = Guard(settings.host, self._names, widget.sites if widget else None)
        self.local = self._guard.hosts.local
        self.app = web.Application(client_max_size=BODY_BYTES, middlewares=[self._guard.handle])
        self.page = {file.name: file.read_bytes() for file in _PAGE.iterdir() if file.suffix in _TYPES}
        self._runner: web.AppRunner | None = None

    @property
    def public(self) -> str:
        """Return where others find it: by the first name that a proxy has for it, else at `url`."""
        return f"https://{self._names[0]}" if self.url and self._names else self.url

    def is_own(self, address: str) -> bool:
        """Return True for an address, such as `http://localhost:8080`, by which this server is asked."""
        try:
            return self._guard.hosts.knows(urlsplit(address).netloc)
        except ValueError:  # no address at all
            return False

    def within(self, text: str) -> str:
        """Return Markdown whose links to messages open by whatever address somebody has the page."""
        for address in {self.url, self.public} - {""}:
            text = text.replace(f"]({address}{MESSAGE}", f"]({MESSAGE}")
        return text

    def add(self, dashboard: Callable[[bytes], Dashboard] | None) -> None:
        """Add the widget, the sign of life, and the dashboard with the files of the pages."""
        self.app.router.add_get("/healthz", self._health)
        if self._widget is not None:
            self._widget.add_to(self.app)
        if dashboard is None:
            return
        dashboard(self.page["dashboard.html"]).add_to(self.app)
        self.app.router.add_get("/{name}", self.show)

    async def start(self) -> None:
        """Listen; raises PlatformRejected where the port cannot be had."""
        self._runner = web.AppRunner(
            self.app,
            access_log=None,
            shutdown_timeout=2.0,
            logger=_logger(),
            auto_decompress=False,  # bodies are never unpacked: a small one could fill the memory
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            raise PlatformRejected(_refusal(self._host, self._port, error)) from None
        if self._widget is not None:
            self._open.enter_context(self._widget.running())
        bound, host = self._runner.addresses[0][1], self._host
        anywhere = ("0.0.0.0", "::", "")  # nosec B104 # compared with, not listened on
        shown = "127.0.0.1" if host in anywhere else f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{bound}"

    async def stop(self) -> None:
        """Listen no more."""
        if self._widget is not None:
            await self._widget.close()
        self._open.close()
        if self._runner is not None:
            await self._runner.cleanup()
        self.url = ""

    async def show(self, request: web.Request) -> web.Response:
        """Hand out a file of the pages; it is code, the same for everybody."""
        name = request.match_info.get("name", "index.html")
        if name not in self.page:
            raise web.HTTPNotFound
        return web.Response(body=self.page[name], content_type=_TYPES[Path(name).suffix], charset="utf-8")

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True})


def _logger() -> logging.Logger:
    """Return a log for what goes wrong on this side; what others send wrongly is no error of the bot's."""
    log = logging.getLogger("aiohttp.server.threadlore")
    log.filters[:] = [_is_ours]
    return log


def _is_ours(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _refusal(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else 8081
        return (
            f"Port {port} on {host} is taken; stop what uses it, or choose another with --port {other} "
            f"or THREADLORE_PORT={other}."
        )
    if error.errno == errno.EACCES:
        return (
            f"Port {port} needs rights this user lacks; choose one above 1023 with --port or THREADLORE_PORT."
        )
    reason = error.strerror or error
    return f"Cannot listen on {host}:{port} ({reason}); correct THREADLORE_HOST or THREADLORE_PORT."
