"""Show an answer while it grows: the pages being read, then the text, one edit at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from bot.ports.chat import Chat, Reply
from bot.rendering.answers import growing
from core.domain import Evidence, MessageRef
from core.errors import PlatformError

log = logging.getLogger(__name__)

Note = Callable[[tuple[MessageRef, ...]], Awaitable[None]]

READING_SECONDS = 1.0
"""How long nothing is written before the pages being read are shown: an edit is one of a minute's calls."""


class StreamingReply:
    """Listens to the engine and edits `parts`; `note` hears when the reply takes other messages.

    Without parts nobody waits for an answer: nothing is shown before the first words, which are posted
    to `where`.
    """

    def __init__(
        self,
        chat: Chat,
        parts: tuple[MessageRef, ...],
        product: str,
        note: Note,
        where: MessageRef,
        *,
        after: float = READING_SECONDS,
    ) -> None:
        """Show pages being read `after` so many seconds in which nothing is written."""
        self._after = after
        self.parts = parts
        self._where = where
        self._chat = chat
        self._product = product
        self._note = note
        self._release = ""
        self._evidence: Sequence[Evidence] = ()
        self._text = ""
        self._before = 0
        self._shown = ""
        self._closed = False
        self._task: asyncio.Task[None] | None = None
        self._later: asyncio.TimerHandle | None = None

    async def sources(self, release: str, evidence: Sequence[Evidence]) -> None:
        """Show which pages are being read, if that lasts."""
        self._release, self._evidence = release, evidence
        if self.parts and self._later is None:
            self._later = asyncio.get_running_loop().call_later(self._after, self._begin)

    def place(self, number: int) -> None:
        """Show how many questions the model has before this one, again where they are half as many."""
        before = number - 1
        if not self._before or 2 * before <= self._before or before > 2 * self._before:
            self._before = before
            if self.parts and (before or self._shown):
                self._begin()

    async def text(self, markdown: str) -> None:
        """Show the text so far; text that arrives during an edit is shown by the next one."""
        self._text = markdown
        self._begin()

    async def finish(self) -> None:
        """Show nothing more, and wait for the current edit, which must not be interrupted half-way."""
        self._closed = True
        if self._later is not None:
            self._later.cancel()
        if self._task is not None:
            await asyncio.wait({self._task})

    def _begin(self) -> None:
        if not self._closed and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._edit())

    async def _edit(self) -> None:
        while not self._closed:
            reply = growing(self._text, self._product, self._release, self._evidence, self._before)
            if reply.markdown == self._shown:
                return
            self._shown = reply.markdown
            try:
                before, self.parts = self.parts, await self._put(reply)
            except PlatformError as error:
                log.info("an intermediate edit failed: %s", error)
                return
            if self.parts != before:
                await self._note(self.parts)
            await asyncio.sleep(0)

    async def _put(self, reply: Reply) -> tuple[MessageRef, ...]:
        return await (
            self._chat.edit(self.parts, reply) if self.parts else self._chat.post(self._where, reply)
        )
