"""What people are told where their answer is not finished, or the platform does not let the bot post it."""

from __future__ import annotations

import asyncio
import logging

from bot.ports.chat import Chat, Message, Reply
from core.domain import MessageRef
from core.errors import PlatformError
from core.languages import N_, _, speaking

log = logging.getLogger(__name__)

GOODBYE_SECONDS = 3.0
"""Time that the words of a bot that is being stopped may take."""
MAY_NOT = N_(
    "I may not write where you asked me, so I can't answer there. "
    "Ask me here, or ask an admin to let me write there."
)
_MOST = 1_000
"""People and channels that are remembered as told; all are forgotten together."""


class Undelivered:
    """Tells people directly, once for each channel, that the bot may not answer where they asked it."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    async def tell(self, chat: Chat, message: Message, shown: tuple[MessageRef, ...]) -> None:
        """Tell the asker, who called the bot: in place of what is `shown` there of the answer, else directly.

        Nothing is said where not even that is allowed.
        """
        with speaking(message.language):
            if await tell(chat, shown, _(PlatformError.told)):
                return
        once = (message.author.id, message.ref.channel)
        if message.scope.kind == "direct" or not message.mentions_bot or once in self._told:
            return
        self._told = {once} if len(self._told) >= _MOST else self._told | {once}
        try:
            with speaking(message.language):
                await chat.send(message.author.id.partition(":")[2], Reply(_(MAY_NOT)))
        except PlatformError as error:
            log.info("nor can the asker be told: %s", error)


async def tell(chat: Chat, parts: tuple[MessageRef, ...], text: str) -> bool:
    """Replace the text of the bot's messages; returns True if the platform accepts it in time."""
    if not parts:
        return False
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await chat.edit(parts, Reply(text))
    except (PlatformError, TimeoutError) as error:
        log.info("a reply could not be changed: %s", error)
        return False
    return True
