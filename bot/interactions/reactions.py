"""Reactions: an emoji is turned into a vote or a mark, and counted once.

Marks are ✅ and ❌ on messages: what helpers accept is remembered, what its author objects to forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from bot.conversation.desk import Desk
from bot.escalation.resolving import Resolving
from bot.escalation.texts import REMEMBERED_LATER
from bot.home.logs import about
from bot.ports.chat import ACCEPT, Chat, Cleared, Message, Person, Reaction, Reply, vote_of
from bot.rendering.answers import ASK_WHAT_WAS_WRONG, mark_of, wrong_button
from core.domain import MessageRef, Question, Turn, Vote
from core.engine import Engine
from core.errors import StorageUnavailable
from core.feedback.accepted_answers import Written
from core.languages import N_, _, speaking
from core.ports import Claim
from core.ports.escalations import Ticket

History = Callable[[Chat, MessageRef], Awaitable[Sequence[Turn]]]
log = logging.getLogger(__name__)

NOT_KEPT = N_("I cannot save anything right now, so your reaction does not count. Please try again later.")
KEPT_LATER = N_("I cannot save anything right now. Your reaction will count as soon as I can.")
COUNTING_SECONDS = 8.0
"""Time that reactions under way get to be counted when the bot stops: memory may be at work just then."""


class Marks:
    """Takes marks on messages; `history` reads what was said before a message."""

    def __init__(self, engine: Engine, history: History, resolving: Resolving) -> None:
        self._engine = engine
        self._history = history
        self._resolving = resolving

    async def take(self, chat: Chat, reaction: Reaction, answer_id: str) -> None:
        """Apply a mark; `answer_id` is set if the message is one of the bot's answers."""
        kind = mark_of(reaction.emoji)
        if kind == "accept" and await self._resolving.on_post(chat, reaction):
            return
        if answer_id:
            if kind == "accept":
                await self._vouch(reaction, answer_id)
        elif kind == "accept" and reaction.added:
            await self._accept(chat, reaction)
        elif kind == "accept":
            await self._engine.accepted.withdraw(reaction.ref.key, reaction.person.id)
            is_remembered = await self._engine.accepted.is_remembered(reaction.ref.key)
            await self._resolving.taken_off(chat, reaction.ref, reaction.person, is_remembered)
        elif kind == "object" and reaction.added:
            await self._object(chat, reaction)

    def _helps(self, reaction: Reaction) -> bool:
        return reaction.person.helper or self._engine.helps(reaction.person.id)

    async def _vouch(self, reaction: Reaction, answer_id: str) -> None:
        """Count a helper's ✅ on an answer of the bot as their 👍."""
        if self._helps(reaction):
            voter = reaction.person.id
            given = Vote(answer_id, voter, 1, by_reaction=True, said_at=reaction.at, until=reaction.until)
            vote = given if reaction.added else replace(given, value=None, withdraws=1, by_reaction=False)
            await self._engine.feedback(vote, helper=True)

    async def _accept(self, chat: Chat, reaction: Reaction) -> None:
        """Remember a person's message as the answer to its thread's question, and tell those concerned.

        In the thread of a question that was put to a person it also resolves that question.
        """
        person = reaction.person
        helps = self._helps(reaction)
        if not helps and not await self._resolving.concerns(reaction.ref, person):
            return
        message = await chat.message(reaction.ref)
        if message is None or message.author.bot:
            return
        question = await chat.question_of(message.ref)
        ticket = await self._resolving.about(message, question)
        if ticket is not None:
            await self._resolve(chat, reaction, message, ticket)
            return
        if not helps or question is None or question.author.bot or question.ref.key == message.ref.key:
            return
        if not question.text.strip():
            return
        asked = Question(
            text=question.text,
            asker=question.author.id,
            channel=message.ref.channel_key,
            scope=message.scope,
            history=tuple(await self._history(chat, question.ref)),
        )
        await self._remember(chat, message, reaction, asked)

    async def _resolve(self, chat: Chat, reaction: Reaction, message: Message, ticket: Ticket) -> None:
        """Resolve a ticket by a message of its thread, and remember that message if allowed."""
        person, resolving = reaction.person, self._resolving
        others = not ticket.is_open and ticket.answer != message.ref.key
        if not resolving.may_resolve(ticket, person) or (others and not resolving.is_trusted(ticket, person)):
            return
        own_question = message.ref.key == ticket.message.partition("@")[0]
        if own_question or not message.scope.remembered:
            await resolving.resolve(chat, ticket, person, None)
            return
        if resolving.may_teach(ticket, person, message.author):
            asked = Question(
                text=ticket.question,
                asker=ticket.asker,
                channel=message.ref.channel_key,
                scope=message.scope,
                release="" if "+" in ticket.release else ticket.release,
                authors=tuple(sorted(await self._engine.answer_log.authors(ticket.answer_id))),
            )
            await self._remember(chat, message, reaction, asked)
        elif ticket.is_open:
            await chat.whisper(message.ref, person, Reply(_(REMEMBERED_LATER)))
        await resolving.resolve(chat, ticket, person, message.ref)

    async def _remember(self, chat: Chat, message: Message, reaction: Reaction, asked: Question) -> None:
        written = Written(
            message.ref.key,
            message.author.id,
            message.author.name,
            message.text,
            await chat.permalink(message.ref),
        )
        outcome = await self._engine.accepted.accept(written, asked, reaction.person.id)
        if outcome.pair is None:
            said = " ".join([_("I do not remember this answer."), outcome.problem])
            await chat.whisper(message.ref, reaction.person, Reply(said))
            return
        release = outcome.pair.release
        said = _("I remember this answer to “{question}” for {release}. Take the ✅ off and I forget it.")
        await chat.whisper(
            message.ref,
            reaction.person,
            Reply(said.format(question=outcome.pair.question, release=release)),
        )
        await self._tell_author(chat, message, reaction)

    async def _tell_author(self, chat: Chat, message: Message, reaction: Reaction) -> None:
        if message.author.id != reaction.person.id:
            said = _(
                "{name} marked your answer with ✅, so I remember it and name you. Put ❌ on it if you do "
                "not want that; then I never will."
            )
            await chat.whisper(message.ref, message.author, Reply(said.format(name=reaction.person.name)))

    async def _object(self, chat: Chat, reaction: Reaction) -> None:
        """Forget a message that its own author marked with ❌."""
        person = reaction.person
        if reaction.author not in ("", person.id):
            return
        message = await chat.message(reaction.ref)
        if message is None or message.author.id != person.id:
            return
        if await self._engine.accepted.object(reaction.ref.key, person.id):
            said = _("I have forgotten this answer of yours and will not remember it again.")
            await chat.whisper(message.ref, person, Reply(said))


