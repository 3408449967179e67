"""While nothing can be saved: tell people, and let their messages wait."""

from __future__ import annotations

import asyncio
import logging

from bot.ports.chat import Chat, Reply
from core.domain import MessageRef
from core.errors import PlatformError
from core.languages import N_, _
from core.ports import StorageHealth

log = logging.getLogger(__name__)

PAUSE_SECONDS = 3.0
"""Time between two looks whether something can be written again."""
MOST_WAITING = 1_000
"""Messages that wait at most; the ones after it are told to ask again."""
WAIT = N_(
    "I cannot write anything down right now, so I cannot answer yet. I will answer here as soon as I can; "
    "the people who run me can see why in the log."
)
LATER = N_("I cannot write anything down right now, so I cannot answer. Please ask again later.")


class Outage:
    """Tracks the messages that wait, and waits until saving works again."""

    def __init__(self, health: StorageHealth, pause: float = PAUSE_SECONDS) -> None:
        self._health = health
        self._pause = pause
        self._waiting: set[str] = set()

    def __contains__(self, key: str) -> bool:
        """Return True if the message of that key waits."""
        return key in self._waiting

    def begin(self, key: str) -> bool:
        """Let a message wait; return False if too many wait already."""
        if len(self._waiting) >= MOST_WAITING:
            return False
        self._waiting.add(key)
        return True

    def end(self, key: str) -> None:
        """Stop waiting with a message."""
        self._waiting.discard(key)

    async def over(self) -> None:
        """Wait until something can be saved again."""
        while True:
            await asyncio.sleep(self._pause)
            if not await self._health.check():
                return


async def say(
    chat: Chat, where: MessageRef, parts: tuple[MessageRef, ...], text: str
) -> tuple[MessageRef, ...]:
    """Post a text in place of a reply, or as a new message; return its messages.

    Nothing is saved, because nothing can be; a refusal of the platform is not an error.
    """
    try:
        return await (chat.edit(parts, Reply(_(text))) if parts else chat.post(where, Reply(_(text))))
    except PlatformError as error:
        log.info("nobody could be told that nothing can be written: %s", error)
        return parts
