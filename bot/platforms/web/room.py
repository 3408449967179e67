"""What people do in the playground: checked, shown to everybody it concerns, and told to dispatch."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from bot.platforms.web.chat import WebChat, WebResponder, message_of, person_of
from bot.platforms.web.http.feed import LONGEST_NUMBER, Event
from bot.platforms.web.http.requests import MAX_CHARACTERS, ApiError, player_of, text_of, visible
from bot.platforms.web.people import (
    BOT,
    BOT_NAME,
    CHANNELS,
    PLATFORM,
    PLAYERS,
    Channel,
    Player,
    with_accounts,
    without_mention,
)
from bot.platforms.web.post import Post
from bot.platforms.web.presses import Presses, noted
from bot.platforms.web.progress import ASKED, examples, modes
from bot.platforms.web.state import Posts
from bot.ports.chat import Attachment, Command
from core.domain import MessageRef
from core.errors import ThreadloreError
from core.settings import Settings
from core.system.offload import aside

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

log = logging.getLogger(__name__)

SHOWN = 100
"""Messages that are written out at once: each takes 30 µs."""
GRACE_SECONDS = 1.0
"""Time that running answers have to end when the playground stops."""
LOOK_SECONDS = 0.25
"""Between two looks whether a message waits because nothing can be written down."""
_COMMANDS = ("ask", "threadlore")


class Room:
    """Everything that the API does, without HTTP; mistakes raise ApiError."""

    def __init__(self, posts: Posts, chat: WebChat, dispatch: Dispatch, settings: Settings) -> None:
        self._posts = posts
        self._chat = chat
        self._dispatch = dispatch
        self._settings = settings
        self._tasks: set[asyncio.Task[None]] = set()
        self.presses = Presses(posts, chat, dispatch, settings, self._soon)

    # --- reading ------------------------------------------------------------------------------

    async def open(self) -> None:
        """Say how channels are served where nobody says so."""
        for channel in CHANNELS.values():
            self._dispatch.pages.suppose(f"{PLATFORM}:{channel.id}", channel.mode)

    async def state(self, person: str) -> dict[str, Any]:
        """Return all that one person's page shows."""
        player = player_of(person)
        releases = await self._dispatch.releases()
        product, pages = self._dispatch.product, self._dispatch.pages
        served = await modes(self._dispatch)
        answered = await pages.examples(ASKED)
        seen = self._posts.seen_by(player.id)
        return {
            "person": player.id,
            "people": [
                {
                    "id": p.id,
                    "name": p.name,
                    "about": p.about,
                    "admin": person_of(p, self._settings).admin,
                    "direct": self._posts.last_direct(p.id),
                }
                for p in PLAYERS.values()
            ],
            "bot": {"id": BOT, "name": BOT_NAME},
            "product": product,
            "channels": [
                {
                    "id": c.id,
                    "name": c.name,
                    "kind": c.kind,
                    "topic": c.topic,
                    "listens": c.listens,
                    "forum": c.forum,
                    "mode": served.get(c.id, c.mode),
                }
                for c in CHANNELS.values()
                if c.seen_by(player.id)
            ],
            "messages": await aside(len(seen), lambda: [post.shown() for post in seen], few=SHOWN),
            "releases": releases,
            "progress": self._dispatch.progress(),
            "examples": examples(product, releases, answered),
            "commands": pages.commands(person_of(player, self._settings)),
            "privacy": pages.privacy,
            "limit": MAX_CHARACTERS,
        }

    def concerns(self, event: Event, player: str) -> bool:
        """Return True if a change is for that person's eyes."""
        if event.only not in ("", player):
            return False
        return not event.channel or CHANNELS[event.channel].seen_by(player)

    async def why(self, answer: str, person: str) -> dict[str, Any]:
        """Return what led to an answer, to people who can read that answer."""
        try:
            if not self._reads(answer, person):
                raise KeyError(answer)
            found: dict[str, Any] = await self._dispatch.why(answer)
            return found
        except KeyError:
            raise ApiError(404, "Nothing is known any more about how this answer came about.") from None

    async def source(self, answer: str, number: str, person: str) -> dict[str, Any]:
        """Return a source of an answer with its page's words, to people who can read that answer."""
        try:
            is_number = number.isdecimal() and len(number) < LONGEST_NUMBER
            if not self._reads(answer, person) or not is_number:
                raise KeyError(number)
            return await self._dispatch.pages.source(answer, int(number))
        except KeyError:
            raise ApiError(404, "This source is not known any more.") from None

    def _reads(self, answer: str, person: str) -> bool:
        post = self._posts.answered_with(answer)
        return post is not None and CHANNELS[post.channel].seen_by(person) and post.only in ("", person)

    def file(self, post_id: str, name: str, player: str) -> Attachment:
        """Return a file that goes with a message to one person alone, to that person."""
        found = self._posts.file(post_id, name, player)
        if found is None:
            raise ApiError(404, "There is no such file any more; give the command again.")
        return found

    # --- what people do -----------------------------------------------------------------------

    async def say(self, body: Mapping[str, Any]) -> str:
        """Post a message, hand it to dispatch, and return its id once neither can be lost."""
        player, channel, thread = self._place(body)
        post = self._posts.add(channel.id, player.id, text_of(body), thread=thread)
        told = message_of(post, self._settings)
        await self._taken(post, lambda taken: self._dispatch.message(self._chat, told, taken))
        return post.id

    async def edit(self, post_id: str, body: Mapping[str, Any]) -> str:
        """Change one's own message; return once neither that nor what becomes of it can be lost."""
        post = self._own(post_id, body)
        text = text_of(body)
        if text != post.text:
            post = self._posts.change(post, text=text, edited=True)
            told = message_of(post, self._settings)
            await self._taken(post, lambda taken: self._dispatch.edited(self._chat, told, taken))
        return post.id

    async def _taken(
        self, post: Post, work: Callable[[Callable[[], None]], Coroutine[Any, Any, None]]
    ) -> None:
        """Begin what is to be done about a message, and wait until that is noted or done.

        While nothing can be written down the message waits, and its thread says so.
        """
        taken = asyncio.Event()
        doing = self._soon(work(taken.set))
        waiting = asyncio.create_task(taken.wait())
        try:
            await self._posts.settled()
            while not (doing.done() or taken.is_set() or self._dispatch.waits(post.ref.key)):
                await asyncio.wait(
                    {doing, waiting}, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            waiting.cancel()

    def delete(self, post_id: str, body: Mapping[str, Any]) -> str:
        """Delete one's own message, or put away what the bot said to oneself alone."""
        player = player_of(body.get("person"))
        post = visible(self._posts, post_id, player, whispers=True)
        if post.only:
            self._posts.remove(post)
            return post.id
        post = self._own(post_id, body)
        self._posts.remove(post)
        self._soon(self._dispatch.deleted(self._chat, post.ref))
        return post.id

    async def command(self, body: Mapping[str, Any]) -> str:
        """Carry out a slash command; its answer is seen by the caller alone. Returns once it is noted."""
        player, channel, thread = self._place(body)
        line = text_of(body)
        name, rest = (*line.removeprefix("/").split(maxsplit=1), "", "")[:2]
        if not line.startswith("/") or name.lower() not in _COMMANDS:
            known = " and ".join(f"/{command}" for command in _COMMANDS)
            near = get_close_matches(name.lower(), _COMMANDS, 1)
            guess = f" Did you mean /{near[0]}?" if near else ""
            raise ApiError(422, f"There is no such command; there are {known}.{guess}")
        post = self._posts.add(channel.id, BOT, "", thread=thread, final=False, only=player.id, command=line)
        where = MessageRef(post.ref.platform, channel.id, post.id, thread)
        person, event = person_of(player, self._settings), f"command-{post.id}"
        given = rest if name.lower() == "ask" else with_accounts(rest)
        told = Command(name.lower(), given, person, where, channel.scope, event)
        return await self._commanded(told, post)

    async def _commanded(self, told: Command, post: Post) -> str:
        """Have a command noted, begin to carry it out, and return the id of the message that answers it."""
        responder = WebResponder(self._posts, self._chat, post)
        try:
            await noted(self._dispatch, "command", told.event, told.person, responder.address)
        except ApiError:
            self._posts.remove(post)
            raise
        self._soon(self._answer(told, responder))
        return post.id

    async def answer_this(self, post_id: str, body: Mapping[str, Any]) -> str:
        """Ask with the words of a message, as its menu does elsewhere; the answer is for one person alone."""
        player = player_of(body.get("person"))
        asked = visible(self._posts, post_id, player)
        thread = asked.ref.thread
        shown: dict[str, Any] = {"thread": thread, "final": False, "only": player.id}
        post = self._posts.add(asked.channel, BOT, "", command="Answer this", **shown)
        person, event = person_of(player, self._settings), f"command-{post.id}"
        text, scope = without_mention(asked.text), CHANNELS[asked.channel].scope
        told = Command("ask", text, person, asked.ref, scope, event, asked.turn.author)
        return await self._commanded(told, post)

    async def close(self) -> None:
        """Let what is running end, for a moment."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # --- helpers ------------------------------------------------------------------------------

    def _place(self, body: Mapping[str, Any]) -> tuple[Player, Channel, str]:
        player = player_of(body.get("person"))
        name, thread = body.get("channel"), body.get("thread") or ""
        channel = CHANNELS.get(name) if isinstance(name, str) else None
        if channel is None or not channel.seen_by(player.id):
            seen = ", ".join(c.id for c in CHANNELS.values() if c.seen_by(player.id))
            raise ApiError(404, f"`channel` must be one of {seen}.")
        if thread:
            root = self._posts.get(thread) if isinstance(thread, str) else None
            if root is None or root.channel != channel.id or root.thread or root.only:
                raise ApiError(404, "`thread` must be the id of a message that is not itself a reply.")
            if channel.kind == "direct":
                raise ApiError(422, "Direct messages have no threads; leave `thread` out.")
        return player, channel, str(thread)

    def _own(self, post_id: str, body: Mapping[str, Any]) -> Post:
        player = player_of(body.get("person"))
        post = visible(self._posts, post_id, player)
        if post.author != player.id:
            raise ApiError(403, "Only the author may change a message.")
        return post

    async def _answer(self, command: Command, responder: WebResponder) -> None:
        said = "Done."
        try:
            await self._dispatch.command(self._chat, command, responder)
        except ThreadloreError as error:
            log.warning("/%s failed: %s", command.name, error)
            said = error.told
        except Exception:  # the caller must not be left with a message that says nothing
            log.exception("/%s failed", command.name)
            said = ThreadloreError.told
        responder.finish(said)

    def resume(self) -> None:
        """Have what a dead process left unanswered answered now, and what it showed only counted."""
        self._soon(self._dispatch.resume(self._chat))
        self._dispatch.recount.begin(self._chat, self._chat)

    def _soon(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:  # one message that fails must not end the server; the log says which
        log.exception("a message in the playground was not handled")
