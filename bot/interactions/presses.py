"""What the buttons, the menu and the form under an answer do."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Literal

from bot.conversation.answering import Answering
from bot.conversation.pausing import Limits, wait_text
from bot.escalation.asking import Escalation
from bot.interactions.sharing import FORGOTTEN, Sharing
from bot.ports.chat import Chat, Message, Person, Press, Reply, Responder
from bot.ports.message_codec import packed, unpacked
from bot.privacy.visibility import beyond
from bot.rendering.answers import ASK_WHAT_WAS_WRONG, WRONG, wrong_button, wrong_form
from core.domain import Vote
from core.engine import Engine
from core.errors import PlatformError, ThreadloreError
from core.languages import N_, _, spoken
from core.ports import Claim, ConversationStore
from core.ports.opinions import Correction

log = logging.getLogger(__name__)

VOTES: dict[str, Literal[0, 1]] = {"up": 1, "down": 0}
"""Controls that are a vote, and what it is worth."""
COUNTED = N_("Your 👍 counts. Thank you!")
UNCOUNTED = {1: N_("Your 👍 is taken back."), 0: N_("Your 👎 is taken back.")}
NOTED = N_("Thank you, that is noted.")
KEPT = N_("Thank you. It is kept with the answer, and the admins see it.")
REMEMBERED = N_("Thank you. Your answer is remembered for this question from now on.")
NOT_YOURS = N_("Only the person who asked, or an admin, can delete this answer.")
DELETED = N_("The answer is deleted.")
OLD = N_("This button does nothing any more. Please ask again.")
ASK_AGAIN = N_("I am being restarted. Please ask again in a minute.")


class Presses:
    """Carries out a press and tells the person the result."""

    def __init__(
        self,
        engine: Engine,
        conversations: ConversationStore,
        answering: Answering,
        limits: Limits,
        is_admin: Callable[[Person], bool],
        is_asker: Callable[[Claim, str], bool],
        escalation: Escalation,
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self._answering = answering
        self._limits = limits
        self.sharing = Sharing(engine, conversations, escalation.offered)
        self._is_admin = is_admin
        self._is_asker = is_asker
        self._escalation = escalation

    async def carry_out(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Do what a control is for. Raises ThreadloreError."""
        answer_id, release = press.value.partition(" ")[::2]
        if press.name == "delete":
            await responder.reply(Reply(_(await self._delete(chat, press, answer_id))))
        elif not await self._engine.answer_log.question(answer_id):
            await responder.reply(Reply(_(FORGOTTEN)))
        elif press.name in VOTES:
            await self._voted(press, VOTES[press.name], responder)
        elif press.name == "wrong" and press.fields:
            await responder.reply(Reply(_(await self._correct(chat, press))))
        elif press.name == "wrong":
            await self._ask_what_was_wrong(answer_id, responder)
        elif press.name == "person":
            await self._escalation.press(chat, press, responder)
        elif press.name == "share":
            await responder.reply(Reply(_(await self.sharing.share(chat, press))))
        elif press.name == "release":
            await self._ask_again(chat, press, answer_id, release, responder)
        elif press.name == "why":
            sentences = (await self._engine.answer_log.why(answer_id))["sentences"]
            await responder.reply(Reply("\n".join(f"- {sentence}" for sentence in sentences)))
        else:
            await responder.reply(Reply(_(OLD)))

    async def takes_back(self, press: Press) -> bool:
        """Return True if a vote by button repeats the person's current vote, which withdraws it."""
        if press.again is not None:
            return press.again
        return await self._engine.opinion(press.value, press.person.id) == VOTES[press.name]

    async def _voted(self, press: Press, value: Literal[0, 1], responder: Responder) -> None:
        """Count a vote by button, or withdraw it if it repeats the current one."""
        if await self.takes_back(press):
            await self._vote(press, None)
            await responder.reply(Reply(_(UNCOUNTED[value])))
        elif value:
            await self._vote(press, 1)
            await responder.reply(Reply(_(COUNTED)))
        else:
            await self._down(press, responder)

    async def _vote(self, press: Press, value: Literal[0, 1] | None) -> None:
        vote = Vote(press.value, press.person.id, value)
        await self._engine.feedback(vote, helper=press.person.helper)

    async def _down(self, press: Press, responder: Responder) -> None:
        """Count a 👎 and open the form at the same time: the platform waits three seconds at most for it."""
        counting = asyncio.create_task(self._vote(press, 0))
        try:
            await self._ask_what_was_wrong(press.value, responder)
        finally:
            await counting

    async def _ask_what_was_wrong(self, answer_id: str, responder: Responder) -> None:
        """Open the form; if it is too late for the platform, offer a button that opens it."""
        try:
            await responder.ask(wrong_form(answer_id))
        except PlatformError as error:
            log.info("the form on what was wrong did not open: %s", error)
            await responder.reply(Reply(_(ASK_WHAT_WAS_WRONG), controls=(wrong_button(answer_id),)))

    async def _correct(self, chat: Chat, press: Press) -> str:
        """Save what somebody found wrong; remember a helper's better answer."""
        person = press.person
        claim = await self._conversations.claim_of(press.value)
        link = await chat.permalink(claim.parts[-1]) if claim and claim.parts else ""
        what, better = press.fields.get("what", ""), press.fields.get("better", "").strip()
        said = Correction(
            press.value, person.id, person.name, what if what in WRONG else "other", better, time.time()
        )
        helper = person.helper or self._engine.helps(person.id)
        kept = await self._engine.accepted.correct(said, helper, link)
        return REMEMBERED if kept.pair_id else KEPT if better else NOTED

    async def _ask_again(
        self, chat: Chat, press: Press, answer_id: str, release: str, responder: Responder
    ) -> None:
        """Answer the same question for another release, in a reply of its own, once."""
        claim = await self._conversations.claim_of(answer_id)
        if claim is None:
            await responder.reply(Reply(_(FORGOTTEN)))
            return
        text = await self._engine.answer_log.question(answer_id, release)
        authors = await self._engine.answer_log.authors(answer_id) - {press.person.id}
        asked = unpacked(claim.payload).ref
        # the question of a shared answer stands nowhere, so it goes on under that answer
        where = asked if asked.message or not claim.parts else claim.parts[0]
        message = Message(
            where,
            press.person,
            text,
            press.scope,
            release=release,
            language=spoken(),
            authors=tuple(sorted(authors)),
            after=await self._engine.answer_log.release_of(answer_id),
        )
        known = await self._conversations.claimed(message.key)
        if known and known.parts:
            link = await chat.permalink(known.parts[0])
            there = _("It is answered for {release} already, [here]({link}).")
            there = there if link else _("It is answered for {release} already, in this conversation.")
            await responder.reply(Reply(there.format(release=release, link=link)))
            return
        if self._answering.stopping or message.key in self._answering:
            asking = _("Asking for {release} …").format(release=release)
            await responder.reply(Reply(_(ASK_AGAIN) if self._answering.stopping else asking))
            return
        if seconds := self._limits.wait(press.person.id, where.channel_key):
            await responder.reply(Reply(wait_text(seconds)))
            return
        # a thread goes on with who asked: nobody else becomes its asker by a press
        own = self._is_asker(claim, press.person.id)
        conversation = where.conversation if own else f"{where.conversation}@{release}"
        again = Claim(message.key, conversation, press.person.id, time.time(), packed(message))
        if known:
            await self._conversations.reopen(message.key, again.payload, again.at)
        elif not await self._conversations.claim(again):
            return
        task = self._answering.begin(chat, message, ())
        said = _("Asked again for {release}; the answer comes in the conversation.").format(release=release)
        await responder.reply(Reply(said))
        await self._answering.follow(message.key, task)
        done = await self._conversations.claimed(message.key)
        if not (self._answering.stopping or (done and done.parts)):
            await responder.reply(Reply(_(ThreadloreError.told)))

    async def _delete(self, chat: Chat, press: Press, answer_id: str) -> str:
        """Delete an answer for the person who asked, or for an admin; return what to say."""
        claim = await self._conversations.claim_of(answer_id)
        own = claim is not None and self._is_asker(claim, press.person.id)
        if not (own or self._is_admin(press.person)):
            return NOT_YOURS if claim else FORGOTTEN
        if refusal := beyond(press.person.id, [claim.asker] if claim else []):
            return refusal
        if claim is not None:
            await self._conversations.answered(claim.message, "")
        try:
            await chat.delete(claim.parts if claim else (press.ref,))
        except PlatformError:
            if claim is not None:  # it stands yet, so it can be deleted later
                await self._conversations.answered(claim.message, answer_id)
            raise
        if claim is not None:
            await self._conversations.posted(claim.message, ())
        return DELETED
