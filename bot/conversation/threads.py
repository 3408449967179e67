"""A question's thread: what was said in it before is read, and the answer is shown in it while it grows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace

from bot.conversation.desk import Desk
from bot.ports.chat import Chat, Reply
from bot.rendering.answers import growing, said
from core.domain import Evidence, MessageRef, Turn
from core.errors import MessageGone, PlatformError

log = logging.getLogger(__name__)

Note = Callable[[tuple[MessageRef, ...]], Awaitable[None]]

TURNS = 12
"""Messages of a conversation that are read back for a follow-up."""
READING_SECONDS = 1.0
"""How long nothing is written before the pages being read are shown: an edit is one of a minute's calls."""


class Threads:
    """Reads conversations."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def _as_asked(self, turn: Turn) -> Turn:
        """Return a question that the bot wrote down for who asked it in a form as that person's words."""
        if turn.role != "assistant" or not turn.text.startswith(">") or not turn.message:
            return turn
        claim = await self._desk.conversations.claimed(turn.message)
        text = str((claim.payload or {}).get("text") or "") if claim else ""
        return Turn("user", text, claim.asker, message=turn.message, at=claim.at) if claim and text else turn

    async def history(self, chat: Chat, ref: MessageRef, asker: str = "") -> tuple[Turn, ...]:
        """Read the conversation before a message, with the release that each answer was for.

        Messages of people who opted out or were forgotten are left out, and answers that repeat their words.
        What somebody else asked for by a press says nothing of the release that `asker` means.
        """
        history = await chat.history(ref, TURNS)
        desk, log = self._desk, self._desk.engine.answer_log
        given = await desk.conversations.answers_in(ref.conversation, TURNS)
        authors = tuple(sorted(await log.whose(given)))
        posts = [post for turn in history for post in (turn.message, turn.last) if post]
        of = await desk.conversations.answers_of(posts)
        emptied = await log.emptied(list(of.values()))
        others = {one for one in set(of.values()) - set(given) if await self._is_anothers(one, asker)}
        release = await log.releases_of(sorted({*of.values(), *given[:1]} - others))
        turns = [
            replace(turn, text=said(turn.text), authors=authors, release=_release(turn, of, release))
            if turn.role == "assistant"
            else turn
            for turn in desk.opted_out.heard([await self._as_asked(turn) for turn in history])
            if emptied.isdisjoint({of.get(turn.message, ""), of.get(turn.last, "")})
        ]
        last = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].role == "assistant"), -1)
        if given and last >= 0:
            turns[last] = replace(turns[last], release=turns[last].release or release.get(given[0], ""))
        if turns and turns[0].role == "assistant" and (first := of.get(turns[0].message)):
            asked = await log.question(first)  # of a shared answer, whose question stands nowhere
            turns[:0] = [Turn("user", asked, authors=authors)] if asked else []
        return tuple(turns)

    async def _is_anothers(self, answer_id: str, asker: str) -> bool:
        """Return True if somebody else asked for an answer by a press, which is no word of the thread's."""
        claim = await self._desk.conversations.claim_of(answer_id)
        if claim is None or "@" not in claim.conversation:
            return False
        return not self._desk.opted_out.is_asker(claim, asker)


def _release(turn: Turn, of: Mapping[str, str], release: Mapping[str, str]) -> str:
    """Return the release of the latest answer in a turn of the bot; empty where none has one."""
    told = (release.get(of.get(post, ""), "") for post in (turn.last, turn.message))
    return next(filter(None, told), "")


class StreamingReply:
    """Shows an answer while it grows: the pages being read, then the text, one edit at a time.

    It listens to the engine and edits `parts`; `note` hears when the reply takes other messages.

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
        self.in_doubt = False
        """Whether the first words may be posted though the platform did not say so."""
        self._context = copy_context()
        """That of the asker: what has an edit begin may be another's answer, in another language."""
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
            self._task = asyncio.create_task(self._edit(), context=self._context)

    async def _edit(self) -> None:
        while not (self._closed or self.in_doubt):
            reply = growing(self._text, self._product, self._release, self._evidence, self._before)
            if reply.markdown == self._shown:
                return
            self._shown = reply.markdown
            try:
                before, self.parts = self.parts, await self._put(reply)
            except PlatformError as error:
                log.info("an intermediate edit failed: %s", error)
                self.in_doubt = error.retryable and not self.parts
                self._closed = self._closed or isinstance(error, MessageGone)  # the answer is posted anew
                return
            if self.parts != before:
                await self._note(self.parts)
            await asyncio.sleep(0)

    async def _put(self, reply: Reply) -> tuple[MessageRef, ...]:
        return await (
            self._chat.edit(self.parts, reply) if self.parts else self._chat.post(self._where, reply)
        )
