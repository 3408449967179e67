"""Says things on Discord: posts, edits, deletes, reacts; what was said before is read by `discord_past`."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from operator import methodcaller
from typing import Any

import discord

from bot.platforms.discord import reading
from bot.platforms.discord.components import LateResponder, view
from bot.platforms.discord.markdown import messages
from bot.platforms.discord.past import Past
from bot.platforms.discord.places import (
    BLOCKED,
    NO_DIRECT_MESSAGES,
    NO_SERVER_SHARED,
    THREAD_EXISTS,
    TROUBLE,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    Places,
    Recent,
    code_of,
    failure,
    words_of,
)
from bot.platforms.discord.standing import StandingReactions
from bot.ports.chat import ACCEPT, DOWN, UP, Control, Person, Reaction, Reply, Responder
from bot.rendering.answers import Votes, hung
from core.domain import MessageRef
from core.errors import PlatformError, PlatformRejected
from core.ports.cluster import STILL

log = logging.getLogger(__name__)

EDIT_SECONDS = 1.0
"""Time between two edits of a reply that still grows; Discord allows about five in five seconds."""

SOLVED = frozenset({"solved", "resolved", "answered", "gelöst", "resuelto", "已解决"})
"""What forums call their tag for posts that are solved."""
TAGS = 5
"""Tags that a post takes."""

Part = tuple[str, tuple[Control, ...]]
"""What one message says, and what hangs under it."""


class DiscordChat:
    """`bot.ports.chat.Chat` on a discord.py client."""

    name = reading.NAME

    def __init__(
        self,
        client: discord.Client,
        standing: reading.Standing,
        clock: Callable[[], float] = time.monotonic,
        votes: Votes = "buttons",
    ) -> None:
        self.places = Places(client)
        past = Past(self.places, standing)
        self.standing = StandingReactions(self.places, standing)
        self.history, self.message, self.own_after = past.history, past.message, past.own_after
        self.question_of, self.permalink, self.linked = past.question_of, past.permalink, past.linked
        self._client, self._clock, self._votes = client, clock, votes
        self._questions = Recent()
        self._said = Recent()
        self._edited = Recent()
        self._told: set[tuple[int, str]] = set()

    @property
    def me(self) -> int:
        """Return the bot's own user id, 0 before it is known."""
        return self.places.me

    def heard(self, message: discord.Message, question: str) -> None:
        """Remember what a message says, as the name of the thread that its answer opens."""
        self._questions[message.id] = question

    # --- saying -------------------------------------------------------------------------------

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post a reply: in the thread, in a new thread of the question, or under it in the channel."""
        try:
            target, reference = await self._destination(where)
            sent = await self._send(target, _parts(reply, votes=self._votes), reference)
        except TROUBLE as error:
            raise failure(error, "post an answer", "Send Messages and Send Messages in Threads") from error
        await self._tag_release(where, reply)
        return sent  # the first edit may follow at once: it shows which pages are read

    async def send(self, to: str, reply: Reply) -> tuple[MessageRef, ...]:
        """Post in a channel, or to a person; whom it calls is pinged, and nobody else."""
        called = " ".join(f"<@{call.replace('role:', '&')}>" for call in reply.calls)
        try:
            target = await self.places.addressed(to)
            return await self._send(target, _parts(reply, called), calls=reply.calls)
        except TROUBLE as error:
            if code_of(error) in (NO_DIRECT_MESSAGES, NO_SERVER_SHARED):
                raise PlatformRejected(
                    f"Discord does not let me write to {to}: they must share a server with me and allow "
                    "direct messages from its members; else name a channel."
                ) from error
            raise failure(error, f"write to {to}", "View Channel and Send Messages") from error

    def responder(self, address: Mapping[str, Any]) -> Responder | None:
        """Return how to answer an interaction of an earlier process; None where its token is too old."""
        if address.get("until", 0.0) < time.time():
            return None
        application: Any = {"id": int(address["application"]), "type": 3, "token": str(address["token"])}
        webhook = discord.Webhook.from_state(data=application, state=self._client._connection)
        return LateResponder(webhook, address)

    async def name_of(self, to: str) -> str:
        """Return how people know a public channel or a person; empty where Discord does not tell."""
        try:
            found = await self.places.named(to)
        except (ValueError, discord.DiscordException, *TROUBLE):
            return ""
        name = getattr(found, "display_name", "")
        if name:
            return str(name)
        return f"#{found.name}" if reading.scope(found).kind == "public" else ""

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a reply; one that still grows is left as it is when it was edited just now."""
        now = self._clock()
        if not reply.final and now - self._edited.get(parts[0].key, -EDIT_SECONDS) < EDIT_SECONDS:
            return parts
        self._edited[parts[0].key] = now
        wanted = _parts(reply, votes=self._votes)
        try:
            for part, says in zip(parts, wanted, strict=False):
                if self._said.get(part.key) != says:
                    text, controls = says
                    change = methodcaller("edit", content=text, view=view(controls))
                    await STILL.get()()
                    await self.places.unarchived(part, change)
                    self._said[part.key] = says
            added = await self._send(await self.places.of(parts[-1]), wanted[len(parts) :])
        except TROUBLE as error:
            raise failure(error, "edit an answer", "Send Messages in Threads") from error
        await self.delete(parts[len(wanted) :])
        await self._tag_release(parts[0], reply)
        return parts[: len(wanted)] + added

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        """Delete messages of the bot; those that are gone with or without their thread are no error."""
        for part in parts:
            self._said.pop(part.key, None)
            try:
                await self.places.unarchived(part, methodcaller("delete"))
            except TROUBLE as error:
                if code_of(error) not in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
                    raise failure(error, "delete an answer", "View Channel") from error

    async def seed_votes(self, ref: MessageRef) -> None:
        """Put 👍 and 👎 under a message, where people vote by them; if that fails, they can add their own."""
        if self._votes == "buttons":
            return
        try:
            for emoji in (UP, DOWN):
                await self.places.unarchived(ref, methodcaller("add_reaction", emoji))
        except TROUBLE as error:
            if isinstance(error, discord.Forbidden) or code_of(error) == BLOCKED:
                needed = "Add Reactions and Read Message History"
                self._tell_once(int(ref.channel), needed, f"put votes under answers ({words_of(error)})")
            elif code_of(error) not in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
                raise failure(error, "put votes under an answer", "Add Reactions") from error

    async def solve(self, ref: MessageRef) -> None:
        """Put ✅ under the message that opened a thread, and a forum's tag for what is solved on its post."""
        if not ref.thread:
            return
        root = MessageRef(ref.platform, ref.channel, ref.thread, ref.thread)
        try:
            await self.places.unarchived(root, methodcaller("add_reaction", ACCEPT))
            forum = await self.places.known(ref.channel)
            if isinstance(forum, discord.ForumChannel):
                await self._tag(await self.places.known(ref.thread), forum, SOLVED)
        except TROUBLE as error:
            log.info("a thread cannot be marked as solved: %s", words_of(error))

    async def _tag_release(self, where: MessageRef, reply: Reply) -> None:
        """Put a forum's tag for the release of an answer on its post, where that has none for a release."""
        if not (reply.final and reply.answer_id and reply.release and where.thread):
            return
        try:
            forum = await self.places.known(where.channel)
            if not isinstance(forum, discord.ForumChannel):
                return
            post = await self.places.known(where.thread)
            if not any(re.search(r"\d", tag.name) for tag in post.applied_tags):
                await self._tag(post, forum, reading.tags_of(reply.release, forum))
        except TROUBLE as error:
            log.info("a post gets no tag for its release: %s", words_of(error))

    async def _tag(self, post: discord.Thread, forum: discord.ForumChannel, names: Collection[str]) -> None:
        """Put a tag of a forum on a post, where the forum has it and the post has room for it."""
        tag = next((tag for tag in forum.available_tags if tag.name.casefold() in names), None)
        if tag is None or tag in post.applied_tags or len(post.applied_tags) >= TAGS:
            return
        # of a server that another process hears discord.py does not know what the bot is there
        me = forum.guild.me or await self.places.member(forum.guild.id, self.me)
        if me and not forum.permissions_for(me).manage_threads:
            self._tell_once(forum.id, "Manage Threads", f"put the tag “{tag.name}” on a post")
            return
        await post.add_tags(tag, reason="answered")

    async def take_back(self, reaction: Reaction) -> bool:
        """Take somebody's emoji off a message; return False without the permission Manage Messages."""
        member = discord.Object(int(reaction.person.id.partition(":")[2]))
        try:
            await self.places.unarchived(
                reaction.ref, methodcaller("remove_reaction", reaction.emoji, member)
            )
        except TROUBLE as error:
            log.info("a reaction cannot be taken off: %s", words_of(error))
            return False
        return True

    async def _send(
        self,
        target: Any,
        parts: Sequence[Part],
        reference: discord.MessageReference | None = None,
        calls: Sequence[str] = (),
    ) -> tuple[MessageRef, ...]:
        sent: list[MessageRef] = []
        more = {"allowed_mentions": _only(calls)} if calls else {}
        try:
            for text, controls in parts:
                await STILL.get()()
                message = await target.send(
                    text, suppress_embeds=True, reference=reference, view=view(controls), **more
                )
                reference = None
                sent.append(reading.ref(target, message.id))
                self._said[sent[-1].key] = (text, controls)
        except TROUBLE:
            with suppress(PlatformError):  # half an answer is worse than none
                await asyncio.shield(self.delete(tuple(sent)))
            raise
        return tuple(sent)

    async def _destination(self, where: MessageRef) -> tuple[Any, discord.MessageReference | None]:
        """Find where the answer to `where` goes, and the message that it must refer to there."""
        channel = await self.places.known(where.channel)
        if not where.thread:
            return channel, None
        if where.thread != where.message or isinstance(channel, discord.ForumChannel):
            return await self.places.known(where.thread), None
        guild = getattr(channel, "guild", None)
        needed = "Create Public Threads and Send Messages in Threads"
        allowed = channel.permissions_for(guild.me) if guild and guild.me else discord.Permissions.all()
        if guild and guild.get_thread(int(where.message)):
            return guild.get_thread(int(where.message)), None
        if not isinstance(channel, discord.TextChannel):
            pass  # voice channels have a chat, but no threads
        elif allowed.create_public_threads and allowed.send_messages_in_threads:
            try:
                name = reading.thread_name(await self._question(channel, int(where.message)))
                return await channel.get_partial_message(int(where.message)).create_thread(name=name), None
            except discord.HTTPException as error:
                if error.code == THREAD_EXISTS:
                    return await self.places.known(where.message), None
                if error.code == UNKNOWN_MESSAGE or error.status >= 500:
                    raise
                self._tell_once(channel.id, needed, f"open a thread ({error.text})")
        else:
            self._tell_once(channel.id, needed, "open threads")
        if not allowed.read_message_history:
            self._tell_once(
                channel.id, "Read Message History", "reply to questions, but only answer below them"
            )
            return channel, None
        question = discord.MessageReference(
            message_id=int(where.message), channel_id=int(where.channel), fail_if_not_exists=False
        )
        return channel, question

    async def _question(self, channel: discord.TextChannel, message_id: int) -> str:
        if message_id not in self._questions:
            message = await channel.fetch_message(message_id)
            self._questions[message_id] = reading.text(message, self.me)
        return str(self._questions[message_id])

    def _tell_once(self, channel_id: int, needed: str, what: str) -> None:
        if (channel_id, needed) not in self._told:
            self._told.add((channel_id, needed))
            log.warning("I cannot %s in Discord channel %s; give my role %s there.", what, channel_id, needed)

    async def whisper(self, where: MessageRef, person: Person, reply: Reply) -> bool:
        """Do nothing: on Discord only an interaction can be answered to one person alone."""
        return False


def _parts(reply: Reply, called: str = "", votes: Votes = "both") -> list[Part]:
    """Cut a reply into messages; whom it calls stands above the first, its controls hang under the last."""
    *texts, last = messages(reply.markdown, called)
    return [*((text or "…", ()) for text in texts), (last or "…", hung(reply.controls, votes))]


def _only(calls: Sequence[str]) -> discord.AllowedMentions:
    """Allow to ping these people and roles (`role:5`), and nobody else."""
    ids = {call: discord.Object(int(call.removeprefix("role:"))) for call in calls}
    roles = [one for call, one in ids.items() if call.startswith("role:")]
    people = [one for call, one in ids.items() if not call.startswith("role:")]
    return discord.AllowedMentions(everyone=False, users=people, roles=roles, replied_user=False)
