"""What every message, press and reaction is handled with, as one `Desk`: pauses, outages, order, language."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeVar
from weakref import WeakValueDictionary

from bot.conversation.limits import Allowance
from bot.conversation.triggers import Hint
from bot.ports.chat import Chat, Message, Person, Reaction, Reply
from bot.privacy.opted_out import OptedOut
from bot.rendering.status import at_time
from core.community.overrides import EVERYWHERE, Pauses
from core.community.unsolicited import UnsolicitedReplyPolicy
from core.domain import MessageRef, Vote
from core.engine import Engine
from core.errors import PlatformError
from core.feedback.answer_log import AnswerLog
from core.languages import N_, _, plain
from core.ports import Claim, ConversationStore, StorageHealth
from core.ports.channels import Pause
from core.ports.cluster import Cluster
from core.query import language

_T = TypeVar("_T")


class Pausing:
    """Turns questions away while a pause holds."""

    def __init__(self, pauses: Pauses) -> None:
        self._pauses = pauses
        self._told: set[tuple[str, str, float]] = set()

    async def of(self, channel: str) -> Pause | None:
        """Return the pause that holds for a channel now."""
        return await self._pauses.of(channel)

    async def tell(self, chat: Chat, message: Message, pause: Pause) -> tuple[MessageRef, ...]:
        """Tell a person about a pause, once per pause; privately where the platform can.

        Returns the messages it posted, if everybody sees them.
        """
        once = (message.author.id, pause.place, pause.at)
        if once in self._told or not (message.mentions_bot or message.scope.kind == "direct"):
            return ()
        running = {(running.place, running.at) for running in await self._pauses.running()}
        self._told = {told for told in self._told if told[1:] in running} | {once}
        reply = Reply(paused_text(pause))
        if await chat.whisper(message.ref, message.author, reply):
            return ()
        return await chat.post(message.ref, reply)


def paused_text(pause: Pause) -> str:
    """Say to somebody who asks that there is a pause, until when and why."""
    until = at_time(pause.until) if pause.until else ""
    if pause.place == EVERYWHERE:
        said = _("I am paused and answer no new questions. Votes still count.")
        if until:
            said = _("I am paused until {time} and answer no new questions. Votes still count.")
    else:
        said = _("I am paused in this channel and answer no new questions. Votes still count.")
        if until:
            said = _(
                "I am paused in this channel until {time} and answer no new questions. Votes still count."
            )
    return said.format(time=until) + (f" ({pause.why})" if pause.why else "")


log = logging.getLogger(__name__)

PAUSE_SECONDS = 3.0
"""Time between two looks whether something can be written again."""
MOST_WAITING = 1_000
"""Messages that wait at most; the ones after it are told to ask again."""
WAIT = N_(
    "I cannot save anything right now, so I cannot answer yet. I will answer here as soon as I can; "
    "my admins can see why in the log."
)
LATER = N_("I cannot save anything right now, so I cannot answer. Please ask again later.")


class Outage:
    """Tracks the messages that wait, and waits until saving works again."""

    def __init__(self, health: StorageHealth) -> None:
        self._health = health
        self._waiting: set[str] = set()

    def __contains__(self, key: str) -> bool:
        """Return True if the message of that key waits."""
        return key in self._waiting

    def begin(self, key: str) -> bool:
        """Let a message wait; return False if too many wait already."""
        if len(self._waiting) >= MOST_WAITING:
            return False
        self._waiting.add(key)
        return True

    def end(self, key: str) -> None:
        """Stop waiting with a message."""
        self._waiting.discard(key)

    async def over(self) -> None:
        """Wait until something can be saved again."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            if not await self._health.check():
                return


async def say(
    chat: Chat, where: MessageRef, parts: tuple[MessageRef, ...], text: str
) -> tuple[MessageRef, ...]:
    """Post a text in place of a reply, or as a new message; return its messages.

    Nothing is saved, because nothing can be; a refusal of the platform is not an error.
    """
    try:
        return await (chat.edit(parts, Reply(_(text))) if parts else chat.post(where, Reply(_(text))))
    except PlatformError as error:
        log.info("nobody could be told that nothing can be written: %s", error)
        return parts


class Slot:
    """The place of one message among those of its conversation that are being handled."""

    def __init__(self, earlier: tuple[Slot, ...]) -> None:
        self._earlier = earlier
        self._looked = asyncio.Event()
        self._done = asyncio.Event()

    def looked(self) -> None:
        """Tell later messages that this one is claimed, or is not for the bot."""
        self._looked.set()

    def done(self) -> None:
        """Tell later messages that this one is answered, or never will be."""
        self._looked.set()
        self._done.set()

    async def after_claims(self) -> None:
        """Wait until every earlier message is claimed, or known not to be for the bot."""
        for slot in self._earlier:
            await slot._looked.wait()

    async def after_answers(self) -> None:
        """Wait until every earlier message is answered or never will be."""
        for slot in self._earlier:
            await slot._done.wait()


class InOrder:
    """Gives each message a slot in its conversation."""

    def __init__(self) -> None:
        self._slots: defaultdict[str, list[Slot]] = defaultdict(list)

    @contextmanager
    def slot(self, conversation: str) -> Iterator[Slot]:
        """Take the next slot, and give it back at the end; enter it before anything is awaited."""
        slots = self._slots[conversation]
        slot = Slot(tuple(slots))
        slots.append(slot)
        try:
            yield slot
        finally:
            slot.done()
            slots.remove(slot)
            if not slots and self._slots.get(conversation) is slots:
                del self._slots[conversation]


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


@dataclass(frozen=True)
class Desk:
    """What questions, presses and reactions are handled with, whichever of them it is."""

    engine: Engine
    conversations: ConversationStore
    opted_out: OptedOut
    unsolicited: UnsolicitedReplyPolicy
    limits: Allowance
    pausing: Pausing
    locales: LocaleResolver
    hint: Hint
    outage: Outage
    cluster: Cluster
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def withdraw(self, claim: Claim, replaced: bool = False) -> None:
        """Forget what a question and its answer said: it was deleted, or `replaced` by an edit."""
        if answer_id := claim.answer_id or claim.posting:
            await self.engine.answer_log.withdraw(answer_id, replaced)
            if not replaced:
                await self.unsolicited.withdrawn(answer_id)

    async def off_replaced(
        self, claim: Claim | None, person: Person, value: Literal[0, 1], said_at: float = 0.0
    ) -> None:
        """Take a vote off the answers that stood in a claim's messages until an edit replaced them."""
        for earlier in claim.before if claim else ():
            stands = await self.engine.opinion(earlier, person.id) == value
            if stands or await self.engine.holds_up(earlier, person.id, value):
                off = Vote(earlier, person.id, None, withdraws=value, said_at=said_at)
                await self.engine.feedback(off, person.helper)
                if await self.engine.answer_log.emptied([earlier]):  # what only this vote held goes, too
                    await self.engine.answer_log.withdraw(earlier, replaced=True)

    def lock(self, key: str) -> asyncio.Lock:
        """Return what lets one event of a message or a conversation be handled after the other."""
        return self._locks.setdefault(key, asyncio.Lock())


async def whole(work: Awaitable[_T]) -> _T:
    """Await work to its end even if the caller is cancelled, so that posted messages are known."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({asyncio.gather(task, return_exceptions=True)})  # nobody hears of an error now
        raise


def deletion(key: str) -> str:
    """Name the event that a message was deleted."""
    return f"deleted {key}"
