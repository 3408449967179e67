"""Which sites may show the widget, what browsers are told of that, and which address a reader has."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from aiohttp import web

from bot.platforms.web.http.requests import ApiError

SCRIPT = "/widget.js"
FOLDER = "/widget/"
API = "/widget/api/"
HELLO = API + "hello"
PREFLIGHT_SECONDS = 600
HELLO_SECONDS = 600
"""Time for which a browser need not ask again whether a site may show the widget."""
READER_BITS = 64
"""Of an IPv6 address: what stands behind it is one reader's own to choose."""
_PUBLIC = {"Cross-Origin-Resource-Policy": "cross-origin"}
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Sites:
    """Knows the origins that may ask; `proxies` are believed which address a reader has."""

    def __init__(self, origins: Collection[str], proxies: Collection[str] = ()) -> None:
        self._origins = frozenset(origins)
        self._proxies = tuple(ipaddress.ip_network(proxy) for proxy in proxies)
        self._key = secrets.token_bytes(16)

    def takes(self, path: str) -> bool:
        """Return True for the widget's own paths."""
        return path == SCRIPT or path.startswith(FOLDER)

    def admit(self, path: str, origin: str | None) -> None:
        """Raise ApiError unless that site may ask; the script itself is code, the same for everybody."""
        if origin is None and not path.startswith(API):
            return
        if origin is None:
            raise ApiError(403, "This is for pages of other sites: the Origin header is missing.")
        if not self.knows(origin):
            raise ApiError(403, "This site may not show the widget; its origin must be in WIDGET_ORIGINS.")

    def knows(self, origin: str | None) -> bool:
        """Return True for a site that may show the widget; browsers write origins in one way only."""
        return origin is not None and origin in self._origins

    def headers(self, path: str, origin: str | None) -> Mapping[str, str]:
        """Return what lets a page of a known site read an answer; others read none."""
        told = {**_PUBLIC, "Vary": "Origin"}
        if origin is not None and self.knows(origin):
            told["Access-Control-Allow-Origin"] = origin
        if path == HELLO and self.knows(origin):
            told["Cache-Control"] = f"private, max-age={HELLO_SECONDS}"
        elif not path.startswith(API):
            told["Cache-Control"] = "no-cache"  # kept, and asked for again by its ETag
        return told

    def preflight(self) -> dict[str, str]:
        """Return what a browser is told before it sends JSON from another site."""
        return {
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": "Content-Type",
            "Access-Control-Max-Age": str(PREFLIGHT_SECONDS),
        }

    def reader(self, request: web.Request) -> str:
        """Return a name for the address of the person who asks, which leads back to nobody."""
        address = str(self._address(request) or "unknown")
        return hashlib.blake2s(address.encode(), key=self._key, digest_size=12).hexdigest()

    def _address(self, request: web.Request) -> Address | ipaddress.IPv6Network | None:
        told = [part for line in request.headers.getall("X-Forwarded-For", ()) for part in line.split(",")]
        address = _read(request.remote or "")
        while told and address is not None and self._is_proxy(address):
            before = _read(told.pop())
            if before is None:
                break
            address = before
        if isinstance(address, ipaddress.IPv6Address):
            return ipaddress.IPv6Network((int(address), READER_BITS), strict=False)
        return address

    def _is_proxy(self, address: Address) -> bool:
        return any(address.version == proxy.version and address in proxy for proxy in self._proxies)


def _read(text: str) -> Address | None:
    """Return an address as proxies and sockets write it, with or without a port or a zone; None for none."""
    bare = text.strip().strip('"')
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def site_of(origin: str) -> str:
    """Return how a site is called in figures: its host, with its port where it has one."""
    return urlsplit(origin).netloc
