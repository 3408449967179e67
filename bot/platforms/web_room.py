"""What people do in the playground: checked, shown to everybody it concerns, and told to dispatch."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from bot.chat import DOWN, UP, Command, Message, Person, Reaction, vote_of
from bot.platforms.web_chat import WebChat, WebResponder
from bot.platforms.web_feed import Event
from bot.platforms.web_progress import examples
from bot.platforms.web_state import (
    BOT,
    BOT_NAME,
    CHANNELS,
    PLAYERS,
    Channel,
    Player,
    Post,
    Posts,
    mentions_bot,
    mentions_others,
    without_mention,
)
from core.domain import MessageRef
from core.errors import ThreadloreError
from core.settings import Settings

if TYPE_CHECKING:
    from bot.dispatch import Dispatch

log = logging.getLogger(__name__)

MAX_CHARACTERS = 12_000
"""Longest message; what Slack's Markdown block takes."""
GRACE_SECONDS = 1.0
"""Time that running answers have to end when the playground stops."""
# Control characters and lone surrogates: legal in JSON, but no database takes them.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_COMMANDS = ("ask", "threadlore")


class ApiError(Exception):
    """Say in one sentence what a request got wrong; `status` is HTTP's."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Room:
    """Everything that the API does, without HTTP; mistakes raise ApiError."""

    def __init__(self, posts: Posts, chat: WebChat, dispatch: Dispatch, settings: Settings) -> None:
        self._posts = posts
        self._chat = chat
        self._dispatch = dispatch
        self._settings = settings
        self._tasks: set[asyncio.Task[None]] = set()
        self._voting = asyncio.Lock()

    # --- reading ------------------------------------------------------------------------------

    def player(self, name: object) -> Player:
        """Return the person of that name."""
        player = PLAYERS.get(name) if isinstance(name, str) else None
        if player is None:
            raise ApiError(422, f"`person` must be one of {', '.join(PLAYERS)}.")
        return player

    async def state(self, person: str) -> dict[str, Any]:
        """Return all that one person's page shows."""
        player = self.player(person)
        releases = await self._dispatch.releases()
        product = self._dispatch.product
        return {
            "person": player.id,
            "people": [{"id": p.id, "name": p.name, "about": p.about} for p in PLAYERS.values()],
            "bot": {"id": BOT, "name": BOT_NAME},
            "product": product,
            "channels": [
                {"id": c.id, "name": c.name, "kind": c.kind, "topic": c.topic, "listens": c.listens}
                for c in CHANNELS.values()
                if c.seen_by(player.id)
            ],
            "messages": [post.shown() for post in self._posts.seen_by(player.id)],
            "releases": releases,
            "progress": self._dispatch.progress(),
            "examples": examples(product, releases),
            "limit": MAX_CHARACTERS,
        }

    def concerns(self, event: Event, player: str) -> bool:
        """Tell whether a change is for that person's eyes."""
        if event.only not in ("", player):
            return False
        return not event.channel or CHANNELS[event.channel].seen_by(player)

    async def why(self, answer: str, person: str) -> dict[str, Any]:
        """Return what led to an answer, to people who can read that answer."""
        post = self._posts.answered_with(answer)
        seen = post is not None and CHANNELS[post.channel].seen_by(person) and post.only in ("", person)
        try:
            if not seen:
                raise KeyError(answer)
            found: dict[str, Any] = await self._dispatch.why(answer)
            return found
        except KeyError:
            raise ApiError(404, "Nothing is known any more about how this answer came about.") from None

    # --- what people do -----------------------------------------------------------------------

    def say(self, body: Mapping[str, Any]) -> str:
        """Post a message and hand it to dispatch; return its id."""
        player, channel, thread = self._place(body)
        post = self._posts.add(channel.id, player.id, _text(body), thread=thread)
        self._soon(self._dispatch.message(self._chat, self._message(post)))
        return post.id

    def edit(self, post_id: str, body: Mapping[str, Any]) -> str:
        """Change one's own message."""
        post = self._own(post_id, body)
        text = _text(body)
        if text != post.text:
            post = self._posts.change(post, text=text, edited=True)
            self._soon(self._dispatch.edited(self._chat, self._message(post)))
        return post.id

    def delete(self, post_id: str, body: Mapping[str, Any]) -> str:
        """Delete one's own message."""
        post = self._own(post_id, body)
        self._posts.remove(post)
        self._soon(self._dispatch.deleted(self._chat, post.ref))
        return post.id

    async def react(self, body: Mapping[str, Any]) -> dict[str, list[str]]:
        """Put a vote on a message or take it off; the other vote of the same person goes first."""
        player = self.player(body.get("person"))
        emoji, added = body.get("emoji"), body.get("added")
        vote = vote_of(emoji) if isinstance(emoji, str) else None
        if vote is None or not isinstance(added, bool):
            raise ApiError(422, f"`emoji` must be {UP} or {DOWN}, and `added` true or false.")
        wanted = UP if vote else DOWN
        async with self._voting:
            post = self._visible(body.get("message"), player)
            before = post.votes.get(player.id)
            if (before == wanted) == added:
                return post.voters
            votes = {person: own for person, own in post.votes.items() if person != player.id}
            post = self._posts.change(post, votes={**votes, player.id: wanted} if added else votes)
            if before and before != wanted:
                await self._tell_reaction(post, player, before, added=False)
            await self._tell_reaction(post, player, wanted, added=added)
            return post.voters

    def command(self, body: Mapping[str, Any]) -> str:
        """Carry out a slash command; its answer is seen by the caller alone."""
        player, channel, thread = self._place(body)
        line = _text(body)
        name, _, rest = line.removeprefix("/").partition(" ")
        if not line.startswith("/") or name.lower() not in _COMMANDS:
            known = " and ".join(f"/{command}" for command in _COMMANDS)
            raise ApiError(422, f"There is no such command; there are {known}.")
        post = self._posts.add(channel.id, BOT, "", thread=thread, final=False, only=player.id, command=line)
        where = MessageRef(post.ref.platform, channel.id, post.id, thread)
        told = Command(
            name.lower(), rest.strip(), self._person(player), where, channel.scope, f"command-{post.id}"
        )
        self._soon(self._answer(told, WebResponder(self._posts, self._chat, post)))
        return post.id

    async def close(self) -> None:
        """Let what is running end, for a moment."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # --- helpers ------------------------------------------------------------------------------

    def _place(self, body: Mapping[str, Any]) -> tuple[Player, Channel, str]:
        player = self.player(body.get("person"))
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

    def _visible(self, post_id: object, player: Player) -> Post:
        post = self._posts.get(post_id) if isinstance(post_id, str) else None
        if post is None or post.gone or not CHANNELS[post.channel].seen_by(player.id) or post.only:
            raise ApiError(404, "There is no such message any more.")
        return post

    def _own(self, post_id: str, body: Mapping[str, Any]) -> Post:
        player = self.player(body.get("person"))
        post = self._visible(post_id, player)
        if post.author != player.id:
            raise ApiError(403, "Only the author may change a message.")
        return post

    def _person(self, player: Player) -> Person:
        known = player.person
        return Person(
            known.id,
            known.name,
            admin=known.admin or known.id in self._settings.admins,
            helper=known.id in self._settings.helpers,
        )

    def _message(self, post: Post) -> Message:
        channel = CHANNELS[post.channel]
        opens = not post.thread
        return Message(
            post.ref,
            self._person(PLAYERS[post.author]),
            without_mention(post.text),
            channel.scope,
            mentions_bot=mentions_bot(post.text) or (channel.listens and opens),
            mentions_others=mentions_others(post.text),
        )

    async def _tell_reaction(self, post: Post, player: Player, emoji: str, *, added: bool) -> None:
        try:
            reaction = Reaction(
                post.ref, self._person(player), emoji, added, f"reaction-{self._posts.new_id()}"
            )
            await self._dispatch.reaction(self._chat, reaction)
        except Exception:  # the click stands whatever becomes of the vote; never posted
            log.exception("a vote in the playground was not taken")

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
        """Have what a dead process left unanswered answered now."""
        self._soon(self._dispatch.resume(self._chat))

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:  # one message that fails must not end the server; the log says which
        log.exception("a message in the playground was not handled")


def _text(body: Mapping[str, Any]) -> str:
    text = body.get("text")
    text = (
        _UNWRITABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
        if isinstance(text, str)
        else ""
    )
    if not text:
        raise ApiError(422, "`text` must say something.")
    if len(text) > MAX_CHARACTERS:
        raise ApiError(413, f"The message is too long: {len(text)} of {MAX_CHARACTERS} characters.")
    return text
