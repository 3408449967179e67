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
                                       releases {releases, examples}, modes {modes},
                                       reset (fetch the state again)
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
{emoji: [people]}, controls: [{name, label, value, choices: [{value, label}]}], gone, only, command,
remembered};
`thread` is the root's id and empty for roots. A form is {name, title, value, fields: [{name, label,
choices, required}]}.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from bot.platforms.web.chat import WebChat
from bot.platforms.web.dashboard import Dashboard
from bot.platforms.web.http.feed import Feed
from bot.platforms.web.http.guard import Handler, Token
from bot.platforms.web.http.requests import ApiError, body_of, player_of
from bot.platforms.web.http.server import Server
from bot.platforms.web.http.stream import stream
from bot.platforms.web.journal import Journal
from bot.platforms.web.people import PLATFORM
from bot.platforms.web.progress import watch
from bot.platforms.web.room import Room
from bot.platforms.web.state import Posts
from bot.platforms.web.widget.widget import Widget
from bot.ports.platforms import Platform, configured, serves_playground
from core.settings import Settings
from core.system.json_parts import written

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

log = logging.getLogger(__name__)

TOKEN_BYTES = 24
WATCH_SECONDS = 0.5
"""How often running index work is looked at while a page is open."""
COOKIE = "threadlore_playground"
WANTED = (
    "The playground wants its token: open the link that `threadlore serve` printed, or /?token=… with "
    "PLAYGROUND_TOKEN, or send it in an Authorization header."
)
NO_PLAYGROUND = (
    "There is no playground beside other platforms unless THREADLORE_PLAYGROUND=true asks for it; "
    "/dashboard shows the figures."
)


def connect(settings: Settings, dispatch: Dispatch) -> Platform | None:
    """Build the playground, or the dashboard and the widget; return None where all of it is switched off."""
    widget = Widget(settings, dispatch.readers, dispatch.holders) if settings.widget_origins else None
    if serves_playground(settings):
        return Playground(settings, dispatch, widget)
    return WithoutPlayground(settings, dispatch, widget) if settings.playground is None or widget else None


