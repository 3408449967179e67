"""The playground: a page that looks and works like a channel, and the HTTP API behind it.

People are `ada`, `ben`, `noor` (newcomer), `hana` (helper) and `chloe` (admin); channels `help`, `general`,
`forum`, `maintainers` (private: Ada, Hana and Chloé) and one direct channel each, `dm-ada`. Bodies are JSON
objects; an error is `{"error": "one sentence"}` with a status of 4xx. `/#/m/{id}` shows a message.

    GET    /                           the page
    GET    /healthz                    {"ok": true}
    GET    /api/state?person=P         people, channels, messages P may see, releases, progress, examples,
                                       commands, the sentence on privacy,
                                       and `event`: where the stream of events goes on from this state
    GET    /api/events?person=P&since=E   server-sent events, resumed by `Last-Event-ID`:
                                       posted | edited | reaction (a message), deleted {id, channel, thread},
                                       direct {person, id} (the bot wrote to them), progress {running},
                                       releases {releases}, modes {modes}, reset (fetch the state again)
    POST   /api/messages               {person, channel, text, thread?} -> 201 {id}
    PATCH  /api/messages/{id}          {person, text} -> {id}              own messages only
    DELETE /api/messages/{id}          {person} -> {id}                    own, or whispered to oneself
    POST   /api/messages/{id}/answer   {person} -> 202 {id}; "Answer this": asks with that message's words
    POST   /api/reactions              {person, message, emoji, added} -> {reactions}; 👍 👎 ✅ ❌
    POST   /api/presses                {person, message, name, value, fields?} -> {form}; uses a control, or
                                       sends a form (`fields`); `form` is what opens then, or null
    POST   /api/commands               {person, channel, text, thread?} -> 202 {id}; "/ask …", "/threadlore …"
    GET    /api/answers/{id}/why?person=P   what led to an answer
    GET    /api/answers/{id}/sources/{n}?person=P   {number, title, url, release, path, text} of a source
    GET    /api/files/{id}/{name}?person=P   a file that goes with a message to that person

A message is {id, channel, thread, author, text, at, edited, final, release, answer, votable, reactions:
{emoji: [people]}, controls: [{name, label, value, choices: [{value, label}]}], gone, only, command};
`thread` is the root's id and empty for roots. A form is {name, title, value, fields: [{name, label,
choices, required}]}.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bot.chat import Platform
from bot.platforms.web_chat import WebChat
from bot.platforms.web_dashboard import Dashboard
from bot.platforms.web_feed import Feed, Journal
from bot.platforms.web_guard import Guard, is_loopback
from bot.platforms.web_people import PLATFORM
from bot.platforms.web_progress import watch
from bot.platforms.web_requests import ApiError, player_of
from bot.platforms.web_room import Room
from bot.platforms.web_state import Posts
from bot.platforms.web_stream import stream
from core.errors import PlatformRejected
from core.json_parts import written
from core.settings import Settings

if TYPE_CHECKING:
    from bot.dispatch import Dispatch

log = logging.getLogger(__name__)

BODY_BYTES = 256 * 1024
"""Largest request body; four bytes for each of the characters a message may have, and escapes."""
WATCH_SECONDS = 0.5
"""How often running index work is looked at while a page is open."""
_PAGE = Path(__file__).parent / "playground"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}


def connect(settings: Settings, dispatch: Dispatch) -> Platform | None:
    """Build the playground, or return None where it is switched off."""
    return Playground(settings, dispatch) if settings.playground else None


class Playground:
    """Serves the page and its API on one port; `url` is set while it does."""

    name = PLATFORM

    def __init__(self, settings: Settings, dispatch: Dispatch) -> None:
        self.url = ""
        self.started = asyncio.Event()
        self._settings = settings
        self._dispatch = dispatch
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
            self._posts.is_out = self._dispatch.is_out
            await self._posts.load()
            await self._room.open()
            self._dispatch.forgetters.append(self._posts.forget)
            self._dispatch.expirers.append(self._posts.expire)
            await self._listen(runner)
            self.started.set()
            self._room.resume()
            log.info("the playground is on %s", self.url)
            await self._stopping.wait()
        finally:
            watching.cancel()
            self._dispatch.forgetters[:] = [f for f in self._dispatch.forgetters if f != self._posts.forget]
            self._dispatch.expirers[:] = [e for e in self._dispatch.expirers if e != self._posts.expire]
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
        app = web.Application(client_max_size=BODY_BYTES, middlewares=[Guard(self._local).handle])
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
        app.router.add_get("/api/answers/{id}/sources/{number}", self._source)
        app.router.add_get("/api/files/{id}/{name}", self._file)
        Dashboard(self._settings, self._dispatch, self._local, page["dashboard.html"]).add_to(app)
        app.router.add_get("/{name}", show)
        return app

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _state(self, request: web.Request) -> web.Response:
        mark = self._feed.mark(self._feed.number)
        state = await self._room.state(request.query.get("person", ""))
        # a thousand messages of the longest kind are 12 MB
        told = await asyncio.to_thread(lambda: "".join(written({**state, "event": mark})))
        return web.json_response(text=told)

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

    async def _source(self, request: web.Request) -> web.Response:
        given, person = request.match_info, request.query.get("person", "")
        return web.json_response(await self._room.source(given["id"], given["number"], person))

    async def _file(self, request: web.Request) -> web.Response:
        """Hand out a file that goes with a message to one person, such as all that is held of them."""
        player = player_of(request.query.get("person", "")).id
        found = self._room.file(request.match_info["id"], request.match_info["name"], player)
        headers = {"Content-Disposition": f'attachment; filename="{found.name}"', "Cache-Control": "no-store"}
        return web.json_response(text=found.text, headers=headers)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        player = player_of(request.query.get("person", "")).id
        return await stream(request, self._feed, lambda event: self._room.concerns(event, player))


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
