"""The playground: a page that looks and works like a channel, and the HTTP API behind it.

People are `ada`, `ben`, `noor` (newcomer), `hana` (helper) and `chloe` (admin); channels `help`, `general`,
`maintainers` (private: Ada, Hana and Chloé) and one direct channel each, `dm-ada`. Bodies are JSON
objects; an error is `{"error": "one sentence"}` with a status of 4xx. `/#/m/{id}` shows a message.

    GET    /                           the page
    GET    /healthz                    {"ok": true}
    GET    /api/state?person=P         people, channels, messages P may see, releases, progress, examples,
                                       and `event`: where the stream of events goes on from this state
    GET    /api/events?person=P&since=E   server-sent events, resumed by `Last-Event-ID`:
                                       posted | edited | reaction (a message), deleted {id, channel, thread},
                                       progress {running}, releases {releases}, reset (fetch the state again)
    POST   /api/messages               {person, channel, text, thread?} -> 201 {id}
    PATCH  /api/messages/{id}          {person, text} -> {id}              own messages only
    DELETE /api/messages/{id}          {person} -> {id}                    own, or whispered to oneself
    POST   /api/messages/{id}/answer   {person} -> 202 {id}; "Answer this": asks with that message's words
    POST   /api/reactions              {person, message, emoji, added} -> {reactions}; 👍 👎 ✅ ❌
    POST   /api/presses                {person, message, name, value, fields?} -> {form}; uses a control, or
                                       sends a form (`fields`); `form` is what opens then, or null
    POST   /api/commands               {person, channel, text, thread?} -> 202 {id}; "/ask …", "/threadlore …"
    GET    /api/answers/{id}/why?person=P   what led to an answer

A message is {id, channel, thread, author, text, at, edited, final, release, answer, votable, reactions:
{emoji: [people]}, controls: [{name, label, value, choices: [{value, label}]}], gone, only, command};
`thread` is the root's id and empty for roots. A form is {name, title, value, fields: [{name, label,
choices, required}]}.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aiohttp import web

from bot.chat import Platform
from bot.platforms.web_chat import WebChat
from bot.platforms.web_dashboard import Dashboard
from bot.platforms.web_feed import Feed, Journal
from bot.platforms.web_people import PLATFORM
from bot.platforms.web_progress import watch
from bot.platforms.web_requests import ApiError, player_of
from bot.platforms.web_room import Room
from bot.platforms.web_state import Posts
from core.errors import PlatformRejected
from core.settings import Settings

if TYPE_CHECKING:
    from bot.dispatch import Dispatch

log = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

BODY_BYTES = 256 * 1024
"""Largest request body; four bytes for each of the characters a message may have, and escapes."""
HEARTBEAT_SECONDS = 15.0
"""Silence after which a stream says that it is alive; proxies give up after 30 to 60 seconds."""
WATCH_SECONDS = 0.5
"""How often running index work is looked at while a page is open."""
_PAGE = Path(__file__).parent / "playground"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
_HEADERS = {
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


def connect(settings: Settings, dispatch: Dispatch) -> Platform | None:
    """Build the playground, or return None where it is switched off."""
    return Playground(settings, dispatch) if settings.playground else None


def is_loopback(host: str) -> bool:
    """Tell whether a host name, with or without a port, can only mean this machine."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        return name == "localhost" or name.endswith(".localhost") or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Playground:
    """Serves the page and its API on one port; `url` is set while it does."""

    name = PLATFORM

    def __init__(self, settings: Settings, dispatch: Dispatch) -> None:
        self.url = ""
        self.started = asyncio.Event()
        self._settings = settings
        self._dispatch = dispatch
        # A page under another name (DNS rebinding) must not talk to a server meant for this machine only.
        self._local = is_loopback(f"[{settings.host}]" if ":" in settings.host else settings.host)
        self._feed = Feed()
        self._journal = Journal(settings.home / "playground.jsonl")
        self._posts = Posts(self._feed, self._journal)
        self.chat = WebChat(self._posts, settings, lambda: self.url)
        self._room = Room(self._posts, self.chat, dispatch, settings)
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Serve until `stop`; raises PlatformRejected where the port cannot be had."""
        if not self._local:
            log.warning(
                "the playground listens on %s: whoever reaches it can play everybody, admins included",
                self._settings.host,
            )
        runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=2.0)
        await runner.setup()
        watching = asyncio.create_task(watch(self._feed, self._dispatch, WATCH_SECONDS))
        try:
            await self._posts.load()
            self._dispatch.forgetters.append(self._posts.forget)
            await self._listen(runner)
            self.started.set()
            self._room.resume()
            log.info("the playground is on %s", self.url)
            await self._stopping.wait()
        finally:
            watching.cancel()
            self._dispatch.forgetters[:] = [f for f in self._dispatch.forgetters if f != self._posts.forget]
            self.started.clear()
            self._feed.close()
            await runner.cleanup()
            await self._room.close()
            await self._journal.close()
            self.url = ""

    async def stop(self) -> None:
        """Close the port and write the conversation down."""
        self._stopping.set()

    async def _listen(self, runner: web.AppRunner) -> None:
        host, port = self._settings.host, self._settings.port
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise PlatformRejected(_refusal(host, port, error)) from None
        bound = runner.addresses[0][1]
        shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{bound}"

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_BYTES, middlewares=[self._guard])
        page = {file.name: file.read_bytes() for file in _PAGE.iterdir() if file.suffix in _TYPES}

        async def show(request: web.Request) -> web.Response:
            name = request.match_info.get("name", "index.html")
            if name not in page:
                raise web.HTTPNotFound
            kind = _TYPES[Path(name).suffix]
            return web.Response(body=page[name], content_type=kind, charset="utf-8")

        app.router.add_get("/", show)
        app.router.add_get("/healthz", self._health)
        app.router.add_get("/api/state", self._state)
        app.router.add_get("/api/events", self._events)
        app.router.add_post("/api/messages", self._post)
        app.router.add_patch("/api/messages/{id}", self._edit)
        app.router.add_delete("/api/messages/{id}", self._delete)
        app.router.add_post("/api/messages/{id}/answer", self._answer_this)
        app.router.add_post("/api/reactions", self._react)
        app.router.add_post("/api/presses", self._press)
        app.router.add_post("/api/commands", self._command)
        app.router.add_get("/api/answers/{id}/why", self._why)
        Dashboard(self._settings, self._dispatch, self._local, page["dashboard.html"]).add_to(app)
        app.router.add_get("/{name}", show)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._admit(request)
            response = await handler(request)
        except ApiError as error:
            response = web.json_response({"error": str(error)}, status=error.status)
        except web.HTTPException as error:
            response = web.json_response({"error": f"{error.reason}."}, status=error.status)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    def _admit(self, request: web.Request) -> None:
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

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _state(self, request: web.Request) -> web.Response:
        mark = self._feed.mark(self._feed.number)
        state = await self._room.state(request.query.get("person", ""))
        return web.json_response({**state, "event": mark})

    async def _post(self, request: web.Request) -> web.Response:
        return web.json_response({"id": self._room.say(await _body(request))}, status=201)

    async def _edit(self, request: web.Request) -> web.Response:
        return web.json_response({"id": self._room.edit(request.match_info["id"], await _body(request))})

    async def _delete(self, request: web.Request) -> web.Response:
        return web.json_response({"id": self._room.delete(request.match_info["id"], await _body(request))})

    async def _answer_this(self, request: web.Request) -> web.Response:
        made = self._room.answer_this(request.match_info["id"], await _body(request))
        return web.json_response({"id": made}, status=202)

    async def _react(self, request: web.Request) -> web.Response:
        return web.json_response({"reactions": await self._room.presses.react(await _body(request))})

    async def _press(self, request: web.Request) -> web.Response:
        return web.json_response(await self._room.presses.press(await _body(request)))

    async def _command(self, request: web.Request) -> web.Response:
        return web.json_response({"id": self._room.command(await _body(request))}, status=202)

    async def _why(self, request: web.Request) -> web.Response:
        return web.json_response(
            await self._room.why(request.match_info["id"], request.query.get("person", ""))
        )

    async def _events(self, request: web.Request) -> web.StreamResponse:
        player = player_of(request.query.get("person", "")).id
        mark = request.headers.get("Last-Event-ID") or request.query.get("since", "")
        number = self._feed.resume(mark) if mark else self._feed.number
        response = web.StreamResponse(headers={**_HEADERS, "X-Accel-Buffering": "no"})
        response.content_type = "text/event-stream"
        response.charset = "utf-8"
        await response.prepare(request)
        self._feed.readers += 1
        # A page that closes is the normal end of its stream.
        with contextlib.suppress(ConnectionError):
            await response.write(b"retry: 1000\n\n")
            try:
                while not self._feed.closed:
                    number = await self._tell(response, player, number)
                    if not await self._feed.wait(number, HEARTBEAT_SECONDS):
                        await response.write(b": still here\n\n")
            finally:
                self._feed.readers -= 1
        return response

    async def _tell(self, response: web.StreamResponse, player: str, number: int | None) -> int:
        latest = self._feed.number
        news = None if number is None else self._feed.since(number)
        if news is None:
            await response.write(_frame(self._feed.mark(latest), "reset", {}))
            return latest
        for event in news:
            if self._room.concerns(event, player):
                await response.write(_frame(self._feed.mark(event.number), event.kind, event.data))
        return latest


def _frame(mark: str, kind: str, data: object) -> bytes:
    return f"id: {mark}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise ApiError(400, "The body is not JSON.") from None
    if not isinstance(body, dict):
        raise ApiError(400, "The body must be a JSON object.")
    return body


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
