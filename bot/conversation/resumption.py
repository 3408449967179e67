"""Claims of a process that died: answer them, or tell their askers that they are given up.

Messages that it posted but could not note are found, and added to their reply.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass

from bot.conversation.answering import Answering
from bot.conversation.desk import InOrder, Slot
from bot.conversation.strays import Strays, patiently
from bot.ports.chat import Chat, Message, Reply, ref_of, unpacked
from core.domain import MessageRef
from core.errors import PlatformError
from core.languages import N_, _, speaking
from core.ports import Claim, ConversationStore

log = logging.getLogger(__name__)

RESUME_SECONDS = 600
"""Age up to which a question that a dead process took is answered after a restart."""
TOO_LATE = N_("I was stopped before I could answer this. Please ask again.")
TOO_OFTEN = N_("I was interrupted twice while working on this, so I gave up. Please ask in other words.")


@dataclass(frozen=True, slots=True)
class Found:
    """A message that was claimed: by this call (`is_new`), and whether it is known to be for the bot.

    `parts` are messages that already tell the asker to wait; `again` is True if an earlier process
    had claimed it, `late` if that was so long ago that the asker is only told so. `answer_id` is the answer
    that the earlier process found, and may have posted.
    """

    message: Message
    parts: tuple[MessageRef, ...]
    is_new: bool = True
    decided: bool = True
    again: bool = False
    late: bool = False
    answer_id: str = ""


GoOn = Callable[[Chat, Found, Slot], Awaitable[None]]
"""What deals with a claimed message."""


class TakingUp:
    """Resumes the questions of a process that died."""

    def __init__(
        self,
        conversations: ConversationStore,
        answering: Answering,
        in_order: InOrder,
        lock: Callable[[str], asyncio.Lock],
    ) -> None:
        self._conversations = conversations
        self._answering = answering
        self._in_order = in_order
        self._lock = lock
        self._strays = Strays(conversations)

    async def resume(self, chat: Chat, go_on: GoOn) -> None:
        """Answer what a process that died had claimed on this platform and not answered.

        What it had begun to work on is taken up one after the other, and given up where it may be
        what took the process down. What is too old, or given up, is told so in its thread.
        """
        alone = asyncio.Lock()
        taken: list[asyncio.Task[None]] = []
        for claim in await self._conversations.left(chat.name, messages=True):
            taken.append(asyncio.create_task(self._take_up(chat, claim, alone, go_on)))
            await asyncio.sleep(0)  # each takes its slot, in the order in which they were asked
        await asyncio.gather(*taken)

    async def _take_up(self, chat: Chat, claim: Claim, alone: asyncio.Lock, go_on: GoOn) -> None:
        """Answer a dead process's claim, or say why not; possible causes of its end go one at a time."""
        with self._in_order.slot(claim.conversation) as slot, speaking(claim.payload.get("language", "")):
            slot.looked()
            await patiently(lambda: self._look(chat, claim))
            async with alone if claim.tries and not claim.posting else nullcontext():
                found = await self._taken_up(chat, claim)
                if found is not None:
                    await go_on(chat, found, slot)

    async def _look(self, chat: Chat, claim: Claim) -> None:
        """Find what was posted of a claim's reply and not noted. Raises PlatformError as `Strays.of` does."""
        async with self._lock(claim.message):
            if now := await self._left(claim.message):
                await self._strays.of(chat, _asked(now), now)

    async def _left(self, key: str) -> Claim | None:
        """Return a claim that is open, and that nobody works on."""
        now = await self._conversations.claimed(key)
        is_open = now is not None and not now.is_settled
        return now if is_open and not (self._answering.holds(key) or self._answering.stopping) else None

    async def _taken_up(self, chat: Chat, claim: Claim) -> Found | None:
        """Take over a dead process's claim; None if it is not to be answered."""
        key = claim.message
        async with self._lock(key):
            now = await self._left(key)
            if now is None:
                return None
            late = claim.at < time.time() - RESUME_SECONDS
            if claim.payload and not claim.decided:
                return Found(unpacked(claim.payload), (), decided=False, again=True, late=late)
            if (late and not claim.posting) or claim.is_hopeless or not claim.payload:
                await self.give_up(chat, now, TOO_OFTEN if claim.is_hopeless else TOO_LATE)
                return None
            await self._conversations.tried(key)
        return Found(unpacked(claim.payload), now.parts, again=True, answer_id=claim.posting)

    async def give_up(self, chat: Chat, claim: Claim, why: str = TOO_LATE) -> None:
        """Settle a claim with a message in its thread; say nothing where nobody called the bot."""
        key, parts = claim.message, claim.parts
        unasked = not claim.decided or claim.payload.get("unasked") == "questions"
        try:
            if parts and unasked:
                await chat.delete(parts)
            elif not unasked:
                told = Reply(_(why))
                parts = await (chat.edit(parts, told) if parts else chat.post(_asked(claim), told))
                await self._conversations.posted(key, parts)
        except PlatformError as error:
            log.info("a question that is given up could not be told so: %s", error)
        await (self._conversations.answered(key, "") if claim.decided else self._conversations.dropped(key))


def _asked(claim: Claim) -> MessageRef:
    """Return where a claim's question stands."""
    return unpacked(claim.payload).ref if claim.payload else ref_of(claim.message, claim.conversation)
