"""The Socket Mode connection to Slack, and what the errors of Slack's libraries mean."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from slack_bolt.adapter.socket_mode.async_base_handler import AsyncBaseSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.platforms.slack.api.errors import REFUSED_TOKENS, TRANSIENT, SlackRefused

log = logging.getLogger(__name__)

STALE_URL = 30.0
"""Seconds of vain attempts after which a Socket Mode URL is given up for a new one."""
PING = 5.0
"""Seconds between pings, and between attempts to connect again."""
CROWDED = 10.0
"""Seconds before a new attempt after Slack has said that the app has too many connections: it takes ten."""
_UNKNOWN = 404
"""Bolt's status for what no listener takes."""
_GRACE = 2.0
"""Seconds that closing the socket may take."""


def proxy_for(url: str) -> str | None:
    """Return the proxy of the environment for an address; none for this machine and hosts in NO_PROXY."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    proxies = getproxies()
    secure = parts.scheme in ("https", "wss")
    return (proxies.get("https") if secure else None) or proxies.get("http") or proxies.get("https")


def refusal_of(method: str, error: Exception) -> SlackRefused:
    """Return what an error of the library means: Slack's own code where it answered with one."""
    if isinstance(error, SlackApiError) and hasattr(error.response, "status_code"):
        status, data = int(error.response.status_code), error.response.data
        known = data if isinstance(data, dict) else {}
        code = str(known.get("error") or f"HTTP status {status}")
        details = [str(known[key]) for key in ("needed",) if known.get(key)]
        details += [str(m) for m in (known.get("response_metadata") or {}).get("messages") or ()]
        told = {str(key).lower(): value for key, value in error.response.headers.items()}
        wait = str(told.get("retry-after") or "")
        return SlackRefused(
            method,
            "ratelimited" if status == 429 else code,
            status,
            "; ".join(details),
            float(wait) if wait.isdigit() else 0.0,
        )
    if isinstance(error, SlackApiError):
        return SlackRefused(method, "the answer was not JSON", int(getattr(error.response, "status", 502)))
    return SlackRefused(
        method, "timeout" if isinstance(error, TimeoutError) else "unreachable", 503, str(error)
    )


class Socket(SocketModeClient):
    """The SDK's connection, which also notices a refused token, a URL that has gone stale, and a crowd."""

    def __init__(self, stale_after: float, crowded: float, others: bool, **given: Any) -> None:
        self._stale_after, self._crowded = stale_after, crowded
        self._reason = ""
        self._greeted = others
        self._met = False
        self.on_connected_again: Callable[[], None] | None = None
        """Called after each further connection: what happened in between may be told by nobody."""
        self.refused: asyncio.Future[SlackRefused] = asyncio.get_running_loop().create_future()
        super().__init__(**given)

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """Notice what Slack says of the connection itself, then do as the SDK does."""
        if message.get("type") == "hello":
            self._greet(int(message.get("num_connections") or 1))
            if self._met and self.on_connected_again is not None:
                self.on_connected_again()
            self._met = True
        elif message.get("type") == "disconnect":
            self._reason = str(message.get("reason") or "")
            log.info("Slack ends the connection (%s); a new one is made.", self._reason or "no reason given")
        await super().run_message_listeners(message, raw_message)

    def _greet(self, connections: int) -> None:
        """Tell of others at the same app: half of the questions would go to a bot that nobody looks at."""
        if connections > 1 and not self._greeted:
            log.warning(
                "This Slack app has %d connections, and Slack gives each event to one of them alone: if "
                "another bot runs with the same SLACK_APP_TOKEN, stop it or give it an app of its own.",
                connections,
            )
        self._greeted = True

    async def issue_new_wss_url(self) -> str:
        """Ask Slack for an address, and notice when it refuses the token or the app."""
        if self._reason == "too_many_websockets":
            log.warning(
                "Slack says that this app has too many connections: stop other bots with its "
                "SLACK_APP_TOKEN. The next attempt is in %g s.",
                self._crowded,
            )
            await asyncio.sleep(self._crowded)
        try:
            answer = await self.web_client.apps_connections_open(app_token=self.app_token)
        except SlackApiError as error:
            refusal = refusal_of("apps.connections.open", error)
            # which code a switched-off Socket Mode is refused with is not documented
            off = self._reason == "link_disabled" and refusal.status < 500 and refusal.code not in TRANSIENT
            if (off or refusal.code in REFUSED_TOKENS) and not self.refused.done():
                self.refused.set_result(refusal)
            raise
        self._reason = ""
        url = str(answer["url"])
        self.proxy = proxy_for(url)
        return url

    async def connect(self) -> None:
        """Connect, with a new address where the one at hand does not answer."""
        attempt = asyncio.ensure_future(super().connect())  # type: ignore[no-untyped-call]
        try:
            while not (await asyncio.wait({attempt}, timeout=self._stale_after))[0]:
                # the SDK tries the same URL for ever; without one it asks for another
                self.wss_uri = None
            attempt.result()
        finally:
            attempt.cancel()

    async def close(self) -> None:
        """Close the connection within a moment, and end its tasks."""
        try:
            async with asyncio.timeout(_GRACE):
                await super().close()  # type: ignore[no-untyped-call]
        except TimeoutError:
            await self.aiohttp_client_session.close()
        tasks = [self.message_processor, self.current_session_monitor, self.message_receiver]
        pending = [task for task in tasks if task is not None]
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


class Handler(AsyncBaseSocketModeHandler):
    """Bolt behind a socket; Bolt's own handler can only make the SDK's unchanged one."""

    app: AsyncApp

    def __init__(self, app: AsyncApp, client: Socket) -> None:
        self.app, self.client = app, client
        client.socket_mode_request_listeners.append(self.handle)

    async def handle(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        """Hand an envelope to Bolt and send its acknowledgement, also of what nobody here knows."""
        started = asyncio.get_running_loop().time()
        if (
            req.payload.get("type") == "app_rate_limited"
        ):  # it has no event in it (docs.slack.dev, Events API)
            log.warning("Slack leaves events out: the app gets more than 30,000 an hour.")
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
            return
        response = await run_async_bolt_app(self.app, req)
        if response.status == _UNKNOWN:
            response = BoltResponse(status=200)
        await send_async_response(client, req, response, started)
