"""What the widget asks of the bot, over HTTP and from other sites; `WIDGET_ORIGINS` says which.

    GET  /widget.js          the script that a site includes
    GET  /widget/{name}      its parts, loaded once somebody opens it
    GET  /widget/api/hello   {product, label}; ?language=de
    POST /widget/api/open    {page, release?, product?, conversation?, language?} -> {product, release, page,
                             said, releases, latest, examples, words, limit, conversation: {id, told, asked}
                             or null}; `page` is the release of the page itself, whatever was chosen
    POST /widget/api/ask     {text, page, release?, conversation?, language?} -> a stream (`stream.py`)
    POST /widget/api/follow  {conversation} -> the stream of the answer that is being written
    POST /widget/api/vote    {conversation, answer, vote: "up" | "down" | ""} -> {vote}
    POST /widget/api/forget  {conversation} -> {}

An error is `{"error": "what happened, and what to do"}`, with `retry` in seconds where waiting helps. There
are no cookies and no accounts: a conversation is its key, which the page keeps. Nobody here is an admin, and
nothing is heard here that is not public.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

from aiohttp import web

from bot.conversation.limits import Limits, rounded, wait_text
from bot.conversation.readers import PLATFORM, Asked, Readers, Serving
from bot.platforms.web.http.guard import Handler
from bot.platforms.web.http.requests import ApiError, body_of, cleaned
from bot.platforms.web.widget.conversations import Conversation, Conversations, Growing, Told
from bot.platforms.web.widget.files import Files
from bot.platforms.web.widget.sites import API, HELLO, SCRIPT, Sites, site_of
from bot.platforms.web.widget.stream import stream
from bot.platforms.web.widget.words import BUSY, GONE, LONG, STOPPED, UNREAD, WAITS, language_of, told, words
from bot.privacy.exports import Holders
from core.errors import ThreadloreError
from core.languages import _, plain, speaking
from core.settings import Settings

log = logging.getLogger(__name__)

MAX_CHARACTERS = 2_000
"""Longest question."""
BODY_BYTES = 16 * 1024
AT_ONCE = 8
"""Answers that are written for readers at the same time."""
LOOKS = 10
"""How many of the other requests an address may send for each question; every page of a site says hello."""
_VOTES: Mapping[str, Literal[0, 1] | None] = {"up": 1, "down": 0, "": None}


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of a site's page: from where, about which release, in which language, with what else."""

    origin: str
    language: str
    body: Mapping[str, Any]
    serving: Serving


