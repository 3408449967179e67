"""✅ and ❌ on messages: what helpers accept is remembered, and what its author objects to is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bot.chat import Chat, Message, Reaction, Reply
from bot.controls import mark_of
from core.accepted import Written
from core.domain import MessageRef, Question, Turn, Vote
from core.engine import Engine

History = Callable[[Chat, MessageRef], Awaitable[Sequence[Turn]]]


class Marks:
    """Takes marks on messages; `history` reads what was said before a message."""

    def __init__(self, engine: Engine, history: History) -> None:
        self._engine = engine
        self._history = history

    async def take(self, chat: Chat, reaction: Reaction, answer_id: str) -> None:
        """Do what a mark means; `answer_id` is that of the bot's message which it is on, if it is one."""
        kind = mark_of(reaction.emoji)
        if answer_id:
            if kind == "accept":
                await self._vouch(reaction, answer_id)
        elif kind == "accept" and reaction.added:
            await self._accept(chat, reaction)
        elif kind == "accept":
            await self._engine.accepted.withdraw(reaction.ref.key, reaction.person.id)
        elif kind == "object" and reaction.added:
            await self._object(chat, reaction)

    def _helps(self, reaction: Reaction) -> bool:
        return reaction.person.helper or self._engine.helps(reaction.person.id)

    async def _vouch(self, reaction: Reaction, answer_id: str) -> None:
        """Count a helper's ✅ on an answer of the bot as their 👍."""
        if self._helps(reaction):
            voter = reaction.person.id
            vote = Vote(answer_id, voter, 1) if reaction.added else Vote(answer_id, voter, None, withdraws=1)
            await self._engine.feedback(vote, helper=True)

    async def _accept(self, chat: Chat, reaction: Reaction) -> None:
        """Remember a person's message as the answer to what it stands under, and tell who is concerned."""
        if not self._helps(reaction):
            return
        message = await chat.message(reaction.ref)
        if message is None or message.author.bot:
            return
        question = await chat.question_of(message.ref)
        if question is None or question.author.bot or question.ref.key == message.ref.key:
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
        written = Written(
            message.ref.key,
            message.author.id,
            message.author.name,
            message.text,
            await chat.permalink(message.ref),
        )
        outcome = await self._engine.accepted.accept(written, asked, reaction.person.id)
        if outcome.pair is None:
            said = f"I do not remember this answer. {outcome.problem}"
            await chat.whisper(message.ref, reaction.person, Reply(said))
            return
        release = outcome.pair.release
        await chat.whisper(
            message.ref,
            reaction.person,
            Reply(
                f"I remember this answer to “{outcome.pair.question}” for {release}. "
                f"Take the ✅ off and I forget it."
            ),
        )
        await self._tell_author(chat, message, reaction)

    async def _tell_author(self, chat: Chat, message: Message, reaction: Reaction) -> None:
        if message.author.id != reaction.person.id:
            said = f"{reaction.person.name} marked your answer with ✅, so I remember it and name you. "
            said += "Put ❌ on it if you do not want that; then I never will."
            await chat.whisper(message.ref, message.author, Reply(said))

    async def _object(self, chat: Chat, reaction: Reaction) -> None:
        """Forget a message that its own author puts ❌ on."""
        person = reaction.person
        if reaction.author not in ("", person.id):
            return
        message = await chat.message(reaction.ref)
        if message is None or message.author.id != person.id:
            return
        if await self._engine.accepted.object(reaction.ref.key, person.id):
            said = "I have forgotten this answer of yours and will not remember it again."
            await chat.whisper(message.ref, person, Reply(said))
