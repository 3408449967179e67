"""Says things on Discord: posts, edits, deletes, reacts, and reads back what was said before."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import discord

from bot.chat import DOWN, UP, Reply
from bot.platforms import discord_reading as reading
from bot.platforms.discord_markdown import messages
from core.domain import MessageRef, Turn
from core.errors import PlatformError, PlatformRejected

log = logging.getLogger(__name__)

EDIT_SECONDS = 1.0
"""Time between two edits of a reply that still grows; Discord allows about five in five seconds."""

REMEMBERED = 2000
"""Channels, questions and replies that are kept in mind, each."""

# Discord's error codes, https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE = 10003, 10008
ARCHIVED, THREAD_EXISTS, LOCKED, BLOCKED = 50083, 160004, 160005, 90001


class Recent(dict[Any, Any]):
    """A dictionary that forgets its oldest entry when it is full."""

    def __setitem__(self, key: Any, value: Any) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > REMEMBERED:
            del self[next(iter(self))]


class DiscordChat:
    """`bot.chat.Chat` on a discord.py client."""

    name = reading.NAME

    def __init__(self, client: discord.Client, clock: Callable[[], float] = time.monotonic) -> None:
        self._client, self._clock = client, clock
        self._channels = Recent()
        self._questions = Recent()
        self._said = Recent()
        self._edited = Recent()
        self._told: set[tuple[int, str]] = set()

    @property
    def me(self) -> int:
        """Return the bot's own user id, 0 before it is known."""
        return self._client.user.id if self._client.user else 0

    def heard(self, message: discord.Message, question: str) -> None:
        """Remember what a message says, as the name of the thread that its answer opens."""
        self._questions[message.id] = question

    async def channel(self, channel_id: int, guild_id: int | None) -> Any:
        """Return a channel or thread; an archived thread is in no cache and is asked for once.

        What cannot be had is a PartialMessageable, which can still be written to.
        """
        partial = self._client.get_partial_messageable(channel_id, guild_id=guild_id)
        if guild_id is None:
            return self._client.get_channel(channel_id) or partial
        found = self._client.get_channel(channel_id) or self._channels.get(channel_id)
        if found is None:
            try:
                found = await self._client.fetch_channel(channel_id)
            except (discord.HTTPException, discord.InvalidData):
                return partial
            self._channels[channel_id] = found
        return found

    # --- saying -------------------------------------------------------------------------------

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post a reply: in the thread, in a new thread of the question, or under it in the channel."""
        try:
            target, reference = await self._destination(where)
            sent = await self._send(target, messages(reply.markdown), reference)
        except discord.HTTPException as error:
            raise _failure(error, "post an answer", "Send Messages and Send Messages in Threads") from error
        self._edited[sent[0].key] = self._clock()
        return sent

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a reply; one that still grows is left as it is when it was edited just now."""
        now = self._clock()
        if not reply.final and now - self._edited.get(parts[0].key, -EDIT_SECONDS) < EDIT_SECONDS:
            return parts
        self._edited[parts[0].key] = now
        texts = messages(reply.markdown)
        try:
            for part, text in zip(parts, texts, strict=False):
                if self._said.get(part.key) != text:
                    await self._unarchived(part, methodcaller("edit", content=text))
                    self._said[part.key] = text
            added = await self._send(await self._place(parts[-1]), texts[len(parts) :])
        except discord.HTTPException as error:
            raise _failure(error, "edit an answer", "Send Messages in Threads") from error
        await self.delete(parts[len(texts) :])
        return parts[: len(texts)] + added

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        """Delete messages of the bot; those that are gone with or without their thread are no error."""
        for part in parts:
            self._said.pop(part.key, None)
            try:
                await self._unarchived(part, methodcaller("delete"))
            except discord.HTTPException as error:
                if error.code not in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
                    raise _failure(error, "delete an answer", "View Channel") from error

    async def seed_votes(self, ref: MessageRef) -> None:
        """Put 👍 and 👎 under a message; where that is not allowed, people can still add their own."""
        try:
            for emoji in (UP, DOWN):
                await self._unarchived(ref, methodcaller("add_reaction", emoji))
        except discord.HTTPException as error:
            if isinstance(error, discord.Forbidden) or error.code == BLOCKED:
                needed = "Add Reactions and Read Message History"
                self._tell_once(int(ref.channel), needed, f"put votes under answers ({error.text})")
            elif error.code not in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
                raise _failure(error, "put votes under an answer", "Add Reactions") from error

    async def _send(
        self, target: Any, texts: Sequence[str], reference: discord.MessageReference | None = None
    ) -> tuple[MessageRef, ...]:
        sent: list[MessageRef] = []
        try:
            for text in texts:
                message = await target.send(text or "…", suppress_embeds=True, reference=reference)
                reference = None
                sent.append(reading.ref(target, message.id))
                self._said[sent[-1].key] = text
        except discord.HTTPException:
            await asyncio.shield(self.delete(tuple(sent)))  # half an answer is worse than none
            raise
        return tuple(sent)

    async def _destination(self, where: MessageRef) -> tuple[Any, discord.MessageReference | None]:
        """Find where the answer to `where` goes, and the message that it must refer to there."""
        channel = await self._known(where.channel)
        if not where.thread:
            return channel, None
        if where.thread != where.message or isinstance(channel, discord.ForumChannel):
            return await self._known(where.thread), None
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
                    return await self._known(where.message), None
                if error.code == UNKNOWN_MESSAGE or error.status >= 500:
                    raise
                self._tell_once(channel.id, needed, f"open a thread ({error.text})")
        else:
            self._tell_once(channel.id, needed, "open threads")
        question = discord.MessageReference(
            message_id=int(where.message), channel_id=int(where.channel), fail_if_not_exists=False
        )
        return channel, question

    async def _question(self, channel: discord.TextChannel, message_id: int) -> str:
        if message_id not in self._questions:
            message = await channel.fetch_message(message_id)
            self._questions[message_id] = reading.text(message, self.me)
        return str(self._questions[message_id])

    async def _known(self, channel_id: str) -> Any:
        """Return a channel, thread or direct channel by its id; raises what Discord says if there is none."""
        number = int(channel_id)
        found = self._client.get_channel(number) or self._channels.get(number)
        if found is None:
            self._channels[number] = found = await self._client.fetch_channel(number)
        return found

    async def _place(self, ref: MessageRef) -> Any:
        """Return the channel or thread in which a message of the bot stands."""
        return await self._known(ref.channel if ref.thread in ("", ref.message) else ref.thread)

    async def _unarchived(self, ref: MessageRef, act: Callable[[discord.PartialMessage], Any]) -> None:
        """Do something to a message; a thread that has gone to the archive is fetched back for it."""
        place = await self._place(ref)
        message = place.get_partial_message(int(ref.message))
        try:
            await act(message)
        except discord.HTTPException as error:
            if error.code != ARCHIVED or not isinstance(place, discord.Thread):
                raise
            await place.edit(archived=False)
            await act(message)

    def _tell_once(self, channel_id: int, needed: str, what: str) -> None:
        if (channel_id, needed) not in self._told:
            self._told.add((channel_id, needed))
            log.warning("I cannot %s in Discord channel %s; give my role %s there.", what, channel_id, needed)

    # --- remembering --------------------------------------------------------------------------

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return what was said before, oldest first; consecutive messages of the bot are one turn."""
        try:
            place = await self._known(before.channel)
            if not before.thread:
                told = await self._page(place, before, limit)
            elif before.thread != before.message:
                thread = await self._known(before.thread)
                told = await self._page(thread, before, limit)
                if len(told) < limit and not any(m.id == int(before.thread) for m in told):
                    told = [*await self._starter(place, int(before.thread)), *told]
            elif isinstance(place, discord.ForumChannel):
                told = []
            else:
                told = await self._replied(place, int(before.message), limit)
        except discord.HTTPException as error:
            raise _failure(error, "read what was said before", "Read Message History") from error
        turns: list[Turn] = []
        for message in told:
            if message.author.id == self.me and turns and turns[-1].role == "assistant":
                turns[-1] = Turn("assistant", f"{turns[-1].text}\n\n{message.content}")
            elif message.author.id == self.me:
                turns.append(Turn("assistant", message.content))
            else:
                words = reading.text(message, self.me)
                turns.append(Turn("user", words, f"{self.name}:{message.author.id}"))
        return turns[-limit:] if limit > 0 else []

    def _counts(self, message: discord.Message) -> bool:
        mine = message.author.id == self.me and not message.is_system()
        return bool(message.content) and (mine or reading.written_by_person(message))

    async def _page(self, place: Any, before: MessageRef, limit: int) -> list[discord.Message]:
        # Bots and system messages are left out, so more than `limit` are asked for: one request has 100.
        read = place.history(limit=min(100, 2 * limit + 10), before=discord.Object(int(before.message)))
        told = [message async for message in read if self._counts(message)]
        return told[:limit][::-1]

    async def _starter(self, parent: Any, message_id: int) -> list[discord.Message]:
        """Fetch the message of the channel that a thread was opened from, if there is one."""
        if isinstance(parent, discord.ForumChannel):
            return []
        try:
            message = await parent.fetch_message(message_id)
        except (discord.NotFound, discord.Forbidden):
            return []
        return [message] if self._counts(message) else []

    async def _replied(self, place: Any, message_id: int, limit: int) -> list[discord.Message]:
        """Follow the replies up from a message that stands in a channel itself."""
        told: list[discord.Message] = []
        message = await place.fetch_message(message_id)
        while len(told) < limit and message.type is discord.MessageType.reply and message.reference:
            above = message.reference.resolved or message.reference.cached_message
            if not isinstance(above, discord.Message):
                try:
                    above = await place.fetch_message(message.reference.message_id or 0)
                except (discord.NotFound, discord.Forbidden):
                    break
            message = above
            if self._counts(message):
                told.append(message)
        return told[::-1]


def _failure(error: discord.HTTPException, what: str, needed: str) -> PlatformError:
    """Say what Discord refused, and what to do about it."""
    if error.code == LOCKED:
        return PlatformRejected(f"I cannot {what}: the Discord thread is locked. Unlock it or ask elsewhere.")
    if isinstance(error, discord.Forbidden):
        return PlatformRejected(f"Discord does not let me {what} ({error.text}): give my role {needed}.")
    if error.code in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
        return PlatformRejected(f"I cannot {what}: the Discord message or channel has been deleted.")
    return PlatformError(
        f"I cannot {what}: Discord says {error.status} {error.text or error}. Try again later."
    )
