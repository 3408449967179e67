"""Which messages are meant for the bot, and which it answers although nobody called it."""

from __future__ import annotations

from dataclasses import replace

from bot.answering import Answering
from bot.chat import Chat, Message
from bot.opted_out import OptedOut
from bot.pleasantry import is_greeting, is_pleasantry
from core.channels import ChannelModes
from core.noise import Noise
from core.ports import ConversationStore
from core.query.asking import asks_for_help


class Meant:
    """Tells by the channel's mode, the mention and the thread whether a message is answered."""

    def __init__(
        self,
        conversations: ConversationStore,
        answering: Answering,
        modes: ChannelModes,
        opted_out: OptedOut,
        noise: Noise,
    ) -> None:
        self._conversations = conversations
        self._answering = answering
        self._modes = modes
        self._opted_out = opted_out
        self._noise = noise

    async def of(self, chat: Chat, message: Message) -> Message | None:
        """Return a message that is to be answered, marked `unasked` where nobody called the bot; else None.

        Without words, a mention or a direct message is returned, too: it asks what one may ask.
        """
        if message.author.bot:
            return None
        if message.scope.kind == "direct":
            return message
        if not (message.text.strip() or message.mentions_bot):
            return None
        mode = await self._modes.mode(message.ref.channel_key)
        if mode == "off":
            return None
        if message.mentions_bot:
            return message
        if message.ref.thread in ("", message.ref.message):
            return self._uncalled(message, mode)
        return message if await self._goes_on(chat, message) else None

    def _uncalled(self, message: Message, mode: str) -> Message | None:
        """Return a new post that its channel's mode has answered."""
        if self._opted_out.is_out(message.author.id) or _asks_nothing(message.text):
            return None
        if mode == "forum":
            return replace(message, unasked="forum")
        asks = mode == "questions" and not message.mentions_others and asks_for_help(message.text)
        return replace(message, unasked="questions") if asks else None

    async def _goes_on(self, chat: Chat, message: Message) -> bool:
        """Tell whether a message in a thread goes on with the bot: of who asked last, and not to others."""
        conversation = message.ref.conversation
        await self._answering.settled(conversation)
        last = await self._conversations.last_claim(conversation)
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
