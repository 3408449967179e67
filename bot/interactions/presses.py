"""What the buttons, the menu and the form under an answer do."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

from bot.conversation.answering import Answering
from bot.conversation.desk import Desk
from bot.conversation.limits import wait_text
from bot.escalation.asking import Escalation
from bot.interactions.gratitude import counted, taken_back
from bot.interactions.sharing import FORGOTTEN, Sharing, alone
from bot.ports.chat import Chat, Message, Person, Press, Reply, Responder, packed, unpacked
from bot.privacy.visibility import beyond
from bot.rendering.answers import (
    ASK_WHAT_WAS_WRONG,
    THINK,
    WORKING,
    WRONG,
    is_unreasoned,
    reasoning,
    think_button,
    wrong_button,
    wrong_form,
)
from core.domain import Question, Vote
from core.errors import PlatformError, ThreadloreError
from core.languages import N_, _, spoken
from core.ports import Claim
from core.ports.opinions import Correction

log = logging.getLogger(__name__)

VOTES: dict[str, Literal[0, 1]] = {"up": 1, "down": 0}
"""Controls that are a vote, and what it is worth."""
NOTED = N_("Thank you, that is noted.")
KEPT = N_("Thank you. It is kept with the answer, and the admins see it.")
REMEMBERED = N_("Thank you. Your answer is remembered for this question from now on.")
NOT_YOURS = N_("Only the asker or an admin can delete this answer.")
DELETED = N_("The answer is deleted.")
APART = "apart"
"""The control that tells a question apart from the remembered one whose answer it got."""
OLD = N_("This button does nothing any more. Please ask again.")
ASK_AGAIN = N_("I am being restarted. Please ask again in a minute.")


class _Again(NamedTuple):
    """What is told to who asks once more: it is `there` at a link or `here`, being found, or begun."""

    there: str
    here: str
    asking: str
    begun: str


class Presses:
    """Carries out a press and tells the person the result."""

    def __init__(
        self, desk: Desk, answering: Answering, is_admin: Callable[[Person], bool], escalation: Escalation
    ) -> None:
        self._desk = desk
        self._answering = answering
        self.sharing = Sharing(desk.engine, desk.conversations, escalation.offered, desk.opted_out.is_out)
        self._is_admin = is_admin
        self._escalation = escalation

    async def carry_out(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Do what a control is for. Raises ThreadloreError."""
        answer_id, release = press.value.partition(" ")[::2]
        if press.name == "delete":
            await responder.reply(Reply(_(await self._delete(chat, press, answer_id))))
        elif not await self._desk.engine.answer_log.question(answer_id):
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
        elif press.name == APART:
            await self._desk.engine.tell_apart(answer_id, press.person.id)
            await self._ask_anew(chat, press, answer_id, responder)
        elif press.name == "release":
            await self._ask_again(chat, press, answer_id, release, responder)
        elif press.name == "reasoning":
            answer, _asked = await self._desk.engine.answer_log.answer(answer_id)
            await responder.reply(Reply(reasoning(answer) or _(FORGOTTEN)))
        elif press.name == "why":
            await self._say_why(press, answer_id, responder)
        elif press.name == THINK:
            await self._think(press, answer_id, responder)
        else:
            await responder.reply(Reply(_(OLD)))

    async def _say_why(self, press: Press, answer_id: str, responder: Responder) -> None:
        """Tell what led to an answer, and offer to reason where that can be done."""
        sentences = (await self._desk.engine.answer_log.why(answer_id))["sentences"]
        answer, _asked = await self._desk.engine.answer_log.answer(answer_id)
        can = self._desk.engine.model is not None and not self._desk.opted_out.is_out(press.person.id)
        offered = (think_button(answer_id),) if can and is_unreasoned(answer) else ()
        await responder.reply(Reply("\n".join(f"- {said}" for said in sentences), controls=offered))

    async def _think(self, press: Press, answer_id: str, responder: Responder) -> None:
        """Answer the same question with the model's reasoning, for who pressed alone."""
        if self._answering.stopping:
            await responder.reply(Reply(_(ASK_AGAIN)))
            return
        release = await self._desk.engine.answer_log.release_of(answer_id)
        one = "" if "+" in release else release  # a comparison names its releases itself
        await self._anew_alone(press, answer_id, responder, Question("", release=one, why=True))

    async def takes_back(self, press: Press) -> bool:
        """Return True if a vote by button repeats the person's current vote, which withdraws it."""
        if press.again is not None:
            return press.again
        return await self._desk.engine.opinion(press.value, press.person.id) == VOTES[press.name]

    async def _voted(self, press: Press, value: Literal[0, 1], responder: Responder) -> None:
        """Count a vote by button, or withdraw it if it repeats the current one."""
        if await self.takes_back(press):
            await self._vote(press, None)
            claim = await self._desk.conversations.claim_of(press.value)
            await self._desk.off_replaced(claim, press.person, value)
            await responder.reply(Reply(taken_back(value, await self._desk.engine.esteem(press.value))))
        elif value:
            await self._vote(press, 1)
            await responder.reply(Reply(counted(await self._desk.engine.esteem(press.value))))
        else:
            await self._down(press, responder)

    async def _vote(self, press: Press, value: Literal[0, 1] | None) -> None:
        vote = Vote(press.value, press.person.id, value)
        await self._desk.engine.feedback(vote, helper=press.person.helper)

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
        claim = await self._desk.conversations.claim_of(press.value)
        link = await chat.permalink(claim.parts[-1]) if claim and claim.parts else ""
        what, better = press.fields.get("what", ""), press.fields.get("better", "").strip()
        said = Correction(
            press.value, person.id, person.name, what if what in WRONG else "other", better, time.time()
        )
        helper = person.helper or self._desk.engine.helps(person.id)
        kept = await self._desk.engine.accepted.correct(said, helper, link, press.scope)
        return REMEMBERED if kept.pair_id else KEPT if better else NOTED

    async def _ask_again(
        self, chat: Chat, press: Press, answer_id: str, release: str, responder: Responder
    ) -> None:
        """Answer the same question for another release, in a reply of its own, once."""
        claim = await self._desk.conversations.claim_of(answer_id)
        if claim is None or not claim.payload:
            await responder.reply(Reply(_(FORGOTTEN)))
            return
        text = await self._desk.engine.answer_log.question(answer_id, release)
        after = await self._desk.engine.answer_log.release_of(answer_id)
        message = await self._repeated(press, claim, answer_id, text)
        message = replace(message, release=release, after=after)
        names = {"release": release}
        said = _Again(
            _("It is answered for {release} already, [here]({link}).").format(link="{link}", **names),
            _("It is answered for {release} already, in this conversation.").format(**names),
            _("Asking for {release} …").format(**names),
            _("Asked again for {release}; the answer comes in the conversation.").format(**names),
        )
        await self._answer_once(chat, claim, message, said, responder)

    async def _ask_anew(self, chat: Chat, press: Press, answer_id: str, responder: Responder) -> None:
        """Answer the same question from the pages, in a reply of its own, once; to one person alone there."""
        if self._answering.stopping:
            raise asyncio.CancelledError  # it is told so, and done after the next start
        claim = await self._desk.conversations.claim_of(answer_id)
        if claim is None:
            await self._anew_alone(press, answer_id, responder, Question("", fresh=True))
            return
        if not claim.payload:
            await responder.reply(Reply(_(FORGOTTEN)))
            return
        first = unpacked(claim.payload)
        message = await self._repeated(press, claim, answer_id, first.text)
        message = replace(message, release=first.release, after=first.after, fresh=True)
        said = _Again(
            _("There is a new answer already, [here]({link})."),
            _("There is a new answer already, in this conversation."),
            _(WORKING),
            _("Noted: that answer is not given to this question again. A new one comes in the conversation."),
        )
        known = await self._desk.conversations.claimed(message.key)
        if press.again and known and not known.is_settled:  # it is taken up with the other questions
            await responder.reply(Reply(said.asking))
            return
        await self._answer_once(chat, claim, message, said, responder)

    async def _anew_alone(self, press: Press, answer_id: str, responder: Responder, how: Question) -> None:
        """Answer a question again for one person alone, in the place of what that person was told.

        `how` says for which release, whether with reasoning, and whether from the pages.
        """
        where = replace(press.ref, message="")
        if refused := await self._desk.limits.wait(press.person.id, where.channel_key):
            await responder.reply(Reply(wait_text(refused.seconds)))
            return
        await responder.reply(Reply(_(WORKING), final=False))
        asked = replace(
            how,
            text=await self._desk.engine.answer_log.question(answer_id),
            asker=press.person.id,
            channel=where.channel_key,
            scope=press.scope,
            language=spoken(),
            authors=tuple(sorted(await self._desk.engine.answer_log.authors(answer_id) - {press.person.id})),
        )
        answer = await self._desk.engine.answer(asked)
        await responder.reply(alone(answer, self._desk.engine.product.name, where, press.scope))

    async def _repeated(self, press: Press, claim: Claim, answer_id: str, text: str) -> Message:
        """Return the message by which somebody asks once more what was claimed."""
        others = sorted(await self._desk.engine.answer_log.authors(answer_id) - {press.person.id})
        asked = unpacked(claim.payload).ref
        # the question of a shared answer stands nowhere, so it goes on under that answer
        where = asked if asked.message or not claim.parts else claim.parts[0]
        return Message(where, press.person, text, press.scope, language=spoken(), authors=tuple(others))

    async def _answer_once(
        self, chat: Chat, claim: Claim, message: Message, said: _Again, responder: Responder
    ) -> None:
        """Answer a message that asks once more, unless it is answered already or somebody asked too much."""
        async with self._desk.lock(message.key):  # two may ask at once
            task = await self._begun(chat, claim, message, said, responder)
        if task is None:
            return
        await responder.reply(Reply(said.begun))
        await self._answering.follow(message.key, task)
        done = await self._desk.conversations.claimed(message.key)
        if not (self._answering.stopping or (done and done.parts)):
            await responder.reply(Reply(_(ThreadloreError.told)))

    async def _begun(
        self, chat: Chat, claim: Claim, message: Message, said: _Again, responder: Responder
    ) -> asyncio.Task[None] | None:
        """Begin to answer a message that asks once more; None where it is told why not."""
        where, asker, conversations = message.ref, message.author.id, self._desk.conversations
        known = await conversations.claimed(message.key)
        if known and known.parts:
            link = await chat.permalink(known.parts[0])
            await responder.reply(Reply(said.there.format(link=link) if link else said.here))
            return None
        elsewhere = known and not known.is_settled and not await conversations.is_ours(message.key)
        if self._answering.stopping or elsewhere or message.key in self._answering:
            await responder.reply(Reply(_(ASK_AGAIN) if self._answering.stopping else said.asking))
            return None
        if refused := await self._desk.limits.wait(asker, where.channel_key):
            await responder.reply(Reply(wait_text(refused.seconds)))
            return None
        # a thread goes on with who asked: nobody else becomes its asker by a press
        own = self._desk.opted_out.is_asker(claim, asker)
        conversation = where.conversation if own else f"{where.conversation}{message.key[len(where.key) :]}"
        again = Claim(message.key, conversation, asker, time.time(), packed(message))
        if known:  # its answer was deleted: the new one is whose press it is
            await conversations.dropped(message.key)
        if not await conversations.claim(again):
            await responder.reply(Reply(said.asking))
            return None
        return self._answering.begin(chat, message, ())

    async def _delete(self, chat: Chat, press: Press, answer_id: str) -> str:
        """Delete an answer for the person who asked, or for an admin; return what to say."""
        claim = await self._desk.conversations.claim_of(answer_id)
        own = claim is not None and self._desk.opted_out.is_asker(claim, press.person.id)
        if not (own or self._is_admin(press.person)):
            return NOT_YOURS if claim else FORGOTTEN
        if refusal := beyond(press.person.id, [claim.asker] if claim else []):
            return refusal
        if claim is not None:
            await self._desk.conversations.answered(claim.message, "")
        try:
            await chat.delete(claim.parts if claim else (press.ref,))
        except PlatformError:
            if claim is not None:  # it stands yet, so it can be deleted later
                await self._desk.conversations.answered(claim.message, answer_id)
            raise
        if claim is not None:
            await self._desk.conversations.posted(claim.message, ())
        return DELETED
