"""Answers given to one person alone, which that person can share with everybody."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from bot.conversation.strays import Strays, patiently
from bot.ports.chat import Chat, Control, Message, Press, Reply, packed, unpacked
from bot.rendering.answers import compose, controls
from core.domain import Answer, MessageRef, Scope
from core.engine import Engine
from core.errors import PlatformError
from core.languages import N_, _, spoken
from core.ports import Claim, ConversationStore
from core.text.markup import inert
from core.text.words import shortened

log = logging.getLogger(__name__)

FORGOTTEN = N_("This answer is no longer stored. Please ask again.")
SHARED = N_("Shared: everybody here can see it now.")
ALREADY = N_("This answer is shared already.")
MAY_NOT = N_("You may not write here, so I do not post this for you either.")
_ALONE = ("up", "down", "why", "reasoning", "apart")
"""Controls that also work under an answer which only one person sees."""
_NAME = 60
"""Characters of a person's name."""
_SHOWN = 300
"""Characters of a question that are quoted above its answer."""


def alone(answer: Answer, product: str, where: MessageRef, scope: Scope) -> Reply:
    """Return the reply for one person, with a Share button outside of direct messages.

    The button holds where to share it, because nothing else of such a reply is kept.
    """
    given = [control for control in controls(answer, ()) if control.name in _ALONE]
    if scope.kind != "direct":
        given.append(Control("share", _("Share"), f"{answer.id} {where.message} {where.thread}"))
    return replace(compose(answer, product), controls=tuple(given))


class Sharing:
    """Posts a private answer for everybody."""

    def __init__(
        self,
        engine: Engine,
        conversations: ConversationStore,
        to_person: Callable[[MessageRef, Scope], bool],
        is_out: Callable[[str], bool],
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self._to_person = to_person
        self._is_out = is_out
        self._posting: set[str] = set()
        self._strays = Strays(conversations)

    async def share(self, chat: Chat, press: Press) -> str:
        """Post an answer once; return what to tell the person who shares it. Raises PlatformError."""
        answer_id, message, thread = [*press.value.split(" "), "", ""][:3]
        if not press.may_write:
            return MAY_NOT
        where = MessageRef(press.ref.platform, press.ref.channel, message, thread)
        key = f"{where.key}@{answer_id}"
        if key in self._posting:
            return ALREADY
        self._posting.add(key)
        try:
            return await self._post(chat, press, where, answer_id, key)
        finally:
            self._posting.discard(key)

    async def _post(self, chat: Chat, press: Press, where: MessageRef, answer_id: str, key: str) -> str:
        answer, question = await self._engine.answer_log.answer(answer_id)
        if not answer.text:
            return FORGOTTEN
        known = await self._conversations.claimed(key)
        if known and known.parts:
            return ALREADY
        if not known:
            authors = tuple(sorted(await self._engine.answer_log.authors(answer_id) - {press.person.id}))
            said = Message(where, press.person, question, press.scope, language=spoken(), authors=authors)
            asked = packed(said)
            now = time.time()
            await self._conversations.claim(
                Claim(key, where.conversation, press.person.id, now, asked, kind="share")
            )
        reply = compose(answer, self._engine.product.name)
        if not where.message or await chat.message(where) is None:  # a command's question stands nowhere
            name = "" if self._is_out(press.person.id) else inert(shortened(press.person.name, _NAME))
            asked_by = _("{name} asked:").format(name=f"**{name}**") if name else ""
            quoted = "\n".join(filter(None, (asked_by, _quoted(question))))
            reply = replace(reply, markdown=f"{quoted}\n\n{reply.markdown}")
        ready = () if "+" in answer.release else self._engine.ready
        reply = replace(reply, controls=controls(answer, ready, self._to_person(where, press.scope)))
        try:
            parts = await self._posted(chat, where, reply, key)
        except PlatformError:
            await self._conversations.answered(key, "")  # it is not asked again after a restart
            raise
        # who goes on in the thread of what is posted goes on with this answer
        await self._conversations.posted(key, parts, parts[0].conversation)
        await self._conversations.answered(key, answer_id)
        try:
            await chat.seed_votes(parts[-1])
        except PlatformError as error:  # the answer stands, and people can still vote on it
            log.warning("a shared answer has no boxes for votes: %s", error)
        return SHARED

    async def _posted(self, chat: Chat, where: MessageRef, reply: Reply, key: str) -> tuple[MessageRef, ...]:
        """Post an answer; find it where the platform does not say whether it was posted."""
        try:
            return await chat.post(where, reply)
        except PlatformError as error:
            claim = await self._conversations.claimed(key) if error.in_doubt and where.message else None
            parts = await self._strays.of(chat, where, claim, reply.markdown) if claim else ()
            if not parts:
                raise
            return parts

    async def resume(self, chat: Chat, claim: Claim) -> None:
        """Settle what a dead process was sharing: if it was posted, keep it; else allow sharing again."""
        key, asked = claim.message, unpacked(claim.payload)
        answer_id = key.rpartition("@")[2]
        try:
            answer, _question = await self._engine.answer_log.answer(answer_id)
        except KeyError:  # it was forgotten meanwhile
            return await self._conversations.answered(key, "")
        said = f"{asked.author.name} {asked.text} {compose(answer, self._engine.product.name).markdown}"
        await patiently(lambda: self._strays.of(chat, asked.ref, claim, said))
        now = await self._conversations.claimed(key)
        await self._conversations.answered(key, answer_id if now and now.parts else "")


def _quoted(question: str) -> str:
    return f"> {inert(shortened(question, _SHOWN))}"