class Playground:
    """Serves the page and its API on one port; `url` is set while it does.

    With another platform beside it, and where others than this machine reach it, it wants a token: whoever
    plays an admin commands the whole bot.
    """

    name = PLATFORM

    def __init__(self, settings: Settings, dispatch: Dispatch, widget: Widget | None = None) -> None:
        self.started = asyncio.Event()
        self._settings = settings
        self._dispatch = dispatch
        self._server = Server(settings, widget)
        given = settings.playground_token.get_secret_value().strip()
        is_needed = bool(given) or bool(configured(settings)) or not self._server.local
        self._is_made = is_needed and not given
        made = secrets.token_urlsafe(TOKEN_BYTES) if self._is_made else ""
        self._token = Token(given or made, COOKIE, "/")
        self._feed = Feed()
        self._journal = Journal(settings.home / "playground.jsonl")
        self._posts = Posts(self._feed, self._journal, is_out=dispatch.is_out)
        self.chat = WebChat(self._posts, settings, self._server)
        self._room = Room(self._posts, self.chat, dispatch, settings)
        self._stopping = asyncio.Event()
        self._add_routes()

    @property
    def url(self) -> str:
        """Return where it is served, empty while it is not."""
        return self._server.url

    @property
    def link(self) -> str:
        """Return the address that opens it, with the token where it wants one."""
        return f"{self.url}{self._token.link}"

    @property
    def address(self) -> str:
        """Return the address that may be shown at a terminal: with the token if nobody else knows it."""
        return self.link if self._is_made and self.url else self.url

    async def run(self) -> None:
        """Serve until `stop`; raises PlatformRejected where the port cannot be had."""
        if not self._server.local:
            log.warning(
                "the playground listens on %s: anybody with its token can play everybody, admins included",
                self._settings.host,
            )
        watching = asyncio.create_task(watch(self._feed, self._dispatch, WATCH_SECONDS))
        try:
            await self._posts.load()
            holders, posts = self._dispatch.holders, self._posts
            with holders.running(self.name, forget=posts.forget, expire=posts.expire):
                await self._room.open()
                await self._server.start()
                self.started.set()
                self._room.resume()
                self._tell()
                await self._stopping.wait()
        finally:
            watching.cancel()
            self.started.clear()
            self._feed.close()
            await self._server.stop()
            await self._room.close()
            self._posts.close()
            await self._journal.close()

    async def stop(self) -> None:
        """Close the port and write the conversation down."""
        self._stopping.set()

    def _tell(self) -> None:
        log.info("the playground is on %s", self.url)
        # not in the log: it hides tokens, and more people may read it
        if self._is_made or sys.stderr.isatty():
            print(f"Open the playground: {self.address}", flush=True)

    def _add_routes(self) -> None:
        router, admitted = self._server.app.router, self._admitted
        router.add_get("/", self._page)
        router.add_get("/api/state", admitted(self._state))
        router.add_get("/api/events", admitted(self._events))
        router.add_post("/api/messages", admitted(self._post))
        router.add_patch("/api/messages/{id}", admitted(self._edit))
        router.add_delete("/api/messages/{id}", admitted(self._delete))
        router.add_post("/api/messages/{id}/answer", admitted(self._answer_this))
        router.add_post("/api/reactions", admitted(self._react))
        router.add_post("/api/presses", admitted(self._press))
        router.add_post("/api/commands", admitted(self._command))
        router.add_get("/api/answers/{id}/why", admitted(self._why))
        router.add_get("/api/answers/{id}/sources/{number}", admitted(self._source))
        router.add_get("/api/files/{id}/{name}", admitted(self._file))
        self._server.add(partial(_dashboard, self._settings, self._dispatch, self._server))

    def _admitted(self, handler: Handler) -> Handler:
        async def admitted(request: web.Request) -> web.StreamResponse:
            if self._token:
                self._token.admit(request, WANTED)
            return await handler(request)

        return admitted

    async def _page(self, request: web.Request) -> web.StreamResponse:
        return self._token.opened(request) or await self._admitted(self._server.show)(request)

    async def _state(self, request: web.Request) -> web.Response:
        mark = self._feed.mark(self._feed.number)
        state = await self._room.state(request.query.get("person", ""))
        # a thousand messages of the longest kind are 12 MB
        told = await asyncio.to_thread(lambda: "".join(written({**state, "event": mark})))
        return web.json_response(text=told)

    async def _post(self, request: web.Request) -> web.Response:
        return web.json_response({"id": await self._room.say(body_of(await request.read()))}, status=201)

    async def _edit(self, request: web.Request) -> web.Response:
        changed = await self._room.edit(request.match_info["id"], body_of(await request.read()))
        return web.json_response({"id": changed})

    async def _delete(self, request: web.Request) -> web.Response:
        body = body_of(await request.read())
        return web.json_response({"id": self._room.delete(request.match_info["id"], body)})

    async def _answer_this(self, request: web.Request) -> web.Response:
        made = await self._room.answer_this(request.match_info["id"], body_of(await request.read()))
        return web.json_response({"id": made}, status=202)

    async def _react(self, request: web.Request) -> web.Response:
        return web.json_response({"reactions": await self._room.presses.react(body_of(await request.read()))})

    async def _press(self, request: web.Request) -> web.Response:
        return web.json_response(await self._room.presses.press(body_of(await request.read())))

    async def _command(self, request: web.Request) -> web.Response:
        return web.json_response({"id": await self._room.command(body_of(await request.read()))}, status=202)

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


class WithoutPlayground:
    """Serves the dashboard, the widget and what machines ask, on the playground's port.

    With THREADLORE_PLAYGROUND=false there is no dashboard either, only the widget and the sign of life.
    """

    name = PLATFORM

    def __init__(self, settings: Settings, dispatch: Dispatch, widget: Widget | None = None) -> None:
        self._server = Server(settings, widget)
        self._has_dashboard = settings.playground is None
        if self._has_dashboard:
            self._server.app.router.add_get("/", self._none)
            self._server.add(partial(_dashboard, settings, dispatch, self._server))
        else:
            self._server.add(None)
        self.started = asyncio.Event()
        self._stopping = asyncio.Event()

    @property
    def url(self) -> str:
        """Return where it is served, empty while it is not."""
        return self._server.url

    async def run(self) -> None:
        """Serve until `stop`; raises PlatformRejected where the port cannot be had."""
        try:
            await self._server.start()
            self.started.set()
            if self._has_dashboard:
                log.info("the dashboard is on %s/dashboard; beside other platforms no playground", self.url)
            else:
                log.info("the widget is on %s/widget.js; there is neither dashboard nor playground", self.url)
            await self._stopping.wait()
        finally:
            self.started.clear()
            await self._server.stop()

    async def stop(self) -> None:
        """Close the port."""
        self._stopping.set()

    async def _none(self, request: web.Request) -> web.Response:
        raise ApiError(404, NO_PLAYGROUND)


def _dashboard(settings: Settings, dispatch: Dispatch, server: Server, page: bytes) -> Dashboard:
    return Dashboard(settings, dispatch, page, local=server.local, public=lambda: server.public)
