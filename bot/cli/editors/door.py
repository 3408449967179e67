"""Which requests the MCP server takes over HTTP: by names that are known, and by addresses.

A site that somebody visits can have its own name point at this machine (DNS rebinding) but not send another
`Host` than that name. So an address, which no one can point elsewhere, is safe; the SDK's own guard knows
names alone, and refuses whoever comes by an address that it was not told.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]
"""An application as ASGI has it: called with a connection, what it sends, and how to reply."""

_ELSEWHERE = "This server is not known as {name}; if it is to be, name it in THREADLORE_ALLOWED_HOSTS."
_LOCAL = (
    "This server answers to localhost only; set THREADLORE_HOST to open it up, or name a proxy's host in "
    "THREADLORE_ALLOWED_HOSTS."
)
_NO_HOST = "The Host header is missing, or no name and no address."
_OTHER_SITE = "Requests from other sites are not taken."


class Door:
    """Passes on to `app` what comes by a known name or address, and from no page of another site.

    `host` is what the server listens on, `allowed` are further names that it is known by. A server that
    listens on this machine alone, without such names, is asked as localhost.
    """

    def __init__(self, app: Asgi, host: str, allowed: Collection[str] = ()) -> None:
        self._app = app
        self._names = {_plain(host), *map(_plain, allowed)}
        self._is_local = _is_loopback(_plain(host)) and not allowed

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not: 421 for another host, 403 for a page of another site."""
        refused = self._refusal(scope["headers"]) if scope["type"] == "http" else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, sentence = refused
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": sentence.encode()})

    def _refusal(self, headers: Collection[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return status and sentence for a request that is not taken; None for one that is."""
        hosts, origins = (
            [value.decode("latin-1") for name, value in headers if name.lower() == wanted]
            for wanted in (b"host", b"origin")
        )
        name = _name(f"//{hosts[0]}") if len(hosts) == 1 else ""
        if not name:
            return 400, _NO_HOST
        if not self._knows(name):
            return 421, _LOCAL if self._is_local else _ELSEWHERE.format(name=name)
        if any(not self._is_own(origin, hosts[0]) for origin in origins):
            return 403, _OTHER_SITE
        return None

    def _knows(self, name: str) -> bool:
        return name in self._names or _is_loopback(name) or (not self._is_local and _is_address(name))

    def _is_own(self, origin: str, host: str) -> bool:
        """Return True for a page of this server, by whatever name, or one on this machine."""
        name = _name(origin)
        scheme, _, place = origin.partition("://")
        is_web = scheme.lower() in ("http", "https")
        return is_web and (place.lower() == host.lower() or name in self._names or _is_loopback(name))


def _name(address: str) -> str:
    """Return the host of an address without its port, as names are compared; empty for none."""
    try:
        read = urlsplit(address)
        name = read.hostname or ""
    except ValueError:  # brackets that hold no address, say
        return ""
    return "" if "@" in read.netloc or read.path or read.query or read.fragment else _plain(name)


def _plain(name: str) -> str:
    return name.strip("[]").lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback)
