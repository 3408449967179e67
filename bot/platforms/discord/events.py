"""What happens on Discord, as messages, reactions, presses and commands for dispatch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import discord

from bot.platforms.discord import reading
from bot.platforms.discord.chat import DiscordChat
from bot.platforms.discord.components import filled, pressed
from bot.platforms.discord.places import ASKED_SECONDS, HEARD_SECONDS
from bot.platforms.discord.responding import DiscordResponder
from bot.ports.chat import ACCEPT, OBJECT, Cleared, Command, Message, Press, Reaction, Reply, vote_of
from core.domain import MessageRef, Scope
from core.errors import StorageUnavailable, ThreadloreError
from core.languages import _

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

log = logging.getLogger(__name__)

RECENT_SECONDS = 120.0
"""Age of an edit up to which one of an unknown message is taken for new; previews repeat the old time."""

_READING = discord.Permissions(view_channel=True, connect=True, administrator=True)
"""What it takes to read a channel: the second in voice and stage channels alone, the third reads all."""

HandOver = Callable[[Coroutine[Any, Any, None], str], None]
"""Runs work beside the connection, under a name for the log."""


class Events:
    """Reads events and hands them over; none of these methods waits for an answer."""

    def __init__(
        self, chat: DiscordChat, standing: reading.Standing, dispatch: Dispatch, hand_over: HandOver
    ) -> None:
        self._chat, self._standing = chat, standing
        self._dispatch, self._hand_over = dispatch, hand_over

    def listen(self, client: discord.Client) -> None:
        """Have a client call these methods."""
        for event in (
            self.on_message,
            self.on_raw_message_edit,
            self.on_raw_message_delete,
            self.on_raw_bulk_message_delete,
            self.on_raw_thread_delete,
            self.on_guild_channel_delete,
            self.on_raw_reaction_add,
            self.on_raw_reaction_remove,
            self.on_raw_reaction_clear,
            self.on_raw_reaction_clear_emoji,
            self.on_interaction,
            self.on_guild_available,
            self.on_guild_join,
            self.on_guild_remove,
            self.on_guild_channel_update,
            self.on_guild_role_update,
        ):
            client.event(event)

    # --- messages -----------------------------------------------------------------------------

    async def on_message(self, message: discord.Message) -> None:
        """Hand over what a person wrote."""
        if reading.written_by_person(message):
            self._hand_over(self._heard(message), f"message {message.id}")

    async def _heard(self, message: discord.Message) -> None:
        heard = await self._read(message)
        if heard.text or heard.mentions_bot or heard.scope.kind == "direct":
            self._chat.heard(message, heard.text)
            await self._dispatch.message(self._chat, heard)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Hand over a person's edit of the words; previews and pins arrive as edits, too."""
        message, before = payload.message, payload.cached_message
        if not reading.written_by_person(message) or "content" not in payload.data:
            return
        if before:
            changed = before.content != message.content
        else:
            age = discord.utils.utcnow() - message.edited_at if message.edited_at else None
            changed = age is not None and age.total_seconds() < RECENT_SECONDS
        if changed:
            self._hand_over(self._reread(message), f"edit of {message.id}")

    async def _reread(self, message: discord.Message) -> None:
        read = await self._read(message)
        self._chat.heard(message, read.text)
        await self._dispatch.edited(self._chat, read)

    async def _read(self, message: discord.Message) -> Message:
        if isinstance(message.channel, discord.PartialMessageable):
            guild_id = message.guild.id if message.guild else None
            # a question that waits long is in nobody's books yet, and would be lost with the process
            message.channel = await self._chat.places.channel(message.channel.id, guild_id, ASKED_SECONDS)
        return await reading.whole(self._standing, message, self._chat.me)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Hand over that a message is gone."""
        cached = payload.cached_message
        if cached is None or not cached.author.bot:
            self._hand_over(self._gone(payload, payload.message_id), f"deletion of {payload.message_id}")

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Hand over that several messages are gone."""
        for message_id in sorted(payload.message_ids):
            self._hand_over(self._gone(payload, message_id), f"deletion of {message_id}")

    async def _gone(
        self, payload: discord.RawMessageDeleteEvent | discord.RawBulkMessageDeleteEvent, message_id: int
    ) -> None:
        channel = await self._chat.places.channel(payload.channel_id, payload.guild_id, HEARD_SECONDS)
        await self._dispatch.deleted(self._chat, reading.ref(channel, message_id))

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """Hand over that a thread or a forum's post is gone: Discord tells nothing of its messages then."""
        ref = MessageRef(reading.NAME, str(payload.parent_id), "", str(payload.thread_id))
        self._hand_over(self._gone_whole(ref, payload.guild_id), f"deletion of {payload.thread_id}")

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Hand over that a channel is gone with all that was said in it."""
        ref = MessageRef(reading.NAME, str(channel.id), "")
        self._hand_over(self._gone_whole(ref, channel.guild.id), f"deletion of {channel.id}")

    async def _gone_whole(self, ref: MessageRef, guild_id: int) -> None:
        links = f"https://discord.com/channels/{guild_id}/{ref.thread or ref.channel}/"
        await self._dispatch.deleted(self._chat, ref, links)

    # --- reactions ----------------------------------------------------------------------------

    async def on_raw_reaction_add(self, payload: discord.RawReactionActionEvent) -> None:
        """Hand over an emoji on a message of the bot, and those that mean something on any message."""
        if payload.message_author_id in (None, self._chat.me) or str(payload.emoji) in (ACCEPT, OBJECT):
            self._hand_over(self._reacted(payload, added=True), f"reaction to {payload.message_id}")

    async def on_raw_reaction_remove(self, payload: discord.RawReactionActionEvent) -> None:
        """Hand over an emoji that was taken off a message; whose message it was is not told here."""
        self._hand_over(self._reacted(payload, added=False), f"reaction to {payload.message_id}")

    async def _reacted(self, payload: discord.RawReactionActionEvent, *, added: bool) -> None:
        places, user_id, emoji = self._chat.places, payload.user_id, str(payload.emoji)
        means = emoji in (ACCEPT, OBJECT) or vote_of(emoji) is not None
        if user_id == self._chat.me:
            return
        channel = await places.channel(payload.channel_id, payload.guild_id, HEARD_SECONDS)
        member = payload.member
        if member is None and self._standing.by_role and means:
            member = await places.member(payload.guild_id, user_id)  # a removal does not name roles
        person = self._standing.person(member or places.user(payload.guild_id, user_id), None, user_id)
        reaction = Reaction(
            ref=reading.ref(channel, payload.message_id),
            person=person,
            emoji=emoji,
            added=added,
            author=f"{reading.NAME}:{payload.message_author_id}" if payload.message_author_id else "",
        )
        await self._dispatch.reaction(self._chat, reaction)

    async def on_raw_reaction_clear(self, payload: discord.RawReactionClearEvent) -> None:
        """Hand over that a moderator took all reactions off a message."""
        self._hand_over(self._cleared(payload, ""), f"reactions to {payload.message_id}")

    async def on_raw_reaction_clear_emoji(self, payload: discord.RawReactionClearEmojiEvent) -> None:
        """Hand over that a moderator took one emoji off a message, whoever had put it there."""
        emoji = str(payload.emoji)
        if emoji in (ACCEPT, OBJECT) or vote_of(emoji) is not None:
            self._hand_over(self._cleared(payload, emoji), f"reactions to {payload.message_id}")

    async def _cleared(
        self, payload: discord.RawReactionClearEvent | discord.RawReactionClearEmojiEvent, emoji: str
    ) -> None:
        channel = await self._chat.places.channel(payload.channel_id, payload.guild_id, HEARD_SECONDS)
        ref = reading.ref(channel, payload.message_id)
        left = await self._chat.places.reactions(ref)
        if left is None and emoji:
            log.warning("I cannot see who still reacts to %s, so no vote there is taken back", ref.key)
            return
        accounts = {e: frozenset(f"{reading.NAME}:{n}" for n in all_) for e, all_ in (left or {}).items()}
        await self._dispatch.reactions_cleared(self._chat, Cleared(ref, emoji, accounts))

    # --- who may see a channel ----------------------------------------------------------------

    async def on_guild_channel_update(
        self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel
    ) -> None:
        """Tell that a channel was closed to those without a role, or hidden from the bot."""
        if reading.scope(before).kind == "public" and reading.scope(after).kind == "private":
            self.closed([after], now=True)

    async def on_guild_role_update(self, before: discord.Role, after: discord.Role) -> None:
        """Tell which channels are closed when the sight of channels, or voice, was taken from everyone."""
        taken = before.permissions.value & ~after.permissions.value
        if after.is_default() and taken & _READING.value:
            self.closed(after.guild.channels, now=True)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Tell which channels of a server that was away are closed."""
        self.closed(guild.channels)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Do the same where the bot was invited again: nobody told it what was closed meanwhile."""
        self.closed(guild.channels)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Forget what was fetched of a server that the bot has left."""
        self._chat.places.forget()

    def closed(self, channels: Iterable[discord.abc.GuildChannel], now: bool = False) -> None:
        """Tell which of these channels are private; they may have been for long, unless it happened `now`.

        One that is hidden from the bot counts as private: it may have been closed to everyone in that step.
        """
        private = [channel.id for channel in channels if reading.scope(channel).kind == "private"]
        self._hand_over(self._kept_inside(private, now), "channels that became private")

    async def _kept_inside(self, channels: Sequence[int], now: bool) -> None:
        for channel in channels:
            await self._dispatch.channel_became_private(f"{reading.NAME}:{channel}", now)

    # --- controls and commands ----------------------------------------------------------------

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Hand over a press of a button or menu of this bot, or a form that was sent."""
        if reading.is_complete(interaction) and interaction.type in (
            discord.InteractionType.component,
            discord.InteractionType.modal_submit,
        ):
            used = pressed(interaction.data or {})
            if used is not None:
                self._hand_over(self._pressed(interaction, *used), f"press of {used[0]}")

    async def _pressed(self, interaction: discord.Interaction, name: str, value: str) -> None:
        responder = DiscordResponder(self._chat, interaction)
        if not await self.take("press", interaction, responder, self._read_press(interaction, name, value)):
            return
        responder.wait()
        try:
            place, guild = interaction.channel_id or 0, interaction.guild_id
            channel = await self._chat.places.channel(place, guild, ASKED_SECONDS)
            message_id = interaction.message.id if interaction.message else interaction.id
            responder.where = reading.place(channel, message_id)
            press = Press(
                name=name,
                value=value,
                ref=reading.ref(channel, message_id),
                person=replace(
                    self._standing.person(interaction.user, interaction.permissions),
                    locale=reading.locale(interaction),
                ),
                scope=reading.scope(channel),
                fields=filled(interaction.data or {}),
                event=str(interaction.id),
                may_write=reading.may_write(interaction, channel),
            )
            await self._dispatch.press(self._chat, press, responder)
        except Exception:  # whatever it is, it goes on to the log; without a word the press seems to fail
            await responder.reply(Reply(ThreadloreError.told))
            raise
        finally:
            await responder.close()

    def _read_press(self, interaction: discord.Interaction, name: str, value: str) -> Press:
        """Read a press as far as it can be without asking Discord, which waits for the acknowledgement."""
        message = str(interaction.message.id if interaction.message else interaction.id)
        ref = MessageRef(reading.NAME, str(interaction.channel_id or 0), message)
        person = self._standing.person(interaction.user, interaction.permissions)
        fields, scope = filled(interaction.data or {}), Scope("private", ref.channel_key)
        return Press(name, value, ref, person, scope, fields, str(interaction.id))

    async def take(
        self,
        kind: Literal["command", "press"],
        interaction: discord.Interaction,
        responder: DiscordResponder,
        press: Press | None = None,
    ) -> bool:
        """Note an interaction before it is acknowledged; return False if it was noted before or cannot be."""
        account, address = f"{reading.NAME}:{interaction.user.id}", responder.address
        try:
            return await self._dispatch.take(reading.NAME, kind, str(interaction.id), account, address, press)
        except StorageUnavailable as error:
            log.error("an interaction on Discord cannot be noted: %s", error)
            await responder.reply(Reply(_(error.told)))
            return False

    async def command(self, command: Command, responder: DiscordResponder) -> None:
        """Hand over a slash command or an entry of a message's menu."""
        self._hand_over(self._carried_out(command, responder), f"command /{command.name}")

    async def _carried_out(self, command: Command, responder: DiscordResponder) -> None:
        try:
            await self._dispatch.command(self._chat, command, responder)
        except Exception:  # whatever it is, it goes on to the log; without a word the caller waits for ever
            await responder.reply(Reply(ThreadloreError.told))
            raise
        finally:
            await responder.close()
