"""What was said in a conversation before a question."""

from __future__ import annotations

from dataclasses import replace

from bot.conversation.desk import Desk
from bot.ports.chat import Chat
from bot.rendering.answers import said
from core.domain import MessageRef, Turn

TURNS = 12
"""Messages of a conversation that are read back for a follow-up."""


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

    async def history(self, chat: Chat, ref: MessageRef) -> tuple[Turn, ...]:
        """Read the conversation before a message, with the release that each answer was for.

        Messages of people who opted out or were forgotten are left out, and answers that repeat their words.
        """
        history = await chat.history(ref, TURNS)
        desk, log = self._desk, self._desk.engine.answer_log
        given = await desk.conversations.answers_in(ref.conversation, TURNS)
        authors = tuple(sorted(await log.whose(given)))
        of = await desk.conversations.answers_of([turn.message for turn in history if turn.message])
        emptied = await log.emptied(list(of.values()))
        release = await log.releases_of(sorted({*of.values(), *given[:1]}))
        turns = [
            replace(
                turn, text=said(turn.text), authors=authors, release=release.get(of.get(turn.message, ""), "")
            )
            if turn.role == "assistant"
            else turn
            for turn in desk.opted_out.heard([await self._as_asked(turn) for turn in history])
            if of.get(turn.message) not in emptied
        ]
        last = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].role == "assistant"), -1)
        if given and last >= 0:
            turns[last] = replace(turns[last], release=turns[last].release or release.get(given[0], ""))
        if turns and turns[0].role == "assistant" and (first := of.get(turns[0].message)):
            asked = await log.question(first)  # of a shared answer, whose question stands nowhere
            turns[:0] = [Turn("user", asked, authors=authors)] if asked else []
        return tuple(turns)
