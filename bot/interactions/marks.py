"""Marks: ✅ and ❌ on messages. What helpers accept is remembered, what its author objects to forgotten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from bot.conversation.threads import TURNS
from bot.escalation.resolving import Resolving
from bot.escalation.texts import REMEMBERED_LATER
from bot.ports.chat import Chat, Message, Reaction, Reply
from bot.rendering.answers import mark_of
from core.domain import MessageRef, Question, Turn, Vote
from core.engine import Engine
from core.feedback.accepted_answers import Written
from core.languages import _
from core.ports import ConversationStore
from core.ports.about import FORGOTTEN
from core.ports.escalations import Ticket

History = Callable[[Chat, MessageRef, str], Awaitable[Sequence[Turn]]]
"""Reads what was said before a message, as the person of an account means it."""


class Marks:
    """Takes marks on messages; `history` reads what was said before a message."""

    def __init__(
        self, engine: Engine, conversations: ConversationStore, history: History, resolving: Resolving
    ) -> None:
        self._engine = engine
        self._conversations = conversations
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
        last = ""
        if ticket is None or not (ticket.is_open or ticket.answer == message.ref.key):
            last = await self._answered_last(chat, message, question)
        if ticket is not None and last in ("", ticket.answer_id):
            await self._resolve(chat, reaction, message, ticket)
            return
        if not helps or question is None or question.ref.key == message.ref.key:
            return
        asked = await self._asked(last, message)
        if asked is None and question.text.strip() and not question.author.bot:
            asked = Question(
                text=question.text,
                asker=question.author.id,
                channel=message.ref.channel_key,
                scope=message.scope,
                history=tuple(await self._history(chat, question.ref, question.author.id)),
                authors=question.authors,
            )
        if asked is not None:
            await self._remember(chat, message, reaction, asked)

    async def _answered_last(self, chat: Chat, message: Message, above: Message | None) -> str:
        """Return the answer that the bot gave last before a message, empty for none.

        In a thread people go on, ask for other releases and ask something else; elsewhere it is asked where
        a message replies to the bot's (`above`).
        """
        turns = await chat.history(message.ref, TURNS) if message.ref.thread else ()
        posts = [above.ref.key] if above and above.author.bot else []
        posts += [turn.message for turn in turns if turn.role == "assistant" and turn.message]
        given = await self._conversations.answers_of(posts)
        return next((given[post] for post in reversed(posts) if post in given), "")

    async def _asked(self, answer_id: str, message: Message) -> Question | None:
        """Return the question of an answer, in its own words and release; None where there is none."""
        log = self._engine.answer_log
        if not answer_id or not (text := await log.question(answer_id)):
            return None
        release = await log.release_of(answer_id)
        return Question(
            text=text,
            asker=(await log.asked_by(answer_id)).asker,
            channel=message.ref.channel_key,
            scope=message.scope,
            release="" if "+" in release else release,
            authors=tuple(sorted(await log.authors(answer_id))),
        )

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
        if ticket.question == FORGOTTEN:
            pass  # whose words it was in wants it remembered nowhere
        elif resolving.may_teach(ticket, person, message.author):
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
        passed_on = {*message.authors} - {message.author.id}  # whose words the message forwards
        asked = replace(asked, authors=tuple(sorted({*asked.authors, *passed_on})))
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
        claim = await self._conversations.claimed(reaction.ref.key)
        passed_on = bool(claim and await self._resolving.taken_back(claim))
        if await self._engine.accepted.object(reaction.ref.key, person.id) or passed_on:
            said = _("I have forgotten this answer of yours and will not remember it again.")
            await chat.whisper(message.ref, person, Reply(said))
