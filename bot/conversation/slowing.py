"""People who ask too much at once are told to slow down, each once."""

from __future__ import annotations

import asyncio
import logging
import time

from bot.conversation.limits import Refusal
from bot.ports.chat import Chat, Message, Reply
from core.domain import MessageRef
from core.errors import PlatformError

log = logging.getLogger(__name__)

TOLD_AGAIN_SECONDS = (2.0, 10.0, 30.0)
"""Pauses before somebody is told again to slow down whom the platform let nobody tell."""


class Slowing:
    """Tells people that their questions are left out until they may ask again."""

    def __init__(self) -> None:
        self._slowed: dict[str, float] = {}

    async def tell(self, chat: Chat, message: Message, refused: Refusal) -> tuple[MessageRef, ...]:
        """Tell a person once that this question and those after it are left out, until they may ask again."""
        now = time.monotonic()
        self._slowed = {person: until for person, until in self._slowed.items() if until > now}
        if message.author.id in self._slowed:
            return ()
        self._slowed[message.author.id] = now + refused.seconds
        for pause in (*TOLD_AGAIN_SECONDS, 0.0):
            try:
                return await chat.post(message.ref, Reply(str(refused)))
            except PlatformError as error:
                log.info("somebody could not be told to slow down: %s", error)
                if not (error.retryable and pause):
                    break
                await asyncio.sleep(pause)
        self._slowed.pop(message.author.id, None)  # so that the next question is told so
        return ()
