"""Who may talk to the playground's server, and what every answer of it says to browsers."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

from bot.platforms.web_requests import ApiError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def is_loopback(host: str) -> bool:
    """Tell whether a host name, with or without a port, can only mean this machine."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        return name == "localhost" or name.endswith(".localhost") or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guard:
    """A middleware: turns requests away, and mistakes into one sentence.

    `local` tells that the server is meant for this machine only.
    """

    def __init__(self, local: bool) -> None:
        self._local = local

    @web.middleware
    async def handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request, or say why not."""
        try:
            self._admit(request)
            response = await handler(request)
        except ApiError as error:
            response = web.json_response({"error": str(error)}, status=error.status)
        except web.HTTPException as error:
            response = web.json_response({"error": f"{error.reason}."}, status=error.status)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    def _admit(self, request: web.Request) -> None:
        # A page under another name (DNS rebinding) must not talk to a server meant for this machine only.
        if self._local and not is_loopback(request.host):
            raise ApiError(
                403, "This playground answers to localhost only; set THREADLORE_HOST to open it up."
            )
        origin = request.headers.get("Origin")
        foreign = origin is not None and urlsplit(origin).netloc.lower() != request.host.lower()
        if foreign or (request.path != "/" and request.headers.get("Sec-Fetch-Site") == "cross-site"):
            raise ApiError(403, "Requests from other sites are not taken.")
        if request.method not in ("GET", "HEAD") and request.content_type != "application/json":
            raise ApiError(415, "Send the body as application/json.")
