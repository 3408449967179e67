"""Track commands and presses until they are answered, so that no restart loses one.

A platform notes one before it acknowledges it. What a dead process left is repeated where that is
safe (a question, a vote); otherwise the person is told that it was not done.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from bot.conversation.answering import AGAIN_SECONDS
from bot.ports.chat import Chat, Form, Reply, Responder
from bot.privacy.opted_out import OptedOut
from core.errors import PlatformError, StorageError
from core.ports import Claim, ConversationStore

log = logging.getLogger(__name__)

Kind = Literal["command", "press"]


class InteractionLedger:
    """Notes commands and presses; `to` is what `Chat.responder` needs to answer the person later."""

    def __init__(self, conversations: ConversationStore, opted_out: OptedOut) -> None:
        self._conversations = conversations
        self._opted_out = opted_out
        self._taken: dict[str, bool] = {}
        self._noting = asyncio.Lock()
        """Held from the row of an entry to its place in `_taken`: else it looks like a dead process's."""

    async def take(
        self, key: str, kind: Kind, event: str, account: str, to: Mapping[str, Any], **what: Any
    ) -> bool:
        """Note a command or a press; return False if it was noted before. Raises StorageError.

        What is to be repeated after a restart may be known already, and is noted as `fill` does.
        """
        asker = self._opted_out.named(account, key)
        known = {} if self._opted_out.is_out(account) else what
        claim = Claim(key, "", asker, time.time(), {"to": dict(to), **known}, kind=kind)
        async with self._noting:
            if not await self._conversations.claim(claim, event):
                return False
            self._taken[key] = False
            return True

    def begin(self, key: str) -> bool:
        """Start handling an entry; return False if this process did not note it or has already started."""
        if self._taken.get(key, True):
            return False
        self._taken[key] = True
        return True

    async def fill(self, key: str, account: str, to: Mapping[str, Any], **what: Any) -> None:
        """Note what to repeat after a restart; nothing is kept of people who opted out."""
        if not self._opted_out.is_out(account):
            await self._conversations.reworded(key, {"to": dict(to), **what})

    async def done(self, key: str) -> None:
        """Remove a handled entry; that its event was seen stays known."""
        if key in self._taken:
            try:
                await self._conversations.dropped(key)
            except StorageError as error:
                log.warning("what was dealt with is looked at again after a restart: %s", error)
            self._taken.pop(key, None)

    async def keep(self, key: str) -> None:
        """Leave an entry to the next process, without counting this one's end against it."""
        try:
            await self._conversations.spared([key])
        except StorageError as error:
            log.warning("what is left to the next process counts as tried: %s", error)

    async def left(self, chat: Chat) -> list[Claim]:
        """Take over what dead processes had noted from a platform; return it oldest first."""
        async with self._noting:
            waiting = await self._conversations.left(chat.name, messages=False)
            found = [claim for claim in waiting if claim.message not in self._taken]
            self._taken |= {claim.message: True for claim in found}
            return found

    @staticmethod
    def key(platform: str, kind: Kind, event: str) -> str:
        """Name a command or a press uniquely over all platforms."""
        return f"{platform}:{kind}:{event or uuid.uuid4().hex}"


class Answered:
    """A responder that settles its entry once the person has a final answer or a form."""

    def __init__(self, responder: Responder, settle: Callable[[], Awaitable[None]]) -> None:
        self._responder = responder
        self._settle = settle

    @property
    def address(self) -> Mapping[str, Any]:
        """Return what `Chat.responder` needs to answer the same person later."""
        return self._responder.address

    async def reply(self, reply: Reply) -> None:
        """Answer, seen by the caller alone; again after pauses while the platform has trouble.

        Raises PlatformError where a final answer cannot be said.
        """
        for pause in (*AGAIN_SECONDS, 0.0):
            try:
                await self._responder.reply(reply)
                break
            except PlatformError as error:
                if not (reply.final and error.retryable and pause):
                    raise
                log.info("the platform did not take an answer, so it is said again: %s", error)
            await asyncio.sleep(pause)
        if reply.final:
            await self._settle()

    async def ask(self, form: Form) -> None:
        """Open a form."""
        await self._responder.ask(form)
        await self._settle()

    async def progress(self, reply: Reply) -> None:
        """Show the state of long work."""
        await self._responder.progress(reply)


class Silent:
    """A responder that says nothing, for repeated actions whose person can no longer be answered."""

    address: Mapping[str, Any] = MappingProxyType({})

    async def reply(self, reply: Reply) -> None:
        """Say nothing."""

    async def ask(self, form: Form) -> None:
        """Open nothing."""

    async def progress(self, reply: Reply) -> None:
        """Show nothing."""
