"""Reads back what was said on Discord: a conversation, one message, the question that it answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import discord

from bot.platforms.discord import reading
from bot.platforms.discord.places import TROUBLE, Places, failure
from bot.ports.chat import Message, Stray
from core.domain import MessageRef, Turn

_HISTORY = "Read Message History"
_AFTER = 50
"""Messages after a question that are looked through for those of a process that died."""
_LINK = re.compile(
    r"https://(?:\w+\.)?discord(?:app)?\.com/channels/(?P<guild>\d+|@me)/(?P<channel>\d+)/(?P<message>\d+)/?\Z"
)


class Past:
    """What was said before, in channels, threads, forum posts and direct messages."""

    def __init__(self, places: Places, standing: reading.Standing) -> None:
        self._places, self._standing = places, standing

    async def message(self, ref: MessageRef) -> Message | None:
        """Return a message as it stands now; None where it is gone or may not be read."""
        found = await self._places.fetch(ref)
        return await self._read(found) if found else None

    async def question_of(self, ref: MessageRef) -> Message | None:
        """Return what a message answers.

        In a thread that is the message it was opened from, or its first one; elsewhere the message
        replied to. None for that message itself and where nothing is replied to.
        """
        try:
            place = await self._places.of(ref)
            if isinstance(place, discord.Thread):
                found = await self._first(place)
                return await self._read(found) if found and found.id != int(ref.message) else None
            message = await self._places.fetch(ref)
            above = await self._above(place, message) if message else None
        except (discord.NotFound, discord.Forbidden, discord.InvalidData):
            return None
        except TROUBLE as error:
            raise failure(error, "read what a message answers", _HISTORY) from error
        return await self._read(above) if above else None

    async def own_after(self, ref: MessageRef) -> Sequence[Stray]:
        """Return the bot's latest messages in the conversation of a message after it, oldest first."""
        try:
            place, is_thread = await self._answered_in(ref)
            read = place.history(limit=_AFTER, after=discord.Object(int(ref.message)), oldest_first=False)
            told = [message async for message in read]
        except (discord.NotFound, discord.Forbidden, discord.InvalidData):
            return ()
        except TROUBLE as error:
            raise failure(error, "read what stands under a message", _HISTORY) from error
        return [
            Stray(reading.ref(place, message.id), message.content)
            for message in reversed(told)
            if message.author.id == self._places.me
            and not message.is_system()
            and (is_thread or not ref.thread or self._replies_to(message, ref))
        ]

    async def _answered_in(self, ref: MessageRef) -> tuple[Any, bool]:
        """Return where a message is answered, and whether that is a thread of its own."""
        if ref.thread:
            try:
                return await self._places.known(ref.thread), True
            except discord.NotFound:  # threads could not be opened there, so it was answered in the channel
                pass
        return await self._places.known(ref.channel), False

    @staticmethod
    def _replies_to(message: discord.Message, ref: MessageRef) -> bool:
        return message.reference is not None and str(message.reference.message_id) == ref.message

    async def permalink(self, ref: MessageRef) -> str:
        """Return a link to a message; empty where its channel is gone."""
        try:
            place = await self._places.of(ref)
        except (*TROUBLE, discord.InvalidData):
            return ""
        return str(place.get_partial_message(int(ref.message)).jump_url)

    async def linked(self, link: str) -> MessageRef | None:
        """Return the message that a link leads to; None for any other link, or a channel not known here."""
        found = _LINK.match(link)
        if not found:
            return None
        guild = None if found["guild"] == "@me" else int(found["guild"])
        try:
            channel = await self._places.channel(int(found["channel"]), guild)
        except (*TROUBLE, discord.InvalidData):
            return None
        return reading.ref(channel, found["message"])

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return what was said before, oldest first; consecutive messages of the bot are one turn."""
        try:
            told = await self._told(before, limit)
        except TROUBLE as error:
            raise failure(error, "read what was said before", _HISTORY) from error
        me = self._places.me
        turns: list[Turn] = []
        for message in told:
            key = reading.ref(message.channel, message.id).key
            if message.author.id == me and turns and turns[-1].role == "assistant":
                turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n\n{message.content}", last=key)
            elif message.author.id == me:
                turns.append(Turn("assistant", message.content, message=key))
            else:
                words = reading.text(message, me)
                at = message.created_at.timestamp()
                turns.append(Turn("user", words, f"{reading.NAME}:{message.author.id}", at=at))
        return turns[-limit:] if limit > 0 else []

    async def _told(self, before: MessageRef, limit: int) -> list[discord.Message]:
        place = await self._places.known(before.channel)
        if not before.thread:
            return await self._page(place, before, limit)
        if before.thread != before.message:
            thread = await self._places.known(before.thread)
            told = await self._page(thread, before, limit)
            if len(told) < limit and not any(m.id == int(before.thread) for m in told):
                starter = await self._starter(place, int(before.thread))
                told = [starter, *told] if starter and self._counts(starter) else told
            return told
        if isinstance(place, discord.ForumChannel):
            return []
        return await self._replied(place, int(before.message), limit)

    async def _read(self, message: discord.Message) -> Message:
        """Read a fetched message, in the channel as it is known, since a fetched one may lack that."""
        message.channel = await self._places.known(message.channel.id)
        return await reading.whole(self._standing, message, self._places.me)

    def _counts(self, message: discord.Message) -> bool:
        mine = message.author.id == self._places.me and not message.is_system()
        return bool(reading.content(message)) and (mine or reading.written_by_person(message))

    async def _page(self, place: Any, before: MessageRef, limit: int) -> list[discord.Message]:
        # Bots and system messages are left out, so more than `limit` are asked for: one request has 100.
        read = place.history(limit=min(100, 2 * limit + 10), before=discord.Object(int(before.message)))
        told = [message async for message in read if self._counts(message)]
        return told[:limit][::-1]

    async def _first(self, thread: discord.Thread) -> discord.Message | None:
        """Fetch the message that a thread was opened from; where it is of none, the first said in it."""
        parent = await self._places.known(thread.parent_id)
        if starter := await self._starter(parent, thread.id):
            return starter
        async for message in thread.history(limit=10, oldest_first=True):
            if message.type is discord.MessageType.thread_starter_message:
                return None  # it stood in the channel and was deleted
            if self._counts(message):
                return message
        return None

    async def _starter(self, parent: Any, message_id: int) -> discord.Message | None:
        """Fetch the message of the channel that a thread was opened from, if there is one."""
        if isinstance(parent, discord.ForumChannel):
            return None
        try:
            found: discord.Message = await parent.fetch_message(message_id)
        except (discord.NotFound, discord.Forbidden):
            return None
        return found

    async def _above(self, place: Any, message: discord.Message) -> discord.Message | None:
        """Return the message that one replies to, if it is still there."""
        if message.type is not discord.MessageType.reply or not message.reference:
            return None
        above = message.reference.resolved or message.reference.cached_message
        if isinstance(above, discord.Message):
            return above
        try:
            found: discord.Message = await place.fetch_message(message.reference.message_id or 0)
        except (discord.NotFound, discord.Forbidden):
            return None
        return found

    async def _replied(self, place: Any, message_id: int, limit: int) -> list[discord.Message]:
        """Follow the replies up from a message that stands in a channel itself."""
        told: list[discord.Message] = []
        try:
            message = await place.fetch_message(message_id)
        except discord.Forbidden:  # where no history may be read, a question is still to be answered
            return []
        above = await self._above(place, message)
        while above and len(told) < limit:
            if self._counts(above):
                told.append(above)
            above = await self._above(place, above)
        return told[::-1]
