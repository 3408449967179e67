"""Both journeys, platform side: a message to its answer, and a reaction to its vote.

Everything that must happen once is claimed in the database first, so retries, doubled events,
several connections and restarts lead to one answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from bot.answering import Answering, tell
from bot.chat import Chat, Command, Message, Press, Reaction, Reply, Responder, vote_of
from bot.controls import ASK_WHAT_WAS_WRONG, mark_of, wrong_button
from bot.limits import Limits
from bot.marks import Marks
from bot.packing import packed, unpacked
from bot.pleasantry import is_pleasantry
from bot.presses import ASK_AGAIN, Presses
from bot.render import WORKING
from bot.sharing import alone
from bot.slash import SlashCommands
from core.domain import MessageRef, Question, Vote
from core.engine import Engine
from core.errors import ThreadloreError
from core.library import Library
from core.ports import Claim, ConversationStore
from core.text import looks_like_question

if TYPE_CHECKING:
    from bot.overview import Overview

log = logging.getLogger(__name__)

EDIT_SECONDS = 60
"""How long after a question an edit of it is answered anew."""
RESUME_SECONDS = 600
"""Age up to which a question that a dead process took is answered after a restart."""
TOO_LATE = "I was stopped before I could answer this. Please ask again."


class Dispatch:
    """Takes what platforms hear, asks the engine, and says what it answers."""

    def __init__(
        self,
        engine: Engine,
        conversations: ConversationStore,
        library: Library,
        slash: SlashCommands,
        limits: Limits,
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self._library = library
        self.slash = slash
        self.overview: Overview | None = None
        """Figures for pages and machines, where somebody collects them."""
        self._limits = limits
        self._answering = Answering(engine, conversations)
        self._marks = Marks(engine, self._answering.history)
        self._presses = Presses(engine, conversations, self._answering, limits, slash.is_admin)
        self._commands: set[asyncio.Task[Any]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._slowed: dict[str, float] = {}
        self.forgetters: list[Callable[[frozenset[str], frozenset[str]], Awaitable[None]]] = []
        """Platforms that hold messages themselves: told the accounts and answers to forget."""

    @property
    def product(self) -> str:
        """Return the name of the product that is talked about."""
        return self._engine.product.name

    # --- messages -----------------------------------------------------------------------------

    async def message(self, chat: Chat, message: Message) -> None:
        """Answer a message that is meant for the bot, once."""
        if not await self._is_meant(chat, message):
            return
        key, ref = message.ref.key, message.ref
        claim = Claim(key, ref.conversation, message.author.id, time.time(), packed(message))
        async with self._lock(key):
            if not await self._conversations.claim(claim) or self._answering.stopping:
                return
            if seconds := self._limits.wait(message.author.id, ref.channel_key):
                await self._conversations.answered(key, "")
                await self._slow_down(chat, message, seconds)
                return
            task = self._answering.begin(chat, message, ())
        await self._answering.follow(key, task)

    async def edited(self, chat: Chat, message: Message) -> None:
        """Answer a question anew that was edited within a minute, in place of the first answer.

        An answer of a person that is remembered follows its edits.
        """
        key = message.ref.key
        async with self._lock(f"mark {key}"):
            await self._engine.accepted.reworded(key, message.text)
        async with self._lock(key):
            claim = await self._conversations.claimed(key)
            if claim is not None:
                late = time.time() - claim.at > EDIT_SECONDS
                if late or claim.payload.get("text") == message.text or not message.text.strip():
                    return
                if self._answering.stopping or self._limits.wait(message.author.id, message.ref.channel_key):
                    return
                await self._answering.cancel(key)
                claim = await self._conversations.claimed(key) or claim
                await self._conversations.reopen(key, packed(message), claim.at)
                task = self._answering.begin(chat, message, claim.parts)
        if claim is not None:
            await self._answering.follow(key, task)
        elif message.mentions_bot:
            await self.message(chat, message)

    async def deleted(self, chat: Chat, ref: MessageRef) -> None:
        """Take back the answers to a question that was deleted, and forget a person's answer that was."""
        async with self._lock(f"mark {ref.key}"):
            await self._engine.accepted.gone(ref.key)
        if await self._take_back(chat, ref.key):
            for release in self._engine.product.releases:
                await self._take_back(chat, f"{ref.key}@{release.name}")

    async def _take_back(self, chat: Chat, key: str) -> bool:
        """Delete the reply of a claim; tells whether there is such a claim."""
        async with self._lock(key):
            if await self._conversations.claimed(key) is None:
                return False
            await self._answering.cancel(key)
            claim = await self._conversations.claimed(key)
            await self._conversations.answered(key, "")
            if claim is not None and claim.parts:
                await chat.delete(claim.parts)
                await self._conversations.posted(key, ())
            return True

    async def resume(self, chat: Chat) -> None:
        """Answer what a process that died had taken from this platform but not answered.

        What has become too old for that is told so, for a sign of work must not stand for ever.
        """
        young = time.time() - RESUME_SECONDS
        begun: dict[str, asyncio.Task[None]] = {}
        for claim in await self._conversations.unanswered(0.0):
            key = claim.message
            if not key.startswith(f"{chat.name}:") or self._answering.stopping:
                continue
            async with self._lock(key):
                still_open = {c.message for c in await self._conversations.unanswered(claim.at)}
                if key in self._answering or key not in still_open:
                    continue
                if claim.at >= young:
                    begun[key] = self._answering.begin(chat, unpacked(claim.payload), claim.parts)
                else:
                    await self._conversations.answered(key, "")
                    await tell(chat, claim.parts, TOO_LATE)
        await asyncio.gather(*(self._answering.follow(key, task) for key, task in begun.items()))

    async def _is_meant(self, chat: Chat, message: Message) -> bool:
        if message.author.bot or not message.text.strip():
            return False
        if message.scope.kind == "direct":
            return True
        mode = self._engine.mode(message.ref.channel_key)
        if mode == "off":
            return False
        if message.mentions_bot:
            return True
        is_root = message.ref.thread in ("", message.ref.message)
        if is_root:
            return mode == "forum" or (mode == "questions" and looks_like_question(message.text))
        if message.mentions_others or is_pleasantry(message.text):
            return False
        await self._answering.settled(message.ref.conversation)
        last = await self._conversations.last_claim(message.ref.conversation)
        if last is None or last.asker != message.author.id:
            return False
        turns = await chat.history(message.ref, 1)
        between_people = bool(turns) and turns[-1].role == "user" and turns[-1].author != message.author.id
        return not between_people

    async def _slow_down(self, chat: Chat, message: Message, seconds: float) -> None:
        """Tell a person once to slow down, then say nothing until they may ask again."""
        now = time.monotonic()
        self._slowed = {person: until for person, until in self._slowed.items() if until > now}
        if message.author.id not in self._slowed:
            self._slowed[message.author.id] = now + seconds
            said = f"That is a lot of questions at once: please ask again in {seconds:.0f} s."
            parts = await chat.post(message.ref, Reply(said))
            await self._conversations.posted(message.ref.key, parts)

    def _lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())

    # --- reactions ----------------------------------------------------------------------------

    async def reaction(self, chat: Chat, reaction: Reaction) -> None:
        """Count a reaction as a vote, or take it as a mark; errors are logged, never posted."""
        value, mark = vote_of(reaction.emoji), mark_of(reaction.emoji)
        if reaction.person.bot or (value is None and not mark):
            return
        answer_id = await self._conversations.answer_of(reaction.ref.key)
        if mark:
            async with self._lock(f"mark {reaction.ref.key}"):
                if not await self._conversations.taken(reaction.event):
                    await self._marks.take(chat, reaction, answer_id)
                    await self._is_new(reaction.event)
        if value is None or not answer_id or await self._conversations.taken(reaction.event):
            return
        voter, added = reaction.person.id, reaction.added
        vote = Vote(answer_id, voter, value) if added else Vote(answer_id, voter, None, withdraws=value)
        await self._engine.feedback(vote, helper=reaction.person.helper)
        # not before: a vote that a dying process had only claimed would be lost, twice counted it is the same
        is_new = await self._is_new(reaction.event)
        if is_new and added and not value:
            await self._ask_what_was_wrong(chat, reaction, answer_id)

    async def _ask_what_was_wrong(self, chat: Chat, reaction: Reaction, answer_id: str) -> None:
        """Offer the form to who put 👎 under an answer, where the platform can say it to them alone."""
        claim = await self._conversations.claim_of(answer_id)
        parts = claim.parts if claim else ()
        where = next((part for part in parts if part.key == reaction.ref.key), reaction.ref)
        asked = Reply(ASK_WHAT_WAS_WRONG, controls=(wrong_button(answer_id),))
        await chat.whisper(where, reaction.person, asked)

    # --- commands and controls ----------------------------------------------------------------

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        """Carry out a slash command and answer whoever typed it."""
        if await self._is_new(command.event):
            # what people ask is never in the log
            asks = command.name == "ask"
            what = "/ask" if asks else f"/{command.name} {command.text}"
            await self._attend(self._carry_out(command, responder), what, responder, kindly=asks)

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Carry out a press of a control, or a form that was sent, and answer whoever did it."""
        if await self._is_new(press.event):
            work = self._presses.carry_out(chat, press, responder)
            await self._attend(work, f"pressing {press.name}", responder, kindly=True)

    async def _attend(
        self, doing: Coroutine[Any, Any, None], what: str, responder: Responder, kindly: bool
    ) -> None:
        """Wait for what somebody wants; tell them of an error in their words (`kindly`) or in an admin's."""
        work = asyncio.create_task(doing)
        self._commands.add(work)
        try:
            await work
        except asyncio.CancelledError:
            work.cancel()
            if not self._answering.stopping:
                raise
            await responder.reply(Reply(ASK_AGAIN))
        except ThreadloreError as error:
            log.warning("%s: %s", what, error)
            await responder.reply(Reply(error.told if kindly else str(error)))
        except Exception:  # whoever typed it must not be left with a sign of work
            log.exception("%s failed", what)
            await responder.reply(Reply(ThreadloreError.told))
        finally:
            self._commands.discard(work)

    async def _carry_out(self, command: Command, responder: Responder) -> None:
        if command.name != "ask":
            await self.slash.run(command, responder)
            return
        if not command.text.strip():
            await responder.reply(Reply("Write your question after the command: `/ask How do I …?`"))
            return
        where = command.where.channel_key
        if seconds := self._limits.wait(command.person.id, where):
            await responder.reply(Reply(f"Please ask again in {seconds:.0f} s."))
            return
        await responder.reply(Reply(WORKING, final=False))
        answer = await self._engine.answer(Question(command.text, command.person.id, where, command.scope))
        await responder.reply(alone(answer, self.product, command.where, command.scope))

    async def channel_became_private(self, channel: str) -> None:
        """Keep what was learnt in a channel (`slack:C1`) inside it from now on."""
        await self._engine.channel_became_private(channel)

    async def _is_new(self, event: str) -> bool:
        """Claim an event of which nothing but its id is kept."""
        return not event or await self._conversations.claim(Claim("", "", "", 0.0), event)

    # --- what pages ask -----------------------------------------------------------------------

    async def releases(self) -> list[dict[str, Any]]:
        """Return the releases and how ready they are."""
        return await self._library.releases()

    def progress(self) -> list[dict[str, Any]]:
        """Return the index work that is going on."""
        return self._library.progress()

    async def why(self, answer_id: str) -> dict[str, Any]:
        """Return what led to an answer; raises KeyError for an unknown one."""
        return await self._engine.given.why(answer_id)

    async def stop(self) -> None:
        """Give up what is running, and say so; it is answered after the next start."""
        for task in self._commands:
            task.cancel()
        await self._answering.stop()