class Limited(ApiError):
    """Say that somebody asked too often, and how many seconds to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(429, wait_text(seconds))
        self.retry = rounded(seconds)


class Widget:
    """Serves the widget's files, and answers what it asks."""

    def __init__(self, settings: Settings, readers: Readers, holders: Holders) -> None:
        self.sites = Sites(settings.widget_origins, settings.widget_proxies)
        self.conversations = Conversations()
        self._readers = readers
        self._holders = holders
        self._language = plain(settings.language)
        per_minute, total = settings.widget_per_minute, settings.widget_total_per_minute
        self._questions = Limits(per_minute, share=max(1.0, total / per_minute))
        self._looks = Limits(LOOKS * per_minute, share=max(1.0, total / per_minute))
        self._files = Files()
        self._is_closed = False

    def add_to(self, app: web.Application) -> None:
        """Add the routes to a server."""
        router = app.router
        router.add_get(SCRIPT, self._files.script)
        router.add_get(HELLO, self._hello)
        for name, handler in (
            ("open", self._open),
            ("ask", self._ask),
            ("follow", self._follow),
            ("vote", self._vote),
            ("forget", self._forget),
        ):
            router.add_post(API + name, self._answered(handler))
        router.add_route("OPTIONS", API + "{name}", self._preflight)
        router.add_get("/widget/{name}", self._files.part)

    def running(self) -> AbstractContextManager[None]:
        """Let people be forgotten in conversations, too, for as long as they are kept."""
        return self._holders.running(PLATFORM, forget=self._forget_people, expire=self._expire)

    async def close(self) -> None:
        """Stop what is being answered, and tell those who wait."""
        self._is_closed = True
        if tasks := self.conversations.clear():
            await asyncio.wait(tasks, timeout=1.0)

    async def _preflight(self, request: web.Request) -> web.Response:
        return web.Response(status=204, headers=self.sites.preflight())

    # --- what readers do ----------------------------------------------------------------------

    def _answered(self, handler: Handler) -> Handler:
        """Return a handler whose refusals say how long to wait, in the reader's language."""

        async def answered(request: web.Request) -> web.StreamResponse:
            try:
                return await handler(request)
            except Limited as error:
                said = {"error": str(error), "retry": error.retry}
                return web.json_response(said, status=429, headers={"Retry-After": str(error.retry)})

        return answered

    async def _hello(self, request: web.Request) -> web.Response:
        language = language_of(request.query.get("language", ""), self._language)
        label = words(language, self._readers.product)["label"]
        return web.json_response({"product": self._readers.product, "label": label})

    async def _open(self, request: web.Request) -> web.Response:
        self._look(request)
        visit = await self._visit(request)
        product = self._readers.product
        wanted = visit.body.get("product")
        if isinstance(wanted, str) and wanted.strip() and wanted.strip().lower() != product.lower():
            raise ApiError(409, f"This bot answers about {product}; correct data-product in the page.")
        kept = self.conversations.of(visit.body.get("conversation"), visit.origin)
        with speaking(visit.language):
            said = told(visit.serving, product, self._readers.latest)
            paused = await self._readers.paused(site_of(visit.origin))
        return web.json_response(
            {
                "product": product,
                "release": visit.serving.release,
                "page": self._readers.serving(site_of(visit.origin), cleaned(visit.body.get("page"))).release,
                "said": paused or said,
                "releases": self._readers.releases,
                "latest": self._readers.latest,
                "examples": await self._readers.examples(site_of(visit.origin)),
                "words": words(visit.language, product),
                "limit": MAX_CHARACTERS,
                "conversation": kept.shown() if kept else None,
            }
        )

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        visit = await self._visit(request)
        with speaking(visit.language):
            text = _question(visit.body)
            if self._is_closed or visit.serving.origin == "none":
                raise ApiError(503, _(STOPPED if self._is_closed else UNREAD))
            if paused := await self._readers.paused(site_of(visit.origin)):
                raise ApiError(503, paused)
            kept = self.conversations.of(visit.body.get("conversation"), visit.origin)
            if kept and kept.growing and not kept.growing.is_over:
                raise ApiError(409, _(WAITS))
            if self.conversations.running >= AT_ONCE:
                raise ApiError(503, _(BUSY))
            if wait := self._questions.wait(self.sites.reader(request), PLATFORM):
                raise Limited(wait)
            said = told(visit.serving, self._readers.product, self._readers.latest)
        conversation = kept or self.conversations.begin(visit.origin)
        growing = self._begin(conversation, text, visit)
        return await self._told(request, conversation, growing, said, visit.serving.release)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        self._look(request)
        visit = await self._visit(request)
        conversation = self._known(visit)
        if conversation.growing is None:
            raise ApiError(404, "Nothing is being answered in this conversation.")
        return await self._told(request, conversation, conversation.growing, "", visit.serving.release)

    async def _vote(self, request: web.Request) -> web.Response:
        self._look(request)
        visit = await self._visit(request)
        given, answer = visit.body.get("vote"), visit.body.get("answer")
        if not isinstance(given, str) or given not in _VOTES or not isinstance(answer, str):
            raise ApiError(422, '`vote` must be "up", "down" or "", and `answer` the id of an answer.')
        conversation = self._known(visit)
        found = conversation.with_answer(answer)
        if found is None:
            raise ApiError(404, "There is no such answer in this conversation; vote on one that it shows.")
        if given != found.vote:
            before, found.vote = found.vote, given
            try:
                is_kept = await self._readers.vote(answer, conversation.reader, _VOTES[given])
            except ThreadloreError as error:
                found.vote = before
                with speaking(visit.language):
                    raise ApiError(503, _(error.told)) from None
            if not is_kept:
                raise ApiError(404, "This answer is not stored any more, so it takes no votes.")
        return web.json_response({"vote": given})

    async def _forget(self, request: web.Request) -> web.Response:
        self._look(request)
        visit = await self._visit(request)
        if kept := self.conversations.of(visit.body.get("conversation"), visit.origin):
            self.conversations.end(kept)
        return web.json_response({})

    # --- answers ------------------------------------------------------------------------------

    def _begin(self, conversation: Conversation, text: str, visit: Visit) -> Growing:
        """Begin to answer; the answer is found also where the page goes away meanwhile."""
        growing = conversation.growing = Growing(text, self._readers.product)
        release = visit.serving.release
        asked = Asked(
            text,
            site_of(visit.origin),
            release,
            release != conversation.release,
            conversation.earlier,
            visit.language,
        )
        conversation.release = release
        conversation.task = asyncio.create_task(self._answer(conversation, growing, asked))
        return growing

    async def _answer(self, conversation: Conversation, growing: Growing, asked: Asked) -> None:
        failed = STOPPED
        try:
            reply = await self._readers.answer(asked, growing)
            one = Told(asked.text, reply.markdown, reply.answer_id, reply.release, reply.remembered)
            conversation.add(one)
            growing.end(one)
        except ThreadloreError as error:
            log.error("a reader's question was not answered: %s", error)
            failed = error.told
        except Exception:  # the asker must not be left with a sign of work
            log.exception("a reader's question was not answered")
            failed = ThreadloreError.told
        finally:
            with speaking(asked.locale):
                growing.end(None, _(failed))

    async def _told(
        self, request: web.Request, conversation: Conversation, growing: Growing, said: str, release: str
    ) -> web.StreamResponse:
        begun = {"conversation": conversation.key, "said": said, "release": release}
        headers = self.sites.headers(request.path, conversation.origin)
        return await stream(request, headers, begun, growing)

    # --- helpers ------------------------------------------------------------------------------

    def _look(self, request: web.Request) -> None:
        if wait := self._looks.wait(self.sites.reader(request), PLATFORM):
            raise Limited(wait)

    def _known(self, visit: Visit) -> Conversation:
        found = self.conversations.of(visit.body.get("conversation"), visit.origin)
        if found is None:
            with speaking(visit.language):
                raise ApiError(404, _(GONE))
        return found

    async def _visit(self, request: web.Request) -> Visit:
        if (request.content_length or 0) > BODY_BYTES:
            raise ApiError(413, f"The body is too long; send at most {BODY_BYTES} bytes.")
        raw = await request.content.read(BODY_BYTES + 1)
        while len(raw) <= BODY_BYTES and not request.content.at_eof():
            raw += await request.content.read(BODY_BYTES + 1 - len(raw))
        if len(raw) > BODY_BYTES:
            raise ApiError(413, f"The body is too long; send at most {BODY_BYTES} bytes.")
        body, origin = body_of(raw), request.headers["Origin"]
        page, chosen = cleaned(body.get("page")), cleaned(body.get("release"))
        serving = self._readers.serving(site_of(origin), page, chosen[:100])
        return Visit(origin, language_of(body.get("language"), self._language), body, serving)

    async def _forget_people(self, accounts: Collection[str], answers: Collection[str]) -> None:
        self.conversations.forget(answers)

    async def _expire(self, before: float, dry_run: bool) -> int:
        return 0  # nothing here is kept for a day


def _question(body: Mapping[str, Any]) -> str:
    text = cleaned(body.get("text"))
    if not text:
        raise ApiError(422, "`text` must be a question.")
    if len(text) > MAX_CHARACTERS:
        raise ApiError(413, _(LONG).format(most=MAX_CHARACTERS, count=len(text)))
    return text
