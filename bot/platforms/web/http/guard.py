"""Which requests the web server takes, what its answers say to browsers, and the tokens that open pages.

A token is sent as a header, or once in a link, after which a cookie of the browser has it.
"""

from __future__ import annotations

import hmac
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from html import escape
from typing import Protocol
from urllib.parse import quote

from aiohttp import web

from bot.platforms.web.http.requests import ApiError
from core.errors import StorageUnavailable
from core.languages import _
from core.system.hosts import HOST, KnownHosts, name_of

log = logging.getLogger(__name__)

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
MACHINES = frozenset({"/healthz", "/readyz", "/metrics"})
"""What monitors ask, by whatever name they know the server; it changes nothing and shows nobody's words."""
PAGES = frozenset({"/", "/dashboard"})
"""What a link on another site may open, in a window of its own."""
_SAID = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Threadlore</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="/style.css"></head>
<body class="said"><main><h1>Threadlore</h1><p>{sentence}</p></main></body></html>
"""
_ORIGIN = re.compile(rf"([a-z][a-z0-9+.-]*)://({HOST.pattern})", re.IGNORECASE)


class Guests(Protocol):
    """Says which paths pages of other sites may ask, and which of these sites."""

    def takes(self, path: str) -> bool:
        """Return True for a path that is meant for them."""

    def admit(self, path: str, origin: str | None) -> None:
        """Raise ApiError unless a page of that origin may ask for that path."""

    def headers(self, path: str, origin: str | None) -> Mapping[str, str]:
        """Return what an answer tells the browser instead of `HEADERS`, or beside them."""


class Guard:
    """A middleware: turns requests away, and mistakes into one sentence.

    `host` is what the server listens on, `allowed` are the names that a proxy in front of it is known by,
    `guests` says what pages of other sites may ask; everything else is for the server's own pages.
    """

    def __init__(self, host: str, allowed: Collection[str] = (), guests: Guests | None = None) -> None:
        self._guests = guests
        self.hosts = KnownHosts(host, allowed)

    @web.middleware
    async def handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request, or say why not."""
        try:
            self._admit(request)
            response = await handler(request)
        except ApiError as error:
            response = _told(request, str(error), error.status)
        except StorageUnavailable as error:
            log.error("%s is not answered: %s", request.path, error)
            response = web.json_response({"error": _(error.told)}, status=503)
        except web.HTTPException as error:
            response = _told(request, f"{error.reason}.", error.status)
        except ConnectionResetError:  # who asked went away in the middle of it, and hears no answer
            response = web.json_response({"error": "The request ended early."}, status=400)
        if not response.prepared:
            response.headers.update(HEADERS)
            if self._guests is not None and self._guests.takes(request.path):
                response.headers.update(self._guests.headers(request.path, request.headers.get("Origin")))
        return response

    def _admit(self, request: web.Request) -> None:
        by_any_name = not self.hosts.local and request.path in MACHINES
        host = _only(request, "Host")
        if host is None and by_any_name:  # HTTP/1.0, as some balancers speak it
            host = ""
        elif host is None or not HOST.fullmatch(host):
            raise ApiError(400, "The Host header is missing, or no name and no address.")
        elif not (by_any_name or self.hosts.knows(host)):
            raise ApiError(403, self.hosts.refusal(host))
        origin = _only(request, "Origin")
        if self._guests is not None and self._guests.takes(request.path):
            self._guests.admit(request.path, origin)
            without_body: tuple[str, ...] = ("GET", "HEAD", "OPTIONS")
        else:
            self._admit_own(request, origin, host)
            without_body = ("GET", "HEAD")
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise ApiError(415, "Send the body as it is, not compressed.")
        if request.method not in without_body and request.content_type != "application/json":
            raise ApiError(415, "Send the body as application/json.")

    def _admit_own(self, request: web.Request, origin: str | None, host: str) -> None:
        """Take a request only from the server's own pages, or from no page at all."""
        if origin is not None and not self._is_same(origin, host):
            raise ApiError(403, "Requests from other sites are not taken.")
        if request.headers.get("Sec-Fetch-Site") == "cross-site" and not _opens_a_page(request):
            raise ApiError(403, "Requests from other sites are not taken.")

    def _is_same(self, origin: str, host: str) -> bool:
        """Return True if a page of that origin is one of this server, by its own name or by a proxy's."""
        found = _ORIGIN.fullmatch(origin)
        if found is None and origin != "null":
            raise ApiError(400, "The Origin header is not the address of a site.")
        place = found[2] if found else ""
        return bool(place) and (place.lower() == host.lower() or name_of(place) in self.hosts.allowed)


def _told(request: web.Request, sentence: str, status: int) -> web.Response:
    """Say what is wrong: to somebody who opened an address in a window as a page, to programs as JSON."""
    if request.method != "GET" or request.headers.get("Sec-Fetch-Dest") != "document":
        return web.json_response({"error": sentence}, status=status)
    page = _SAID.format(sentence=escape(sentence))
    return web.Response(text=page, status=status, content_type="text/html", charset="utf-8")


def _opens_a_page(request: web.Request) -> bool:
    """Return True if somebody follows a link to a page; what is shown in one of another site does not."""
    sent = request.headers
    is_document = (sent.get("Sec-Fetch-Mode"), sent.get("Sec-Fetch-Dest")) == ("navigate", "document")
    return request.method == "GET" and request.path in PAGES and is_document


def _only(request: web.Request, name: str) -> str | None:
    """Return a header that may stand there once; None where it does not."""
    found = request.headers.getall(name, [])
    if len(found) > 1:
        raise ApiError(400, f"There is more than one {name} header.")
    return found[0] if found else None


class Token:
    """One token, and the page that a link with it opens; without a `secret` it opens nothing."""

    def __init__(self, secret: str, cookie: str, page: str) -> None:
        self._secret = secret.strip()
        self._cookie = cookie
        self._page = page

    def __bool__(self) -> bool:
        return bool(self._secret)

    @property
    def link(self) -> str:
        """Return the path that opens the page."""
        return f"{self._page}?token={quote(self._secret, safe='')}" if self._secret else self._page

    def opened(self, request: web.Request) -> web.Response | None:
        """Return the way on, with the cookie, for a request that has the token in its address.

        A token that somebody put there as it stands in `.env` is read so, too: with its + & and %. The cookie
        goes with links on other sites, but with no request of theirs that changes anything.
        """
        read, as_it_is = request.query.get("token", ""), request.raw_path.partition("?token=")[2]
        if not any(map(self._is, (read, read.replace(" ", "+"), as_it_is))):
            return None
        response = web.Response(status=303, headers={"Location": self._page})
        response.set_cookie(self._cookie, self._secret, httponly=True, samesite="Lax", path="/")
        return response

    def admit(self, request: web.Request, otherwise: str) -> None:
        """Raise ApiError with that sentence unless a request has the token, as a header or a cookie."""
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not (self._is(bearer) or self._is(request.cookies.get(self._cookie, ""))):
            raise ApiError(401, otherwise)

    def _is(self, given: str) -> bool:
        # a header may hold any bytes, which then stand in the text as halves of surrogate pairs
        sent, secret = given.encode("utf-8", "surrogatepass"), self._secret.encode("utf-8", "surrogatepass")
        return bool(self._secret) and hmac.compare_digest(sent, secret)
