"""Messages that the bot posted and could not note: they are found on the platform, and become the reply."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable

from bot.ports.chat import Chat, Message
from bot.rendering.answers import is_sign_of_work
from core.domain import MessageRef
from core.errors import PlatformError
from core.ports import Claim, ConversationStore

log = logging.getLogger(__name__)

LOOK_SECONDS = (2.0, 10.0, 30.0)
"""Pauses before it is looked again where the platform did not let the bot."""
COMPARED, ALIKE = 40, 0.9
"""Words of a message that are compared with a reply, and the share of them that it has; ours."""
_WORD = re.compile(r"\w+")


class Strays:
    """Finds the bot's messages under a question that belong to no known reply."""

    def __init__(self, conversations: ConversationStore) -> None:
        self._conversations = conversations
        self._looking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # by platform

    async def of(self, chat: Chat, where: MessageRef, claim: Claim, text: str = "") -> tuple[MessageRef, ...]:
        """Return the messages of a claim's reply; note those that were not noted yet.

        Where the reply's `text` is known these are the unknown messages of the bot that say some of it: other
        ones may be of another answer. Else in a thread all unknown ones, in a direct message signs of work.
        Raises PlatformError where it cannot be looked now, and may be later.
        """
        if not claim.tries:
            return claim.parts
        async with self._looking[where.platform]:
            try:
                said = await chat.own_after(where)
            except PlatformError as error:
                if error.retryable:
                    raise
                log.info("what stands under a question cannot be read: %s", error)
                return claim.parts
            known = await self._conversations.known([stray.ref.key for stray in said])
            unknown = [stray for stray in said if stray.ref.key not in known]
            in_thread = bool(where.thread)
            mine = tuple(stray.ref for stray in unknown if _is_mine(stray.text, text, in_thread))
            if mine:
                await self._conversations.posted(claim.message, (*claim.parts, *mine))
            return (*claim.parts, *mine)

    async def under(self, chat: Chat, question: Message, text: str) -> tuple[MessageRef, ...]:
        """Return the messages of the reply to a question, as `of` does; none where it is not claimed.

        Where some are known, further ones are looked for by the `text` that was being posted, if any.
        """
        claim = await self._conversations.claimed(question.key)
        if claim is None or (claim.parts and not text):
            return claim.parts if claim else ()
        return await self.of(chat, question.ref, claim, text if claim.parts else "")


async def patiently(look: Callable[[], Awaitable[object]]) -> None:
    """Look until the platform lets the bot, for 42 s at most; nobody waits for it between two looks."""
    for pause in (*LOOK_SECONDS, 0.0):
        try:
            await look()
            return
        except PlatformError as error:
            log.info("what stands under a question cannot be read, next look in %g s: %s", pause, error)
            await asyncio.sleep(pause)
    log.warning("what stands under a question could not be read; what was noted is taken for all there is")


def _is_mine(stray: str, text: str, in_thread: bool) -> bool:
    if not text:
        return in_thread or is_sign_of_work(stray)
    words = _WORD.findall(stray.lower())[:COMPARED]
    of_reply = set(_WORD.findall(text.lower()))
    said = sum(word in of_reply for word in words)
    return bool(words) and not is_sign_of_work(stray) and said >= ALIKE * len(words)