class ReactionHandler:
    """Handles reactions on messages."""

    def __init__(self, desk: Desk, marks: Marks) -> None:
        self._desk = desk
        self._marks = marks
        self._counting: set[asyncio.Task[None]] = set()
        self._events: dict[str, asyncio.Task[None]] = {}
        """What is counted at present, by its event: a platform that waits for long tells it again."""

    async def take(self, chat: Chat, reaction: Reaction) -> None:
        """Count a reaction as a vote, or apply it as a mark."""
        value, mark = vote_of(reaction.emoji), mark_of(reaction.emoji)
        if reaction.person.bot:
            return
        answer_id = await self._desk.conversations.answer_of(reaction.ref.key)
        if value is None and not mark:
            if answer_id and reaction.added:
                await self._desk.unsolicited.noticed(answer_id)
            return
        with speaking(await self._desk.locales.of_reaction(reaction, answer_id)):
            await self._to_its_end(
                self._kept(
                    chat, reaction, lambda: self._reacted(chat, reaction, answer_id, value, bool(mark))
                ),
                reaction.event,
            )

    async def _to_its_end(self, counting: Coroutine[Any, Any, None], event: str = "") -> None:
        """Finish counting even if the platform stops meanwhile; an event that is being counted only once."""
        work = self._events.get(event)
        if work is not None:
            counting.close()
        else:
            work = asyncio.create_task(counting)
            self._counting.add(work)
            work.add_done_callback(self._counting.discard)
            if event:
                self._events[event] = work
                work.add_done_callback(lambda _: self._events.pop(event, None))
        await asyncio.shield(work)

    async def recounted(self, chat: Chat, reaction: Reaction, answer_id: str) -> None:
        """Count an emoji that was put on an answer while nobody listened; raises StorageUnavailable.

        It goes the way of any other, but nobody is asked anything about it, so long after.
        """
        is_mark = bool(mark_of(reaction.emoji))
        await self._to_its_end(
            self._reacted(chat, reaction, answer_id, vote_of(reaction.emoji), is_mark, asks=False)
        )

    async def cleared(self, chat: Chat, cleared: Cleared) -> None:
        """Withdraw votes and marks whose reactions a moderator cleared."""
        answer_id = await self._desk.conversations.answer_of(cleared.ref.key)
        gone = self._votes_gone(chat, cleared, answer_id) if answer_id else self._unmarked(chat, cleared)
        await self._to_its_end(gone)

    async def _votes_gone(self, chat: Chat, cleared: Cleared, answer_id: str) -> None:
        """Withdraw the votes of everybody who has no emoji of that vote left on the answer."""
        about(cleared.ref.key, platform=chat.name)
        hands: tuple[Literal[0, 1], ...] = (1, 0)
        for value in hands:
            if not cleared.emoji or worth(cleared.emoji) == value:
                holders = {a for emoji, all_ in cleared.left.items() for a in all_ if worth(emoji) == value}
                await self._desk.engine.votes_cleared(answer_id, value, holders)
        await self._desk.unsolicited.noticed(answer_id)

    async def _unmarked(self, chat: Chat, cleared: Cleared) -> None:
        """Withdraw the ✅ of everybody whose ✅ is no longer on the message."""
        if cleared.emoji and mark_of(cleared.emoji) != "accept":
            return
        left = {a for emoji, all_ in cleared.left.items() if mark_of(emoji) == "accept" for a in all_}
        async with self._desk.lock(f"mark {cleared.ref.key}"):
            for account in sorted(await self._desk.engine.accepted.accepting(cleared.ref.key) - left):
                await self._marks.take(chat, Reaction(cleared.ref, Person(account), ACCEPT, False), "")

    async def _kept(
        self, chat: Chat, reaction: Reaction, counting: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Count a reaction; while nothing can be saved, remove the emoji or wait.

        The person is told once. Raises StorageUnavailable if too much is waiting already.
        """
        key = f"{reaction.ref.key} {reaction.person.id} {reaction.emoji} {reaction.added}"
        while True:
            try:
                await counting()
                self._desk.outage.end(key)
                return
            except StorageUnavailable as error:
                if not self._desk.cluster.is_sure:
                    raise  # it is not acknowledged, and comes to another process
                if key not in self._desk.outage:
                    log.error("a reaction cannot be kept: %s", error)
                    back = reaction.added and await chat.take_back(reaction)
                    await chat.whisper(
                        reaction.ref, reaction.person, Reply(_(NOT_KEPT if back else KEPT_LATER))
                    )
                    if back:
                        return
                    if not self._desk.outage.begin(key):
                        raise
                await self._desk.outage.over()

    async def _reacted(
        self,
        chat: Chat,
        reaction: Reaction,
        answer_id: str,
        value: Literal[0, 1] | None,
        mark: bool,
        asks: bool = True,
    ) -> None:
        if self._desk.opted_out.is_out(reaction.person.id):
            if answer_id:
                await self._desk.opted_out.reacted(chat, reaction)
            return
        if mark:
            async with self._desk.lock(f"mark {reaction.ref.key}"):
                if not await self._desk.conversations.taken(reaction.event):
                    await self._marks.take(chat, reaction, answer_id)
                    await self._is_new(reaction.event)
        if value is None or not answer_id or await self._desk.conversations.taken(reaction.event):
            return
        about(reaction.event or reaction.ref.key, platform=chat.name)
        voter, added = reaction.person.id, reaction.added
        given = Vote(answer_id, voter, value, by_reaction=True, said_at=reaction.at, until=reaction.until)
        vote = given if added else Vote(answer_id, voter, None, withdraws=value, said_at=reaction.at)
        # while it waits for its turn another process of a cluster may count it
        known = partial(self._desk.conversations.taken, reaction.event)
        shared = self._desk.cluster.is_shared and reaction.event
        await self._desk.engine.feedback(vote, reaction.person.helper, known if shared else None)
        await self._desk.unsolicited.noticed(answer_id)
        # not before: a vote that a dying process had only claimed would be lost, twice counted it is the same
        is_new = await self._is_new(reaction.event)
        if asks and is_new and added and not value:
            await self._ask_what_was_wrong(chat, reaction, answer_id)

    async def _is_new(self, event: str) -> bool:
        """Claim an event by its id alone; return False if it was claimed before."""
        return not event or await self._desk.conversations.claim(Claim("", "", "", 0.0), event)

    async def _ask_what_was_wrong(self, chat: Chat, reaction: Reaction, answer_id: str) -> None:
        """Offer the form to the person who put 👎, where the platform can tell them alone."""
        claim = await self._desk.conversations.claim_of(answer_id)
        parts = claim.parts if claim else ()
        where = next((part for part in parts if part.key == reaction.ref.key), reaction.ref)
        asked = Reply(_(ASK_WHAT_WAS_WRONG), controls=(wrong_button(answer_id),))
        await chat.whisper(where, reaction.person, asked)

    async def stop(self) -> None:
        """Wait until pending reactions are counted."""
        if self._counting:
            await asyncio.wait(self._counting, timeout=COUNTING_SECONDS)


def worth(emoji: str) -> Literal[0, 1] | None:
    """Return the vote that an emoji on an answer may stand for; a helper's ✅ is their 👍."""
    return 1 if mark_of(emoji) == "accept" else vote_of(emoji)
