"""A question's journey on the platform side: claimed once, answered, updated, withdrawn.

Everything that must happen once is claimed in the database first, so retries, doubled events,
several connections and restarts lead to one answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace

from bot.conversation.answering import Answering
from bot.conversation.desk import LATER, WAIT, Desk, InOrder, Slot, deletion, say
from bot.conversation.gone import removed, said_in
from bot.conversation.limits import Refusal, Slowing
from bot.conversation.resumption import TOO_LATE, Found, TakingUp
from bot.conversation.triggers import Triggers, asks_nothing, is_objection, points_above, says_nothing_new
from bot.conversation.undelivered import tell
from bot.escalation.resolving import Resolving
from bot.ports.chat import Chat, Message, Reply, asked_again, packed, unheard, unpacked
from bot.rendering.answers import sorry
from core.domain import MessageRef
from core.errors import PlatformError, StorageUnavailable
from core.languages import _, speaking
from core.ports import Claim

log = logging.getLogger(__name__)

EDIT_SECONDS = 60
"""How long after a question an edit of it is answered anew."""
NOTHING = Claim("", "", "", 0.0)
"""Claims no message, where only an event is noted."""
EARLIER_SECONDS, LOOK_SECONDS = 120.0, 0.05
"""How long a follow-up waits for what a dead process had taken to be taken up, and between two looks."""


class Questions:
    """Handles questions: claims, answers, edits and deletions.

    A message is claimed before anything else is done about it, and platforms acknowledge it then: whatever
    happens to the process afterwards, it is answered, or its asker is told that it is not.
    """

    def __init__(self, desk: Desk, answering: Answering, triggers: Triggers, resolving: Resolving) -> None:
        self._desk = desk
        self._answering = answering
        self._triggers = triggers
        self._resolving = resolving
        self._in_order = InOrder()
        self._taking_up = TakingUp(desk.conversations, answering, self._in_order, desk.lock)
        self._slowing = Slowing()

    async def message(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        """Answer a message that is meant for the bot, once, in the language of its words.

        `taken` is called once the message is claimed, or known not to be for the bot.
        """
        with self._in_order.slot(message.ref.conversation) as slot:
            await slot.after_claims()
            found = await self._claimed(chat, message)
            slot.looked()
            if found is None:
                return
            taken()
            if found.is_new:
                if found.decided and self._answering.stopping:  # it does not begin to work on it
                    await self._desk.conversations.spared([message.ref.key])
                await self._go_on(chat, found, slot)
            elif found.parts:  # another process of a cluster answers, or nobody need
                await chat.delete(found.parts)

    async def _claimed(self, chat: Chat, message: Message) -> Found | None:
        """Claim a message that is or may be for the bot; None if it could not be saved.

        While nothing can be saved, the asker is told so and the message waits.
        """
        key = message.ref.key
        parts: tuple[MessageRef, ...] = ()
        if key in self._desk.outage:
            return None  # the same message came again, and waits already
        try:
            while True:
                try:
                    return await self._claim(message, parts)
                except StorageUnavailable as error:
                    called = message.mentions_bot or message.scope.kind == "direct"
                    called = called and self._desk.cluster.is_sure  # else another process answers
                    if key not in self._desk.outage:
                        log.error("a message cannot be claimed: %s", error)
                        waits = self._desk.outage.begin(key)
                        parts = (
                            await say(chat, message.ref, parts, WAIT if waits else LATER) if called else ()
                        )
                        if not waits:
                            return None
                    await self._desk.outage.over()
        except asyncio.CancelledError:
            await tell(chat, parts, _(TOO_LATE))
            raise
        finally:
            self._desk.outage.end(key)

    async def _claim(self, message: Message, parts: tuple[MessageRef, ...]) -> Found:
        trigger = await self._triggers.at_once(message)
        if trigger is None:
            return Found(message, parts, is_new=False)
        asked, decided = trigger
        claim = replace(self._desk.opted_out.claim(asked), decided=decided, tries=1 if decided else 0)
        is_new = await self._desk.conversations.claim(claim, message.event)
        return Found(asked, parts, is_new, decided)

    async def _go_on(self, chat: Chat, found: Found, slot: Slot) -> None:
        """Handle a claimed message: decide whether it is for the bot, and answer it."""
        with self._answering.holding(found.message.key):
            if await self._desk.conversations.taken(deletion(found.message.key)):
                await self._settle(chat, found.message.key, found.parts, ())
                return
            if not found.decided:
                await self._after_earlier(found.message, slot)
                decided = None if self._answering.stopping else await self._decided(chat, found.message)
                if decided is None:
                    return
                found = replace(found, message=decided, decided=True)
            if self._answering.stopping:
                return  # it is claimed, and answered after the next start
            message = await self._meant(chat, found.message)
            message = replace(message, language=await self._desk.locales.of(message))
            with speaking(message.language):
                await (self._too_late if found.late else self._take)(chat, replace(found, message=message))

    async def _after_earlier(self, message: Message, slot: Slot) -> None:
        """Wait until earlier questions of the thread are done, those of a dead process included."""
        own = await self._desk.conversations.claimed(message.key)
        until = time.monotonic() + EARLIER_SECONDS
        while own is not None and time.monotonic() < until and not self._answering.stopping:
            await slot.after_answers()
            waiting = await self._desk.conversations.open_in(message.ref.conversation)
            if not any(claim.at < own.at for claim in waiting):
                return
            await asyncio.sleep(LOOK_SECONDS)  # it is about to be taken up

    async def _decided(self, chat: Chat, message: Message) -> Message | None:
        """Return the current text of a claimed thread message if it is for the bot; else drop the claim."""
        key = message.ref.key
        claim = await self._desk.conversations.claimed(key)
        if claim is None or claim.decided:
            return None  # it was deleted, or edited so that it calls the bot
        message = unpacked(claim.payload) if claim.payload else message
        if not await self._triggers.goes_on(chat, message):
            await self._desk.conversations.dropped(key)
            return None
        await self._desk.conversations.decided(key, claim.payload)
        return message

    async def _meant(self, chat: Chat, message: Message) -> Message:
        """Return a message; of a mention without words, what it calls the bot for: the question above it."""
        if not message.mentions_bot or (message.text and not points_above(message.text)):
            return message
        if (above := await self._triggers.above(chat, message)) is None:
            return message
        text, authors = above
        meant = replace(message, text=text, authors=() if authors == (message.author.id,) else authors)
        await self._desk.conversations.decided(message.key, self._desk.opted_out.claim(meant).payload)
        return meant

    async def _objected(self, message: Message) -> Reply | None:
        """Return what is said to somebody whom an answer did not help; None for any other message."""
        if not is_objection(message.text) or self._desk.opted_out.is_out(message.author.id):
            return None
        claim = await self._desk.conversations.last_claim(message.ref.conversation)
        person = self._answering.to_person(message.ref, message.scope)
        return sorry(claim.answer_id, person) if claim else None

    async def _take(self, chat: Chat, found: Found) -> None:
        message, parts = found.message, found.parts
        key = message.key
        async with self._desk.lock(key):
            claim = await self._desk.conversations.claimed(key)
            if claim is None or claim.is_settled or key in self._answering or self._answering.stopping:
                return  # it was deleted or edited meanwhile, or is answered after the next start
            told = await self._instead(chat, found)
            if told is not None:
                await self._settle(chat, key, parts, told)
                return
            task = self._answering.begin(chat, message, parts, found.answer_id)
        await self._answering.follow(key, task)

    async def _instead(self, chat: Chat, found: Found) -> tuple[MessageRef, ...] | None:
        """Say what is said instead of an answer, and return where; None for a question to be answered.

        What cannot be said is done with, too: else the claim would hold up what follows in the thread.
        """
        message, passed = found.message, tuple[MessageRef, ...]()
        try:
            if pause := await self._desk.pausing.of(message.ref.channel_key):
                return await self._desk.pausing.tell(chat, message, pause)
            if not found.again and (refused := await self._refused(message)):
                quiet = message.unasked == "questions"  # nobody awaits an answer there
                return () if quiet else await self._slowing.tell(chat, message, refused)
            hint = await self._desk.hint.to(message)
            if not hint and message.scope.kind == "direct" and not asks_nothing(message.text):
                hint, passed = await self._resolving.passed_on(chat, message)
            hint = hint or await self._objected(message)
            return (*passed, *await chat.post(message.ref, hint)) if hint else None
        except PlatformError as error:
            log.warning("nothing could be said instead of an answer: %s", error)
            return passed

    async def _refused(self, message: Message) -> Refusal | None:
        """Return why a question is not answered: the line is too long, or too much is asked."""
        limits = self._desk.limits
        return self._answering.line.refusal() or await limits.wait(message.author.id, message.ref.channel_key)

    async def _too_late(self, chat: Chat, found: Found) -> None:
        """Tell a person that what is now known to be a follow-up is too old to be answered."""
        key = found.message.key
        async with self._desk.lock(key):
            claim = await self._desk.conversations.claimed(key)
            if claim is not None and not claim.is_settled:
                await self._taking_up.give_up(chat, claim)

    async def _settle(
        self, chat: Chat, key: str, before: tuple[MessageRef, ...], told: tuple[MessageRef, ...]
    ) -> None:
        """Settle a claim: `told` was posted instead of an answer, `before` while it waited."""
        if told:
            await self._desk.conversations.posted(key, told)
        await self._desk.conversations.answered(key, "")
        if before:
            await chat.delete(before)

    async def edited(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        """Answer a question that was edited within a minute again, replacing the first answer.

        An answer of a person that is remembered follows its edits, as does what people were asked. `taken`
        is called as soon as the edit need not be told again.
        """
        key = message.ref.key
        async with self._desk.lock(f"mark {key}"):
            await self._desk.engine.accepted.reworded(key, message.text)
            await self._resolving.reworded(chat, message)
        async with self._desk.lock(key):
            claim = await self._desk.conversations.claimed(key)
            if claim is not None:
                late = time.time() - claim.at > EDIT_SECONDS
                same = not claim.payload or claim.payload.get("text") == message.text
                parts = await self._resolving.passed_again(chat, message, claim)
                if parts is not None:
                    if claim.payload:  # of who opted out nothing is kept
                        await self._desk.conversations.reworded(key, packed(message))
                    await self._desk.conversations.posted(key, parts)
                    return
                if late or same or says_nothing_new(message):
                    return
                channel = message.ref.channel_key
                if self._answering.stopping or await self._desk.pausing.of(channel):
                    return
                if refused := await self._desk.limits.wait(message.author.id, channel):
                    await self._slowing.tell(chat, message, refused)
                    return
                await self._desk.conversations.take_over(key)
                await self._answering.cancel(key)
                claim = await self._desk.conversations.claimed(key) or claim
                language = await self._desk.locales.of(message)
                message = replace(message, unasked=claim.payload.get("unasked", ""), language=language)
                if not claim.decided:
                    await self._desk.conversations.reworded(key, packed(message))
                    return
                await self._desk.withdraw(claim, replaced=True)
                await self._desk.conversations.reopen(key, packed(message), claim.at)
                taken()
                with speaking(language):
                    task = self._answering.begin(chat, message, claim.parts)
        if claim is not None:
            await self._answering.follow(key, task)
        elif message.mentions_bot:
            await self.message(chat, message, taken)

    async def deleted(self, chat: Chat, ref: MessageRef, links: str = "") -> None:
        """Delete the answers to a deleted question; forget a person's deleted answer.

        The deletion is noted first: a platform may tell of the message only then, or once more. Of a thread
        or channel (a `ref` without a message) all questions that wait, all that people were asked and all
        answers of people go; `links` begins the links to these.
        """
        if not ref.message:
            for one in await said_in(self._desk, self._resolving, chat, ref, links):
                try:
                    await self.deleted(chat, one)
                except PlatformError as error:
                    log.warning("what was said of a message that is gone could not be deleted: %s", error)
            return
        try:
            await self._desk.conversations.claim(NOTHING, deletion(ref.key))
        except StorageUnavailable as error:
            log.warning("a deletion cannot be noted: %s", error)
        async with self._desk.lock(f"mark {ref.key}"):
            await self._desk.engine.accepted.gone(ref.key)
            await self._resolving.deleted(chat, ref)
        first = await self._take_back(chat, ref.key)
        if first is None:
            return
        again = asked_again(ref.key, (release.name for release in self._desk.engine.product.releases))
        for answer in [first, *[await self._take_back(chat, key) for key in again]]:
            if answer:
                await self._take_back(chat, f"{ref.key}@{answer}")  # what was shared of it

    async def _take_back(self, chat: Chat, key: str) -> str | None:
        """Delete the reply of a claim; return its answer's id, None if there is no such claim."""
        async with self._desk.lock(key):
            if await self._desk.conversations.claimed(key) is None:
                return None
            await self._desk.conversations.take_over(key)
            await self._answering.cancel(key)
            claim = await self._desk.conversations.claimed(key)
            await self._desk.conversations.answered(key, "")
            if claim is not None:
                await self._resolving.taken_back(claim)
                await self._desk.withdraw(claim)
                await self._desk.conversations.emptied(key)
            if claim is not None and claim.parts:
                await self._desk.conversations.posted(key, await removed(chat, claim))
            return claim.answer_id if claim else None

    async def resume(self, chat: Chat) -> None:
        """Answer what a process that died had claimed on this platform and not answered."""
        await self._taking_up.resume(chat, self._go_on)
