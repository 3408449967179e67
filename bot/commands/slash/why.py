"""`/threadlore why`: what led to an answer, by its id, by a link to it, or the last one here."""

from __future__ import annotations

import re
from typing import Any

from bot.app.application import Application
from bot.commands.slash.table import Call, Option, Subcommand
from bot.commands.why import for_admins
from bot.interactions.reach import stay_within
from bot.interactions.visibility import may_hear
from core.errors import UsageError
from core.text.markup import inert

_ID = re.compile(r"a[0-9a-f]{16}")
_LINK = re.compile(r"https?://[^\s<>|)]+")
NONE_HERE = "There is no answer here yet. Name one: `/threadlore why ID`, or the link to its message."
NOT_YOURS = (
    "You can look into answers to your own questions. For others, use the button Why? under the answer, or "
    "ask an admin."
)
ELSEWHERE = "That answer was given in a private channel or in direct messages: ask for it there."


class WhyCommand:
    """Explains answers; to admins with what only they see."""

    def __init__(self, app: Application) -> None:
        self._app = app

    @property
    def subcommands(self) -> tuple[Subcommand, ...]:
        """Return the line of the table."""
        answer = Option(
            "answer", "An answer's id or the link to its message; the last one here when left out"
        )
        return (
            Subcommand(
                "why",
                "what led to an answer: the last one here, or the one of an id or a link",
                self._why,
                (answer,),
                everybody=True,
            ),
        )

    async def _why(self, call: Call) -> None:
        answer_id = await self._meant(call)
        given = self._app.engine.given
        try:
            found = await given.why(answer_id)
            who = await given.asked_by(answer_id)
        except KeyError:
            raise UsageError(f"There is no answer {answer_id} any more.") from None
        stay_within(call.person.id, [who.asker])
        own = self._app.engine.is_same(who.asker, call.person.id)
        if not (own or call.is_admin):
            raise UsageError(NOT_YOURS)
        hears: dict[str, Any] = {"hears": call.scope.key}
        if not own and not may_hear(hears, who.scope):
            raise UsageError(ELSEWHERE)
        lines = [f"- {sentence}" for sentence in found["sentences"]]
        if call.is_admin:
            told = await for_admins(self._app.memory, found, hears)
            lines += ["", f"Answer `{answer_id}`, for admins:", *(f"- {line}" for line in told)]
        await call.tell("\n".join([f"“{inert(found['question'])}”", *lines]))

    async def _meant(self, call: Call) -> str:
        """Return the id of the answer that is meant; raises UsageError where there is none."""
        said, conversations = call.given.get("answer", ""), self._app.conversations
        if not said:
            last = await conversations.last_claim(call.where.conversation) if call.where.thread else None
            last = last or await conversations.last_in(call.where.channel_key)
            if last is None:
                raise UsageError(NONE_HERE)
            return last.answer_id
        if _ID.fullmatch(said):
            return said
        link = _LINK.search(said)
        ref = await call.chat.linked(link[0]) if link and call.chat else None
        if ref is None:
            raise UsageError(f"`{said}` is neither an answer's id nor a link to a message that I know.")
        claim = await conversations.claimed(ref.key)
        answer_id = await conversations.answer_of(ref.key) or (claim.answer_id if claim else "")
        if not answer_id:
            raise UsageError("That message is no answer of mine, and no question that I answered.")
        return answer_id
