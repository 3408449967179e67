"""The door to Slack's libraries: Web API calls, response URLs and what arrives over the socket.

Everything Slack refuses leaves here as `SlackRefused` with Slack's own code, so that the files
beside this one need neither library.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.platforms.slack.api.errors import REVOKED, SlackRefused, rejected
from bot.platforms.slack.api.socket import CROWDED, PING, STALE_URL, Handler, Socket, proxy_for, refusal_of
from core.ports.cluster import STILL

log = logging.getLogger(__name__)

_EVENTS = (
    "app_home_opened", "app_mention", "channel_archive", "channel_deleted", "channel_id_changed",
    "channel_shared", "channel_unshared", "group_archive", "group_deleted", "message", "reaction_added",
    "reaction_removed",
)  # fmt: skip
QUICK = 5.0
"""Seconds for calls that something else waits for and that can be done without."""
PATIENT = 180.0
"""Seconds for calls that must arrive, with the pauses that rate limits ask for."""
_FILES = (".slack.com", ".slack-gov.com")
"""How the hosts that keep files end."""
_WIDEST = 4
"""Bytes of a character at most."""

Event = Mapping[str, Any]


class SlackApi:
    """One workspace's Web API and its event socket; make it inside a running loop."""

    def __init__(
        self,
        bot_token: str,
        app_token: str,
        base_url: str,
        *,
        ping: float = PING,
        stale_after: float = STALE_URL,
        crowded: float = CROWDED,
        others: bool = False,
    ) -> None:
        """`others` tells that other processes are to have connections, too."""
        base_url = base_url.strip().rstrip("/") + "/"
        self._web = urlsplit(base_url)
        self._may_read_files = True
        self.has_others = others
        self._log = logging.getLogger(f"{__name__}.sdk")
        self._log.setLevel(logging.DEBUG if log.isEnabledFor(logging.DEBUG) else logging.WARNING)
        # Bolt warns of a token that it does not need here, in the environment or in the client
        self._log.addFilter(lambda record: not record.getMessage().startswith("As "))
        limits = AsyncRateLimitErrorRetryHandler(max_retry_count=5)
        unsent = AsyncConnectionErrorRetryHandler(2, error_types=[aiohttp.ClientConnectorError])
        lost, failed = AsyncConnectionErrorRetryHandler(2), AsyncServerErrorRetryHandler(2)

        def client(*again: AsyncRetryHandler) -> AsyncWebClient:
            made = AsyncWebClient(bot_token, base_url, logger=self._log, retry_handlers=[*again])
            made.proxy = proxy_for(base_url)  # the SDK takes one of the environment where it is given none
            return made

        self._patient, self._quick = client(lost, failed, limits), client(lost)
        self._careful, self._once = client(unsent, limits), client(unsent)
        self._token = bot_token
        self.user = self.bot = self.team = self.enterprise = self.date = self.url = ""
        """The bot's own user id (U…), bot id (B…), workspace (T…), its organization on an Enterprise Grid
        (E…), Slack's time, and the workspace's address (`https://….slack.com/`), after `identity`."""
        self._revoked: asyncio.Future[SlackRefused] = asyncio.get_running_loop().create_future()
        self._socket = Socket(
            stale_after,
            crowded,
            others,
            app_token=app_token,
            web_client=self._patient,
            logger=self._log,
            ping_interval=ping,
        )
        # one session for all calls keeps connections open; the SDK opens one per call otherwise
        for one in (self._patient, self._quick, self._careful, self._once):
            one.session = self._socket.aiohttp_client_session

    async def call(self, method: str, *, quick: bool = False, **arguments: Any) -> dict[str, Any]:
        """Call a Web API method; `quick` gives up early instead of waiting out a rate limit.

        Raises SlackRefused, also where Slack cannot be reached.
        """
        client, seconds = (self._quick, QUICK) if quick else (self._patient, PATIENT)
        return await self._call(client, seconds, method, arguments)

    async def carefully(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call a Web API method, and not again where Slack may have carried it out; raises SlackRefused."""
        return await self._call(self._careful, PATIENT, method, arguments)

    async def once(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call a Web API method once, and wait long for what comes of it; raises SlackRefused."""
        return await self._call(self._once, PATIENT, method, arguments)

    async def _call(
        self, client: AsyncWebClient, seconds: float, method: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        function = getattr(client, method.replace(".", "_"))
        await STILL.get()()
        try:
            async with asyncio.timeout(seconds):
                answer = await function(**arguments)
        except Exception as error:  # aiohttp's many errors arrive here through the SDK
            refusal = refusal_of(method, error)
            if refusal.code in REVOKED and not self._revoked.done():
                self._revoked.set_result(refusal)
            raise refusal from error
        data: dict[str, Any] = answer.data if isinstance(answer.data, dict) else {}
        return data

    async def identity(self) -> tuple[dict[str, Any], frozenset[str]]:
        """Return who the bot is (`auth.test`) and the scopes it was granted, empty if not told."""
        try:
            async with asyncio.timeout(QUICK * 2):
                answer = await self._quick.auth_test()
        except Exception as error:  # aiohttp's many errors arrive here through the SDK
            raise refusal_of("auth.test", error) from error
        self.user, self.bot = str(answer.get("user_id") or ""), str(answer.get("bot_id") or "")
        self.team, self.enterprise = str(answer.get("team_id") or ""), str(answer.get("enterprise_id") or "")
        self.url = str(answer.get("url") or "")
        told = {str(key).lower(): value for key, value in answer.headers.items()}
        granted, self.date = told.get("x-oauth-scopes", ""), str(told.get("date") or "")
        scopes = frozenset(re.findall(r"[\w:.]+", str(granted)))
        self._may_read_files = not scopes or "files:read" in scopes
        return dict(answer.data), scopes  # type: ignore[arg-type]

    async def respond(self, url: str, body: dict[str, Any]) -> None:
        """Send a body to a command's response URL; raises SlackRefused."""
        client = AsyncWebhookClient(url, logger=self._log, session=self._socket.aiohttp_client_session)
        client.retry_handlers = self._patient.retry_handlers
        client.proxy = proxy_for(url)
        await STILL.get()()
        try:
            async with asyncio.timeout(QUICK * 4):
                answer = await client.send_dict(body)
        except Exception as error:  # aiohttp's many errors arrive here through the SDK
            raise refusal_of("response_url", error) from error
        said = re.search(r'"error"\s*:\s*"([^"]+)"', answer.body or "")
        if answer.status_code != 200 or said:
            code = (
                said[1] if said else (answer.body or "").strip()[:80] or f"HTTP status {answer.status_code}"
            )
            raise SlackRefused("response_url", code, answer.status_code)

    async def text_of(self, url: str, most: int, begun: str) -> str:
        """Return the first characters of a file that Slack keeps, which has `begun` so; raises SlackRefused.

        Only Slack's own servers are shown the token: a file may be a link to somewhere else.
        """
        there = urlsplit(url)
        if not (there.scheme == "https" and f".{there.hostname}".endswith(_FILES)) and not (
            (there.scheme, there.netloc) == self._web[:2]
        ):
            raise SlackRefused("url_private", "not_of_slack")
        if not self._may_read_files:
            raise SlackRefused("url_private", "missing_scope", detail="files:read")
        await STILL.get()()
        headers = {"Authorization": f"Bearer {self._token}"}
        told, is_page = b"", False
        try:
            async with (
                asyncio.timeout(QUICK),
                self._socket.aiohttp_client_session.get(
                    url, headers=headers, allow_redirects=False, proxy=proxy_for(url)
                ) as answer,
            ):
                if answer.status != 200:
                    raise SlackRefused("url_private", f"status_{answer.status}", answer.status)
                is_page = answer.content_type == "text/html"
                while len(told) < _WIDEST * most and (more := await answer.content.read(_WIDEST * most)):
                    told += more
        except (OSError, TimeoutError, aiohttp.ClientError) as error:
            raise SlackRefused("url_private", "unreachable", detail=type(error).__name__) from error
        text = told.decode("utf-8", "replace")
        if is_page and not "".join(text.split()).startswith("".join(begun.split()).rstrip(".…")):
            # its page for signing in
            raise SlackRefused("url_private", "missing_scope", detail="files:read")
        return text[:most]

    async def open_socket(self) -> str:
        """Ask for a Socket Mode URL; waits out no rate limit. Raises SlackRefused, with how long to wait."""
        try:
            async with asyncio.timeout(QUICK * 2):
                told = await self._quick.apps_connections_open(app_token=self._socket.app_token or "")
                url = str(told["url"])
        except Exception as error:  # aiohttp's many errors arrive here through the SDK
            raise refusal_of("apps.connections.open", error) from error
        self._socket.proxy = proxy_for(url)
        return url

    async def serve(
        self,
        url: str,
        on_event: Callable[[Event], Awaitable[bool]],
        on_command: Callable[[Event], Awaitable[None]],
        on_press: Callable[[Event], Awaitable[None]],
        on_connected: Callable[[], None],
    ) -> None:
        """Receive events until cancelled, first from `url`; `on_connected` is called at each connection.

        An event is acknowledged when `on_event` returns True, so that what a dying process had not written
        down comes again. Commands and presses are so once they are noted.

        Raises PlatformRejected when the app token is refused while connecting again, and when Slack takes
        the bot token back.
        """
        Handler(self._app(on_event, on_command, on_press), self._socket)
        self._socket.wss_uri = url
        connecting: asyncio.Future[None] = asyncio.ensure_future(self._socket.connect())
        try:
            refused: set[asyncio.Future[Any]] = {self._socket.refused, self._revoked}
            await asyncio.wait({connecting, *refused}, return_when=asyncio.FIRST_COMPLETED)
            if connecting.done():
                connecting.result()
                log.info("Connected to Slack.")
                self._socket.on_connected_again = on_connected
                on_connected()
            await asyncio.wait(refused, return_when=asyncio.FIRST_COMPLETED)
            if self._revoked.done():
                raise rejected("SLACK_BOT_TOKEN", self._revoked.result())
            raise rejected("SLACK_APP_TOKEN", self._socket.refused.result())
        finally:
            connecting.cancel()

    def _authorizing(self) -> Callable[[], Awaitable[AuthorizeResult]]:
        """Return what tells Bolt who the bot is; it would ask Slack, through any proxy of the environment."""

        async def authorize() -> AuthorizeResult:  # no method: Bolt would give it a `self` of its own
            return AuthorizeResult(
                enterprise_id=None,
                team_id=None,
                bot_user_id=self.user,
                bot_id=self.bot,
                bot_token=self._token,
            )

        return authorize

    def _app(
        self,
        on_event: Callable[[Event], Awaitable[bool]],
        on_command: Callable[[Event], Awaitable[None]],
        on_press: Callable[[Event], Awaitable[None]],
    ) -> AsyncApp:
        app = AsyncApp(
            name="client.py",  # as Bolt itself finds it, in 10 ms: it reads the source of all who called
            client=self._patient,
            authorize=self._authorizing(),
            logger=self._log,
            request_verification_enabled=False,
            process_before_response=True,  # Bolt acknowledges events first otherwise
            attaching_conversation_kwargs_enabled=False,
        )

        async def event(body: dict[str, Any]) -> None:
            if not await on_event(body):
                raise SlackRefused(
                    "events", "nothing can be written down", 503
                )  # so Bolt acknowledges nothing

        async def command(ack: AsyncAck, body: dict[str, Any]) -> None:
            await on_command(body)
            await ack()

        async def press(ack: AsyncAck, body: dict[str, Any]) -> None:
            await on_press(body)
            await ack()

        async def ignored(ack: AsyncAck) -> None:
            # unacknowledged, it would come back three times
            await ack()

        every = re.compile("")
        for kind in _EVENTS:
            app.event(kind)(event)
        app.event(every)(ignored)
        app.command(every)(command)
        app.action(every)(press)
        app.view(every)(press)
        app.shortcut(every)(press)
        return app

    def mute(self) -> None:
        """Take no more events; Slack gives what is not acknowledged to the next connection."""
        self._socket.auto_reconnect_enabled = False
        self._socket.socket_mode_request_listeners.clear()

    async def close(self) -> None:
        """Close the socket and the HTTP session."""
        await self._socket.close()
        # aiohttp closes transports in the loop's next turn
        await asyncio.sleep(0)
