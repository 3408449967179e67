"""Which requests the MCP server takes over HTTP: by the names and addresses that the playground takes.

The SDK's own guard knows names alone, and refuses whoever comes by an address that it was not told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from core.system.hosts import HOST, KnownHosts, is_loopback, name_of

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]
"""An application as ASGI has it: called with a connection, what it sends, and how to reply."""

_NO_HOST = "The Host header is missing, or no name and no address."
_OTHER_SITE = "Requests from other sites are not taken."


class Door:
    """Passes on to `app` what comes by a known name or address, and from no page of another site.

    `host` is what the server listens on, `allowed` are further names that it is known by. A server that
    listens on this machine alone, without such names, is asked as localhost.
    """

    def __init__(self, app: Asgi, host: str, allowed: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = KnownHosts(host, allowed)

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
        if len(hosts) != 1 or not HOST.fullmatch(hosts[0]):
            return 400, _NO_HOST
        if not self._hosts.knows(hosts[0]):
            return 421, self._hosts.refusal(hosts[0])
        if any(not self._is_own(origin, hosts[0]) for origin in origins):
            return 403, _OTHER_SITE
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        """Return True for a page of this server, by whatever name, or one on this machine."""
        scheme, _, place = origin.partition("://")
        if scheme.lower() not in ("http", "https") or not HOST.fullmatch(place):
            return False
        return place.lower() == host.lower() or name_of(place) in self._hosts.names or is_loopback(place)
