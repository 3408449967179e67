"""Decide which messages are for the bot, and which it answers without being called."""

from __future__ import annotations

from dataclasses import replace

from bot.conversation.small_talk import is_greeting, is_pleasantry
from bot.ports.chat import Chat, Message
from bot.privacy.opted_out import OptedOut
from core.community.channels import ChannelModes
from core.community.unsolicited import UnsolicitedReplyPolicy
from core.ports import ConversationStore
from core.query.asking import asks_for_help


class Triggers:
    """Decides by channel mode, mention and thread whether a message is answered."""

    def __init__(
        self,
        conversations: ConversationStore,
        modes: ChannelModes,
        opted_out: OptedOut,
        noise: UnsolicitedReplyPolicy,
    ) -> None:
        self._conversations = conversations
        self._modes = modes
        self._opted_out = opted_out
        self._noise = noise

    async def at_once(self, message: Message) -> tuple[Message, bool] | None:
        """Return a message that is or may be for the bot, and whether that is certain; None for others.

        One that nobody called the bot for is marked `unasked`. A mention or a direct message
        without words is for the bot too. Neither the platform nor a model is asked here.
        """
        if message.author.bot:
            return None
        if message.scope.kind == "direct":
            return message, True
        if not (message.text.strip() or message.mentions_bot):
            return None
        mode = await self._modes.mode(message.ref.channel_key)
        if mode == "off":
            return None
        if message.mentions_bot:
            return message, True
        if message.ref.thread in ("", message.ref.message):
            uncalled = self._uncalled(message, mode)
            return (uncalled, True) if uncalled else None
        return (message, False) if await self._may_go_on(message) else None

    def _uncalled(self, message: Message, mode: str) -> Message | None:
        """Return a new post if its channel's mode lets the bot answer it; None otherwise."""
        if self._opted_out.is_out(message.author.id) or _asks_nothing(message.text):
            return None
        if mode == "forum":
            return replace(message, unasked="forum")
        asks = mode == "questions" and not message.mentions_others and asks_for_help(message.text)
        return replace(message, unasked="questions") if asks else None

    async def _may_go_on(self, message: Message) -> bool:
        """Return True if the author asked last in this thread, or still waits for an answer there."""
        conversation = message.ref.conversation
        last = await self._conversations.last_told(conversation)
        claims = [*await self._conversations.open_in(conversation), *([last] if last else [])]
        return any(self._opted_out.is_asker(claim, message.author.id) for claim in claims)

    async def goes_on(self, chat: Chat, message: Message) -> bool:
        """Return True if a thread message is a follow-up: by the last asker, and not addressed to others.

        Every earlier message of the thread must be answered by now.
        """
        conversation = message.ref.conversation
        last = await self._conversations.last_told(conversation)
        if last is None or not self._opted_out.is_asker(last, message.author.id):
            return False
        await self._noise.went_on(conversation)
        if message.mentions_others or _asks_nothing(message.text):
            return False
        turns = await chat.history(message.ref, 1)
        between_people = bool(turns) and turns[-1].role == "user" and turns[-1].author != message.author.id
        return not between_people


def _asks_nothing(text: str) -> bool:
    return is_pleasantry(text) or is_greeting(text)
