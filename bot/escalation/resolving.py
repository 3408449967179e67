"""End a ticket: resolved by ✅, reopened, or deleted with its question."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from bot.escalation import texts as text
from bot.escalation.asking import Escalation
from bot.ports.chat import Chat, Message, Person, Reaction, Reply
from core.domain import MessageRef
from core.engine import Engine
from core.errors import PlatformError
from core.languages import _, speaking
from core.ports.about import FORGOTTEN
from core.ports.conversations import Claim
from core.ports.escalations import Post, Ticket
from core.ports.opinions import Correction
from core.text.words import looks_like_question

log = logging.getLogger(__name__)


class Resolving:
    """Keeps tickets and their messages in step with what happens in the thread."""

    def __init__(self, engine: Engine, escalation: Escalation) -> None:
        self._engine = engine
        self._tickets = escalation.tickets
        self._escalation = escalation

    # --- who may ------------------------------------------------------------------------------

    async def concerns(self, ref: MessageRef, person: Person) -> bool:
        """Tell, without asking the platform, whether a person's ✅ on a message might resolve a ticket."""
        known = await self._tickets.answered_by(ref.key)
        waiting = [*await self._tickets.waiting(ref.channel_key), *((known,) if known else ())]
        return any(self.may_resolve(ticket, person) for ticket in waiting)

    async def about(self, message: Message, question: Message | None) -> Ticket | None:
        """Return the ticket that a message may answer: of its thread, or of the message it replies to.

        An open one goes first, of several the latest.
        """
        places = [message.ref.conversation, *((question.ref.conversation,) if question else ())]
        waiting = await self._tickets.waiting(message.ref.channel_key)
        for place in places:
            if there := [ticket for ticket in waiting if ticket.conversation == place]:
                return there[-1]
        for place in places:
            if latest := await self._tickets.latest_in(place):
                return latest
        return None

    def may_resolve(self, ticket: Ticket, person: Person) -> bool:
        """Return True if somebody's ✅ resolves a ticket."""
        return self.is_trusted(ticket, person) or self._engine.is_same(ticket.asker, person.id)

    def is_trusted(self, ticket: Ticket, person: Person) -> bool:
        """Return True if somebody counts as a helper for a ticket: helpers, admins, and who was asked."""
        asked = any(self._engine.is_same(account, person.id) for account in ticket.people)
        return asked or self._escalation.helps(person)

    def may_teach(self, ticket: Ticket, person: Person, author: Person) -> bool:
        """Return True if an answer is remembered for somebody's ✅.

        For the asker's own only if somebody trusted wrote it: else two who agree could teach anything.
        """
        if self.is_trusted(ticket, person):
            return True
        return self.is_trusted(ticket, author) and not self._engine.is_same(author.id, person.id)

    # --- an answer in the direct messages of who was asked ------------------------------------

    async def passed_on(self, chat: Chat, message: Message) -> tuple[Reply | None, tuple[MessageRef, ...]]:
        """Post in the asker's thread what somebody who was asked writes under a ticket.

        Returns what to reply, and what was posted. It is remembered as a helper's better answer is, with what
        they wrote there before; what asks back is not. What stands elsewhere may be meant for the bot alone:
        nothing of it is posted, and where it may be an answer, the reply says where answers are written.
        """
        here = await self._asked_directly(message)
        try:
            ticket = await self._answered(chat, message, here) if here else None
        except PlatformError as error:
            log.warning("what a direct message stands under cannot be read: %s", error)
            return None, ()
        if ticket is None:
            may_answer = bool(here) and not message.ref.thread and not looks_like_question(message.text)
            return (Reply(_(text.UNDER_MINE)) if may_answer else None), ()
        if not ticket.notice:
            return None, ()
        try:
            parts = await chat.post(ticket.notice[0], await self._passed(ticket, message))
        except PlatformError as error:
            log.warning("an answer could not be passed on: %s", error)
            return Reply(_(error.told)), ()
        async with self._escalation.lock(ticket.message):
            if now := await self._tickets.of(ticket.message):
                await self._tickets.save(replace(now, posts=(*now.posts, parts)))
        link = await _link(chat, parts[0])
        if not looks_like_question(message.text):
            await self._reword(ticket, message.author, "", message.text, link)
        return Reply(_(text.PASSED_ON_AT).format(link=link) if link else _(text.PASSED_ON)), tuple(parts)

    async def passed_again(self, chat: Chat, message: Message, claim: Claim) -> tuple[MessageRef, ...] | None:
        """Let what was passed on of a direct message follow its edit; return its posts, None for none."""
        ticket, parts = await self._passed_of(claim)
        if not parts or message.scope.kind != "direct":
            return None
        before = str(claim.payload.get("text") or "")
        if ticket is None or before == message.text:
            return claim.parts
        if before:
            await self._reword(ticket, message.author, before, message.text, await _link(chat, parts[0]))
        try:
            now = await chat.edit(parts, await self._passed(ticket, message))
        except PlatformError as error:
            log.warning("what was passed on could not follow an edit: %s", error)
            return claim.parts
        async with self._escalation.lock(ticket.message):
            if kept := await self._tickets.of(ticket.message):
                posts = tuple(now if post == parts else post for post in kept.posts)
                await self._tickets.save(replace(kept, posts=posts))
        return (*now, *(part for part in claim.parts if part not in parts))

    async def taken_back(self, claim: Claim) -> bool:
        """Remember no more what was passed on of a direct message; return True if anything was."""
        (ticket, _parts), before = await self._passed_of(claim), str(claim.payload.get("text") or "")
        if ticket is None or not before:
            return False
        kept = await self._engine.accepted.corrections(ticket.answer_id)
        own = [better for better in kept if self._engine.is_same(better.person, claim.asker)]
        for better in own:
            await self._reword(ticket, Person(better.person, better.name), before, "", "")
        return bool(own)

    async def _passed(self, ticket: Ticket, message: Message) -> Reply:
        """Return what the asker reads of a direct message that answers them."""
        by = await self._said(ticket, text.ANSWERS, name=text.named(message.author.name))
        return Reply(f"**{by}**\n{text.quoted(message.text)}", concerns=ticket.answer_id)

    async def _said(self, ticket: Ticket, sentence: str, **names: str) -> str:
        """Return what is said in the asker's thread, in the language of their answer."""
        with speaking(await self._engine.answer_log.language_of(ticket.answer_id)):
            return _(sentence).format(**names)

    async def _passed_of(self, claim: Claim) -> tuple[Ticket | None, tuple[MessageRef, ...]]:
        """Return the ticket under which a direct message was passed on, and where that stands."""
        here = claim.message.rpartition(":")[0]
        parts = tuple(part for part in claim.parts if part.channel_key != here)
        return (await self._tickets.of_post(parts[0].key) if parts else None), parts

    async def _reword(self, ticket: Ticket, person: Person, before: str, after: str, link: str) -> None:
        """Put what somebody says now in place of what they said `before`, or behind all they said."""
        async with self._escalation.lock(ticket.message):
            now = await self._tickets.of(ticket.message) or ticket
            if now.scope != "public" or now.question == FORGOTTEN:
                return
            known = await self._engine.accepted.corrections(ticket.answer_id)
            kept = next((one.better for one in known if one.person == person.id), "")
            said = text.reworded(kept, before, after)
            if said != kept:
                better = Correction(ticket.answer_id, person.id, person.name, "other", said, time.time())
                await self._engine.accepted.correct(better, True, link, asked=now.question)

    async def _asked_directly(self, message: Message) -> list[Ticket]:
        """Return the tickets that somebody was sent where they write now: open ones, and the thread's."""
        if message.scope.kind != "direct" or not message.text:
            return []
        thread = replace(message.ref, message=message.ref.thread).key if message.ref.thread else ""
        above = await self._tickets.of_post(thread) if thread else None
        return [
            ticket
            for ticket in (*await self._tickets.waiting(), *((above,) if above else ()))
            if self.is_trusted(ticket, message.author)
            and not self._engine.is_same(ticket.asker, message.author.id)
            and any(part.channel_key == message.ref.channel_key for post in ticket.posts for part in post)
        ]

    async def _answered(self, chat: Chat, message: Message, here: Sequence[Ticket]) -> Ticket | None:
        """Return the ticket in whose thread a message stands, or to which it replies."""
        above = await chat.question_of(message.ref)
        places = {above.ref.key} if above else set()
        places |= {replace(message.ref, message=message.ref.thread).key} if message.ref.thread else set()
        return next(
            (one for one in here if any(part.key in places for post in one.posts for part in post)), None
        )

    # --- resolved, and opened again -----------------------------------------------------------

    async def resolve(self, chat: Chat, ticket: Ticket, person: Person, answer: MessageRef | None) -> bool:
        """Note who resolved a ticket, by which message; return False if it was noted before."""
        async with self._escalation.lock(ticket.message):
            now = await self._tickets.of(ticket.message)
            if now is None or not now.is_open:
                return False
            key = answer.key if answer else ""
            done = replace(
                now, resolved_at=time.time(), resolver=person.id, resolver_name=person.name, answer=key
            )
            await self._tickets.save(done)
        link = await chat.permalink(answer) if answer else ""
        told = [text.with_resolution(said, person.name, link) for said in done.told]
        notice = await self._said(done, text.NOTICE_RESOLVED, name=text.named(person.name))
        await self._show(chat, done, told, notice)
        return True

    async def reopen(self, chat: Chat, ticket: Ticket) -> None:
        """Note that nobody has resolved a ticket after all."""
        async with self._escalation.lock(ticket.message):
            now = await self._tickets.of(ticket.message)
            if now is None or now.is_open:
                return
            again = replace(now, resolved_at=0.0, resolver="", resolver_name="", answer="")
            await self._tickets.save(again)
        notice = text.NOTICE_DIRECT if again.scope.startswith("direct") else text.NOTICE
        await self._show(chat, again, again.told, await self._said(again, notice, names=again.names))

    async def on_post(self, chat: Chat, reaction: Reaction) -> bool:
        """Apply or remove a ✅ on a ticket's message. Returns True if it was one."""
        ticket = await self._tickets.of_post(reaction.ref.key)
        if ticket is None:
            return False
        if reaction.added and self.may_resolve(ticket, reaction.person):
            await self.resolve(chat, ticket, reaction.person, None)
        elif not reaction.added and ticket.resolver == reaction.person.id and not ticket.answer:
            await self.reopen(chat, ticket)
        return True

    async def taken_off(self, chat: Chat, ref: MessageRef, person: Person, is_remembered: bool) -> None:
        """Reopen a ticket whose last resolving ✅ was removed."""
        ticket = await self._tickets.answered_by(ref.key)
        if ticket is None:
            asked = await self._tickets.of(ref.key)
            ticket = asked if asked and not asked.answer else None
        if ticket is None or is_remembered:
            return
        another = self._engine.is_same(ticket.resolver, ticket.asker) or not ticket.answer
        if ticket.resolver == person.id or (not another and self.may_resolve(ticket, person)):
            await self.reopen(chat, ticket)

    # --- what becomes of messages -------------------------------------------------------------

    async def asked(self) -> dict[str, str]:
        """Return the messages whose questions were put to people, each with its conversation."""
        return {ticket.message: ticket.conversation for ticket in await self._tickets.since(0.0)}

    async def deleted(self, chat: Chat, ref: MessageRef) -> None:
        """Reopen the ticket whose answer was deleted; withdraw the one whose question was."""
        if ticket := await self._tickets.answered_by(ref.key):
            await self.reopen(chat, ticket)
        await self._withdraw(chat, await self._tickets.about(ref.key), text.TAKEN_BACK)

    async def archived(self, chat: Chat, channel: str) -> None:
        """Withdraw what waits for an answer in a channel (`slack:C1`) where nobody can write any more."""
        await self._withdraw(chat, await self._tickets.waiting(channel), text.ARCHIVED)

    async def _withdraw(self, chat: Chat, tickets: Sequence[Ticket], said: str) -> None:
        for one in tickets:
            if ticket := await self._removed(one.message):
                await self._show(chat, replace(ticket, notice=()), [said] * len(ticket.posts), "")
                await self._delete(chat, ticket.notice)

    async def reworded(self, chat: Chat, message: Message) -> None:
        """Tell those who were asked that a question was edited, so that they read what it says now."""
        for ticket in await self._tickets.about(message.ref.key) if message.text.strip() else ():
            await self._reworded(chat, ticket.message, message)

    async def _reworded(self, chat: Chat, key: str, message: Message) -> None:
        async with self._escalation.lock(key):
            ticket = await self._tickets.of(key)
            if ticket is None:
                return
            before, now = (f"> {text.short(said, text.QUESTION)}" for said in (ticket.question, message.text))
            if ticket.scope == "public" and message.scope.kind != "public":  # its channel became private
                before, now = f"{before}\n\n", ""
            told = tuple(said.replace(before, now) for said in ticket.told)
            changed = replace(ticket, question=message.text, told=told)
            await self._tickets.save(changed)
        if ticket.is_open:
            await self._show(chat, replace(changed, notice=()), told, "")

    async def forget(self, accounts: Collection[str], chat_of: Callable[[str], Chat | None]) -> None:
        """Delete or blank ticket messages with words of these accounts, before they are forgotten."""
        words = self._engine.answer_log.authors
        for ticket in await self._tickets.since(0.0):
            chat = chat_of(ticket.channel.partition(":")[0])
            if chat is not None and ticket.asker in accounts:
                last = await self._removed(ticket.message)
                for post in (*last.posts, last.notice) if last else ():
                    await self._delete(chat, post)
            elif chat is not None and not {ticket.by, *await words(ticket.answer_id)}.isdisjoint(accounts):
                told = [text.WORDS_GONE] * len(ticket.told)  # what was passed on is other people's words
                await self._show(chat, replace(ticket, notice=()), told, "")

    async def _removed(self, message: str) -> Ticket | None:
        """Remove a ticket and return its last state: what people are just being told of it is in that."""
        async with self._escalation.lock(message):
            ticket = await self._tickets.of(message)
            if ticket is not None:
                await self._tickets.remove(message)
            return ticket

    async def _delete(self, chat: Chat, post: Post) -> None:
        try:
            await chat.delete(post)
        except PlatformError as error:
            log.warning("what was said of a question to a person could not be deleted: %s", error)

    async def _show(self, chat: Chat, ticket: Ticket, told: Sequence[str], notice: str) -> None:
        """Update the messages of a ticket, as far as the platform allows."""
        for post, said in [*zip(ticket.posts, told, strict=False), (ticket.notice, notice)]:
            if post:
                try:
                    now = text.WORDS_GONE if said == FORGOTTEN else said
                    await chat.edit(post, Reply(now, concerns=ticket.answer_id))
                except PlatformError as error:
                    log.info("what was said of a question to a person could not be changed: %s", error)


async def _link(chat: Chat, ref: MessageRef) -> str:
    try:
        return await chat.permalink(ref)
    except PlatformError as error:
        log.info("what was passed on has no link: %s", error)
        return ""
