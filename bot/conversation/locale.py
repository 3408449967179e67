"""The language somebody is answered in: of their words, the thread, their client, or the default."""

from __future__ import annotations

from bot.ports.chat import Message, Person, Reaction
from core.feedback.answer_log import AnswerLog
from core.languages import plain
from core.ports import ConversationStore
from core.query import language


class LocaleResolver:
    """Decides the language; `default` is used where nothing else tells."""

    def __init__(self, conversations: ConversationStore, answer_log: AnswerLog, default: str) -> None:
        self._conversations = conversations
        self._answer_log = answer_log
        self._default = default

    async def of(self, message: Message) -> str:
        """Return the language that a message is answered in, as `de`.

        Words that do not tell are in the thread's language: "2.3?" goes on in German.
        """
        if message.language:
            return message.language
        if found := await language.detect(message.text):
            return found
        return await self.of_thread(message.ref.conversation, message.author)

    async def of_text(self, text: str, person: Person) -> str:
        """Return the language that a text outside of any thread is answered in."""
        return await language.detect(text) or self.of_person(person)

    async def of_thread(self, conversation: str, person: Person) -> str:
        """Return the language of the thread's last question, else the person's."""
        last = await self._conversations.last_claim(conversation)
        told = (last.language or (last.payload or {}).get("language", "")) if last else ""
        return str(told) or self.of_person(person)

    async def of_answer(self, answer_id: str, person: Person) -> str:
        """Return the language of an answer, else the person's."""
        found = await self._answer_log.language_of(answer_id) if answer_id else ""
        return found or self.of_person(person)

    async def of_reaction(self, reaction: Reaction, answer_id: str) -> str:
        """Return the language for telling somebody the result of a reaction."""
        if answer_id:
            return await self.of_answer(answer_id, reaction.person)
        return await self.of_thread(reaction.ref.conversation, reaction.person)

    def of_person(self, person: Person) -> str:
        """Return the language that a platform shows to a person, else the default."""
        return plain(person.locale) or self._default
