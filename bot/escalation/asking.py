"""Put a question to a person: who may, who is asked, and what they read.

What was not said in public reaches only those whom its asker allows to see it. From a private
channel or direct messages the question goes to people's direct messages, and only if the asker says so in
a form; a channel hears no more than that somebody needs help. `bot.escalation.resolving` says how it ends.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from bot.escalation import texts as text
from bot.ports.chat import Chat, Control, Message, Person, Press, Reply, Responder, unpacked
from core.catalogue.sources import Targets
from core.domain import MessageRef, Scope
from core.engine import Engine
from core.errors import PlatformError
from core.languages import _
from core.ports import Claim, ConversationStore
from core.ports.escalations import EscalationStore, Post, Ticket

log = logging.getLogger(__name__)

OPEN_AT_ONCE = 3
"""Questions that one asker may have open with people at once."""
A_DAY = 6
"""Questions that one asker may put to people within a day."""
AN_HOUR = 30
"""Questions that a whole platform may put to people within an hour."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A message to a person or a channel, the accounts it asks, and where it stands."""

    target: str
    said: str
    people: tuple[str, ...] = ()
    post: Post = ()


class Escalation:
    """Takes presses of "Ask a person"; `asked_in` returns who is asked in a channel (`slack:C1`)."""

    def __init__(
        self,
        engine: Engine,
        conversations: ConversationStore,
        tickets: EscalationStore,
        asked_in: Callable[[str], Targets],
        is_admin: Callable[[Person], bool],
        is_asker: Callable[[Claim, str], bool],
        an_hour: int = AN_HOUR,
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self.tickets = tickets
        self.asked_in = asked_in
        self._is_admin = is_admin
        self._is_asker = is_asker
        self._an_hour = an_hour
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, message: str) -> asyncio.Lock:
        """Return the lock under which the ticket of a message changes."""
        return self._locks.setdefault(message, asyncio.Lock())

    def offered(self, where: MessageRef, scope: Scope) -> bool:
        """Return True if a person can be asked there: in direct messages no channel can."""
        targets = self.asked_in(where.channel_key)
        return bool(targets.people) if scope.kind == "direct" else bool(targets)

    def helps(self, person: Person) -> bool:
        """Return True if somebody is a helper or an admin."""
        return person.helper or self._is_admin(person) or self._engine.helps(person.id)

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Put an answer's question to a person, once, and tell the asker. Raises PlatformError."""
        answer_id, person = press.value, press.person
        claim = await self._conversations.claim_of(answer_id)
        if claim is None or not claim.payload:  # its words were old, or are not kept
            await responder.reply(Reply(_(text.NOBODY)))
            return
        own = self._is_asker(claim, person.id)
        if not (own or self.helps(person)):
            await responder.reply(Reply(_(text.NOT_YOURS)))
            return
        ticket = await self.tickets.of(claim.message)
        if ticket is not None and ticket.posts:
            await responder.reply(Reply(self._known(ticket)))
            return
        targets = self._targets(press.ref, press.scope, claim.asker)
        if not targets:
            there = self.offered(press.ref, press.scope)
            await responder.reply(Reply(_(text.YOURSELF if there else text.NOBODY)))
            return
        shown = press.fields.get("show", "")
        if press.scope.kind != "public" and not own:
            await responder.reply(Reply(_(text.NOT_THEIRS)))
        elif press.scope.kind != "public" and not shown:
            question = await self._engine.answer_log.question(answer_id)
            wanted = [_Sent(one, "", (one,)) for one in targets.people]
            wanted += [_Sent(one, "") for one in targets.channels]
            form = text.form(answer_id, question, await self._names(chat, wanted))
            try:
                await responder.ask(form)
            except PlatformError as error:
                log.info("the form on what people may see did not open: %s", error)
                again = Control("person", _(text.ASK), answer_id)
                await responder.reply(Reply(form.fields[0].label, controls=(again,)))
        elif refusal := await self._too_many(person, chat.name):
            await responder.reply(Reply(refusal))
        else:
            async with self.lock(claim.message):
                said = await self._put(chat, press, claim, targets, shown == text.SHOW_QUESTION)
            await responder.reply(Reply(said))

    def _targets(self, where: MessageRef, scope: Scope, asker: str) -> Targets:
        """Return who can be asked there, without the asker."""
        targets = self.asked_in(where.channel_key)
        people = tuple(one for one in targets.people if not self._engine.is_same(one, asker))
        channels = () if scope.kind == "direct" else targets.channels
        return replace(targets, people=people, channels=channels)

    def _known(self, ticket: Ticket) -> str:
        if ticket.is_open:
            return _(text.ALREADY).format(names=ticket.names)
        return _(text.RESOLVED).format(name=text.named(ticket.resolver_name))

    async def _too_many(self, person: Person, platform: str) -> str:
        """Return why somebody cannot ask more people now; empty if they can."""
        now = time.time()
        recent = [t for t in await self.tickets.since(now - 86_400) if t.by.startswith(f"{platform}:")]
        if sum(ticket.at >= now - 3_600 for ticket in recent) >= self._an_hour:
            return _(text.TOO_BUSY)
        if self.helps(person):
            return ""
        waiting = sum(self._engine.is_same(t.by, person.id) for t in await self.tickets.waiting())
        if waiting >= OPEN_AT_ONCE:
            return _(text.TOO_MANY_OPEN).format(count=waiting)
        mine = sum(self._engine.is_same(ticket.by, person.id) for ticket in recent)
        return _(text.TOO_MANY) if mine >= A_DAY else ""

    async def _put(self, chat: Chat, press: Press, claim: Claim, targets: Targets, shown: bool) -> str:
        """Tell those who are asked, and the thread; return what to tell the person who pressed."""
        asked = unpacked(claim.payload)
        # the question of a shared answer stands nowhere, so it goes on under that answer
        where = asked.ref if asked.ref.message or not claim.parts else claim.parts[0]
        case = await self._case(chat, press, asked, where)
        ticket = Ticket(
            message=claim.message,
            answer_id=press.value,
            conversation=where.conversation,
            channel=where.channel_key,
            scope=press.scope.key,
            asker=claim.asker,
            by=press.person.id,
            question=case.question,
            release=case.release,
            at=time.time(),
        )
        if not await self.tickets.add(ticket):
            known = await self.tickets.of(claim.message)
            if known is not None and known.posts:
                return self._known(known)
        reached = await self._send(chat, press, targets, case, shown)
        if not reached:
            await self.tickets.remove(claim.message)
            return _(text.UNREACHABLE)
        names = await self._names(chat, reached)
        direct = press.scope.kind == "direct"
        ticket = replace(
            ticket,
            people=tuple(dict.fromkeys(one for sent in reached for one in sent.people)),
            names=names,
            told=tuple(sent.said for sent in reached),
            posts=tuple(sent.post for sent in reached),
        )
        await self.tickets.save(ticket)
        said = _(text.NOTICE_DIRECT if direct else text.NOTICE).format(names=names)
        await self.tickets.save(replace(ticket, notice=await self._notice(chat, where, said, press.value)))
        log.info("a person was asked", extra={"answer": press.value, "kind": press.scope.kind})
        return _(text.ASKED_DIRECTLY if direct else text.ASKED).format(names=names)

    async def _case(self, chat: Chat, press: Press, asked: Message, where: MessageRef) -> text.Case:
        answer, question = await self._engine.answer_log.answer(press.value)
        own = self._engine.is_same(asked.author.id, press.person.id)
        by = asked.author if own else press.person
        return text.Case(
            product=self._engine.product.name,
            release=answer.release,
            asker=asked.author.name or text.NO_NAME,
            by=by.name or text.NO_NAME,
            question=await self._engine.answer_log.question(press.value) or question,
            link=await chat.permalink(where) if where.message else "",
            answer=answer,
        )

    async def _send(
        self, chat: Chat, press: Press, targets: Targets, case: text.Case, shown: bool
    ) -> list[_Sent]:
        """Tell everybody who is asked; return what was said to whom, as far as it could be."""
        scope, calls = press.scope, tuple(one.partition(":")[2] for one in targets.calls)
        alone = text.told(case, scope, shown)
        wanted = [_Sent(account, alone, (account,)) for account in targets.people]
        for channel in targets.channels:
            # what was asked in a private channel is said in that channel again, and in no other
            may_read = scope.kind == "public" or scope.channel == channel
            wanted.append(_Sent(channel, alone if may_read else text.call_for_help(case), targets.calls))
        reached: list[_Sent] = []
        for sent in wanted:
            called = calls if sent.target in targets.channels else ()
            reply = Reply(sent.said, calls=called, concerns=press.value)
            try:
                post = await chat.send(sent.target.partition(":")[2], reply)
            except PlatformError as error:
                log.warning("%s, named in [ask] of corpora.toml, cannot be asked: %s", sent.target, error)
            else:
                reached.append(replace(sent, post=post))
        return reached

    async def _notice(self, chat: Chat, where: MessageRef, said: str, answer_id: str) -> Post:
        try:
            return await chat.post(where, Reply(said, concerns=answer_id))
        except PlatformError as error:
            log.info("the thread could not be told that a person is asked: %s", error)
            return ()

    async def _names(self, chat: Chat, asked: Sequence[_Sent]) -> str:
        """Name people; a channel is not named, as not everybody may know of it."""
        people = [sent.target for sent in asked if sent.people == (sent.target,)]
        names = [text.named(await chat.name_of(one.partition(":")[2])) for one in people]
        names += [_(text.THOSE_WHO_HELP)] if len(people) < len(asked) else []
        return _(" and ").join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
