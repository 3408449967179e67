"""The wire of the loopback Slack: HTTP, the event socket, acknowledgements and calls that go wrong."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import WSMsgType, web

from tests.patience import PATIENCE
from tests.platforms.slack_blocks import SlackError
from tests.platforms.slack_limits import Limits
from tests.platforms.slack_scopes import EVENTS, SCOPES
from tests.platforms.slack_web import WebApi
from tests.platforms.slack_whispers import Whispers

CUT = 0
"""The status of an answer that nobody gets: the connection ends instead."""


@dataclass(frozen=True)
class Call:
    """One Web API request as it arrived; `error` is what it was answered with, empty for ok."""

    method: str
    arguments: dict[str, Any]
    error: str = ""


@dataclass
class Trouble:
    """How the next calls of a method go wrong; what is `done` is carried out all the same."""

    error: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    after: int = 0
    done: bool = False


class Wire:
    """Carries calls, events and answers; `SlackServer` says what they do."""

    team, app, bot_user, bot_id = "T1", "A1", "UBOT", "BBOT"
    bot_token, app_token = "xoxb-right", "xapp-right"
    api: WebApi
    ephemeral: Whispers

    def __init__(self) -> None:
        self.enterprise = ""
        """The organization of the workspace, where it is in an Enterprise Grid."""
        self.calls: list[Call] = []
        """Every Web API call, in order."""
        self.acknowledged: list[str] = []
        """Envelope ids the bot has acknowledged."""
        self.envelopes: list[dict[str, Any]] = []
        """Every envelope made, in order."""
        self.problems: list[str] = []
        """What the bot did that Slack would not understand; tests want it empty."""
        self.others = 0
        """Connections that other processes have with the same app."""
        self.connections = 0
        """Socket Mode connections made so far."""
        self.scopes = ",".join(SCOPES)
        """What the app was granted: all that its manifest asks for."""
        self.events = set(EVENTS)
        """What the app is subscribed to."""
        self.response_uses = 5
        self.response_seconds = 1_800.0
        """Uses of a response URL, and how long it is good for."""
        self.revoked = ""
        """What every call with the bot token is answered with, once it is taken back."""
        self.limits = Limits()
        self.ack_seconds = 3.0
        self.retry_seconds = (0.0, 60.0, 300.0)
        """Time for an acknowledgement, and the pauses before an event comes again without one."""
        self.held: set[str] = set()
        """Methods that are not answered at all."""
        self.holding: set[str] = set()
        """Those of them that were called."""
        self.spread = False
        """Whether events go to the open connections in turn, instead of to the newest."""
        self.broken_links = 0
        """Attempts to open the socket that fail and use up their URL."""
        self.early: list[str] = []
        """Methods that were called again before the time was over for which Slack wants to be left alone."""
        self._alone: dict[str, float] = {}
        self._trouble: dict[str, list[Trouble]] = defaultdict(list)
        self._waiting: dict[str, dict[str, Any]] = {}
        self._sent: dict[str, dict[str, Any]] = {}
        self._sockets: list[web.WebSocketResponse] = []
        self.links = True
        """Whether Socket Mode is switched on for the app."""
        self.link_error = "access_denied"
        """What is said where it is not."""
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self.files: dict[str, str] = {}
        """Texts of files, by their ids; `/files/ID` beside the Web API has them."""
        self.shown_files: dict[str, dict[str, Any]] = {}
        """Files as Slack describes them, by their ids."""
        self.late: list[str] = []
        """Envelopes that were not acknowledged in time, so that their events came again."""
        self._later: list[asyncio.TimerHandle] = []
        self._turns = itertools.count()
        self._outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._connected = asyncio.Event()
        self._news = asyncio.Event()

    # --- running ------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/api/{method}", self._web)
        application.router.add_get("/link", self._link)
        application.router.add_post("/commands/{id}", self._respond)
        application.router.add_get("/files/{id}", self._file)
        self._runner = web.AppRunner(application, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self._pump = asyncio.create_task(self._deliver())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._pump.cancel()
        for timer in self._later:
            timer.cancel()
        for socket in list(self._sockets):
            await socket.close()
        await self._runner.cleanup()

    async def _file(self, request: web.Request) -> web.Response:
        """Give a file to who may read it; Slack shows others its page for signing in."""
        may_read = request.headers.get("Authorization") == f"Bearer {self.bot_token}"
        if not may_read or "files:read" not in self.scopes.split(","):
            return web.Response(text="<html>Sign in to Slack</html>", content_type="text/html")
        shown = self.shown_files.get(request.match_info["id"], {})
        is_page = shown.get("mimetype") == "text/html"
        kind = "text/html" if is_page else "text/plain"
        return web.Response(text=self.files[request.match_info["id"]], content_type=kind)

    @property
    def url(self) -> str:
        """The base URL for `SLACK_API_URL`."""
        return f"http://127.0.0.1:{self.port}/api/"

    @property
    def connected(self) -> bool:
        """Whether a Socket Mode connection is open."""
        return bool(self._sockets)

    async def until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> Any:
        """Wait until the condition holds and return its value; raises AssertionError after a while."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not (value := condition()):
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"not within {seconds} s; the last calls: {self.calls[-5:]}")
            self._news.clear()
            try:
                # a condition may also look at the bot's own state, which changes without a request
                await asyncio.wait_for(self._news.wait(), 0.02)
            except TimeoutError:
                continue
        return value

    async def settled(self) -> None:
        """Wait until every envelope is acknowledged and the bot has been quiet for a moment."""
        await self.until(lambda: not self._waiting)
        count = -1
        while count != len(self.calls):
            count = len(self.calls)
            await asyncio.sleep(0.05)

    # --- what Slack does ----------------------------------------------------------------------

    def noticed(self) -> None:
        """Let those who wait look again."""
        self._news.set()

    def redeliver(self, envelope: dict[str, Any], reason: str = "timeout") -> None:
        """Send an event once more in a new envelope, as Slack does when it missed the answer."""
        attempt = int(envelope.get("retry_attempt") or 0) + 1
        self._push(envelope["type"], envelope["payload"], attempt=attempt, reason=reason)

    def hold_events_back(self) -> None:
        """Say that the app gets too many events in an hour, and leave some out."""
        told = {"token": "t", "type": "app_rate_limited", "team_id": self.team, "api_app_id": self.app}
        self._push("events_api", told | {"minute_rate_limited": 1_700_000_000})

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask the bot to connect anew: `warning` ahead of time, `refresh_requested`, or `link_disabled`.

        The last one means that Socket Mode was switched off for the app, so that it gets no new URL.
        """
        self.links = reason != "link_disabled"
        frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "wss-111.slack.com"}}
        sockets = list(self._sockets)
        for socket in sockets:
            await socket.send_str(json.dumps(frame))
        if reason != "warning":  # that one comes some ten seconds ahead
            for socket in sockets:
                await socket.close()

    async def drop(self) -> None:
        """Close the socket without a word."""
        for socket in list(self._sockets):
            await socket.close()

    def fail(
        self,
        method: str,
        error: str,
        *,
        status: int = 200,
        times: int = 1,
        after: int = 0,
        retry_after: int | None = None,
        done: bool = False,
    ) -> None:
        """Let the next calls of a method fail, the first `after` excepted, though they are `done`."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self._trouble[method].append(Trouble(error, status, headers, times, after, done))

    # --- the works ---

    def _push(
        self, kind: str, payload: dict[str, Any], *, accepts: bool = False, attempt: int = 0, reason: str = ""
    ) -> None:
        envelope = {
            "envelope_id": f"e{next(self._numbers)}",
            "type": kind,
            "payload": payload,
            "accepts_response_payload": accepts,
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        self.envelopes.append(envelope)
        self._sent[envelope["envelope_id"]] = envelope
        self._waiting[envelope["envelope_id"]] = envelope
        self._outbox.put_nowait(envelope)
        if kind == "events_api" and attempt < len(self.retry_seconds):
            wait = self.ack_seconds + self.retry_seconds[attempt]
            self._later.append(asyncio.get_running_loop().call_later(wait, self._again, envelope))

    def _again(self, envelope: dict[str, Any]) -> None:
        """Send an event once more that was not acknowledged in time."""
        if self._waiting.pop(envelope["envelope_id"], None):
            self.late.append(envelope["envelope_id"])
            self.redeliver(envelope)

    async def _deliver(self) -> None:
        while True:
            envelope = await self._outbox.get()
            while envelope["envelope_id"] in self._waiting:
                await self._connected.wait()
                try:
                    # a new connection takes over from the one before
                    which = next(self._turns) % len(self._sockets) if self.spread else -1
                    await self._sockets[which].send_str(json.dumps(envelope))
                    break
                except ConnectionError:
                    await asyncio.sleep(0.01)

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden
        self._tickets.discard(ticket)
        if self.broken_links:
            self.broken_links -= 1
            raise web.HTTPServiceUnavailable
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connections += 1
        hello = {
            "type": "hello",
            "num_connections": len(self._sockets) + 1 + self.others,
            "connection_info": {"app_id": self.app},
            "debug_info": {"host": "wss-111.slack.com", "approximate_connection_time": 18060},
        }
        await socket.send_str(json.dumps(hello))
        self._sockets.append(socket)
        for envelope in [e for e in self._waiting.values() if self.connections > 1]:
            self._outbox.put_nowait(envelope)
        self._connected.set()
        self._news.set()
        try:
            async for frame in socket:
                if frame.type == WSMsgType.TEXT:
                    self._acknowledge(frame.data)
        finally:
            self._sockets.remove(socket)
            if not self._sockets:
                self._connected.clear()
            self._news.set()
        return socket

    def _acknowledge(self, frame: str) -> None:
        answer = json.loads(frame)
        envelope = self._sent.get(answer.get("envelope_id"))
        if envelope is None:
            self.problems.append(f"unknown envelope: {frame}")
        elif answer.get("payload") and not envelope["accepts_response_payload"]:
            self.problems.append(f"a payload where none is accepted: {frame}")
        else:
            self._waiting.pop(answer["envelope_id"], None)
            self.acknowledged.append(answer["envelope_id"])
        self._news.set()

    def new_ticket(self) -> str:
        """Return a WebSocket URL that is good for one connection."""
        ticket = f"ticket{next(self._numbers)}"
        self._tickets.add(ticket)
        return f"ws://127.0.0.1:{self.port}/link?ticket={ticket}&app_id={self.app}"

    async def _web(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        if request.content_type == "application/json":
            given = await request.json()
        else:
            given = {**request.query, **(await request.post())}
        while method in self.held:  # a test changes it
            self.holding.add(method)
            await asyncio.sleep(0.02)
        answer, status, headers = self._answer(method, given, request.headers.get("Authorization", ""))
        self.calls.append(Call(method, given, str(answer.get("error", ""))))
        self._news.set()
        if status == CUT and request.transport is not None:
            request.transport.close()
        headers = {"X-OAuth-Scopes": self.scopes} | headers
        return web.json_response(answer, status=status or 200, headers=headers)

    def _answer(
        self, method: str, given: dict[str, Any], bearer: str
    ) -> tuple[dict[str, Any], int, dict[str, str]]:
        token = bearer.removeprefix("Bearer ") or str(given.get("token") or "")
        wanted = self.app_token if method == "apps.connections.open" else self.bot_token
        try:
            if token != wanted:
                known = token in (self.app_token, self.bot_token)
                raise SlackError(
                    "not_allowed_token_type" if known else "invalid_auth" if token else "not_authed"
                )
            if self.revoked and wanted == self.bot_token:
                raise SlackError(self.revoked)
            if method == "apps.connections.open" and not self.links:
                raise SlackError(self.link_error)
            now = asyncio.get_running_loop().time()
            if wait := self.limits.wait(method, str(given.get("channel") or ""), now):
                return {"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(wait)}
            if now < self._alone.get(method, now):
                self.early.append(method)
            trouble = next((t for t in self._trouble[method] if t.times > 0), None)
            if trouble and trouble.after:
                trouble.after -= 1
            elif trouble:
                trouble.times -= 1
                if trouble.done:
                    self.api.call(method, given)
                self._alone[method] = now + int(trouble.headers.get("Retry-After") or 0)
                return {"ok": False, "error": trouble.error}, trouble.status, trouble.headers
            return {"ok": True, **self.api.call(method, given)}, 200, {}
        except SlackError as error:
            extra = {"response_metadata": {"messages": error.messages}} if error.messages else {}
            return {"ok": False, "error": error.error} | error.more | extra, 200, {}

    async def _respond(self, request: web.Request) -> web.Response:
        status, said = self.ephemeral.respond(request.match_info["id"], await request.text())
        return web.Response(text=said, status=status)
