"""Both journeys, platform side: a message to its answer, and a reaction to its vote.

Everything that must happen once is claimed in the database first, so retries, doubled events,
several connections and restarts lead to one answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from bot.answering import Answering, tell
from bot.attending import Attending
from bot.chat import Chat, Command, Message, Press, Reaction, Reply, Responder
from bot.escalation import Escalation
from bot.escalation_resolving import Resolving
from bot.hint import Hint
from bot.limits import Limits
from bot.marks import Marks
from bot.meant import Meant
from bot.notices import Notices
from bot.opted_out import OptedOut
from bot.packing import packed, unpacked
from bot.pausing import Pausing
from bot.presses import Presses
from bot.reacting import Reacting
from bot.slash import SlashCommands
from bot.tongues import Tongues
from core.channels import EVERYWHERE, ChannelModes, Pauses
from core.domain import MessageRef
from core.engine import Engine
from core.languages import N_, _, speaking
from core.library import Library
from core.noise import Noise
from core.ports import ConversationStore

if TYPE_CHECKING:
    from bot.overview import Overview
    from bot.pages import Pages

log = logging.getLogger(__name__)

EDIT_SECONDS = 60
"""How long after a question an edit of it is answered anew."""
RESUME_SECONDS = 600
"""Age up to which a question that a dead process took is answered after a restart."""
TOO_LATE = N_("I was stopped before I could answer this. Please ask again.")


class Dispatch:
    """Takes what platforms hear, asks the engine, and says what it answers."""

    def __init__(
        self,
        engine: Engine,
        conversations: ConversationStore,
        library: Library,
        slash: SlashCommands,
        limits: Limits,
        modes: ChannelModes,
        pauses: Pauses,
        opted_out: OptedOut,
        tongues: Tongues,
        notices: Notices,
        noise: Noise,
        hint: Hint,
        escalation: Escalation,
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self._library = library
        self.slash = slash
        self.overview: Overview | None = None
        """Figures for pages and machines, where somebody collects them."""
        self.pages: Pages | None = None
        """What pages ask beside the conversation, where there are pages."""
        self.notices = notices
        self._limits = limits
        self._pausing = Pausing(pauses)
        self.opted_out = opted_out
        self._tongues = tongues
        self._answering = Answering(engine, conversations, opted_out)
        self._answering.to_person = escalation.offered
        self._resolving = Resolving(engine, escalation)
        self._marks = Marks(engine, self._answering.history, self._resolving)
        self._presses = Presses(
            engine, conversations, self._answering, limits, slash.is_admin, opted_out.is_asker, escalation
        )
        self._answering.noise = self.noise = noise
        self._hint = hint
        self._meant = Meant(conversations, self._answering, modes, opted_out, noise)
        self._attending = Attending(
            engine,
            conversations,
            self._answering,
            slash,
            self._presses,
            limits,
            self._pausing,
            opted_out,
            tongues,
            noise,
            hint,
        )
        self._reacting = Reacting(
            engine,
            conversations,
            self._marks,
            self._attending,
            opted_out,
            tongues,
            noise,
            self._lock,
        )
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._slowed: dict[str, float] = {}
        self._chats: dict[str, Chat] = {}
        self.forgetters: list[Callable[[frozenset[str], frozenset[str]], Awaitable[None]]] = []
        """Platforms that hold messages themselves: told the accounts and answers to forget."""
        self.expirers: list[Callable[[float], Awaitable[int]]] = []
        """The same platforms: told the time before which messages go; each tells how many went."""

    def is_out(self, account: str) -> bool:
        """Tell whether the person behind an account opted out."""
        return self.opted_out.is_out(account)

    @property
    def product(self) -> str:
        """Return the name of the product that is talked about."""
        return self._engine.product.name

    def meet(self, chat: Chat) -> None:
        """Know a platform that is connected, so that something can be said there unasked."""
        self._chats[chat.name] = chat

    def chat_of(self, platform: str) -> Chat | None:
        """Return the chat of a platform that is connected, `slack`; None for one that is not."""
        return self._chats.get(platform)

    async def before_forgetting(self, accounts: Collection[str]) -> None:
        """Take back from others what these accounts asked, before it is forgotten."""
        await self._resolving.forget(accounts, self.chat_of)

    # --- messages -----------------------------------------------------------------------------

    async def message(self, chat: Chat, message: Message) -> None:
        """Answer a message that is meant for the bot, once, in the language of its words."""
        meant = await self._meant.of(chat, message)
        if meant is None:
            return
        message = replace(meant, language=await self._tongues.of(meant))
        with speaking(message.language):
            await self._take(chat, message)

    async def _take(self, chat: Chat, message: Message) -> None:
        key, ref = message.ref.key, message.ref
        async with self._lock(key):
            if not await self._conversations.claim(self.opted_out.claim(message)) or self._answering.stopping:
                return
            if pause := await self._pausing.of(ref.channel_key):
                await self._conversations.answered(key, "")
                await self._conversations.posted(key, await self._pausing.tell(chat, message, pause))
                return
            if seconds := self._limits.wait(message.author.id, ref.channel_key):
                await self._conversations.answered(key, "")
                if not message.unasked:
                    await self._slow_down(chat, message, seconds)
                return
            if not message.text.strip():
                await self._conversations.answered(key, "")
                await self._conversations.posted(key, await chat.post(ref, await self._hint.reply(message)))
                return
            task = self._answering.begin(chat, message, ())
        await self._answering.follow(key, task)

    async def edited(self, chat: Chat, message: Message) -> None:
        """Answer a question anew that was edited within a minute, in place of the first answer.

        An answer of a person that is remembered follows its edits, as does what people were asked.
        """
        key = message.ref.key
        async with self._lock(f"mark {key}"):
            await self._engine.accepted.reworded(key, message.text)
            await self._resolving.reworded(chat, message)
        async with self._lock(key):
            claim = await self._conversations.claimed(key)
            if claim is not None:
                late = time.time() - claim.at > EDIT_SECONDS
                same = not claim.payload or claim.payload.get("text") == message.text
                if late or same or not message.text.strip():
                    return
                channel = message.ref.channel_key
                if self._answering.stopping or await self._pausing.of(channel):
                    return
                if self._limits.wait(message.author.id, channel):
                    return
                await self._answering.cancel(key)
                claim = await self._conversations.claimed(key) or claim
                message = replace(message, unasked=claim.payload.get("unasked", ""))
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
            await self._resolving.deleted(chat, ref)
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
            if claim is not None and claim.answer_id:
                await self.noise.withdrawn(claim.answer_id)
            return True

    async def resume(self, chat: Chat) -> None:
        """Answer what a process that died had taken from this platform but not answered.

        What has become too old for that is told so, for a sign of work must not stand for ever.
        """
        self.meet(chat)
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
                if claim.at >= young and claim.payload:
                    begun[key] = self._answering.begin(chat, unpacked(claim.payload), claim.parts)
                else:
                    await self._conversations.answered(key, "")
                    with speaking(str((claim.payload or {}).get("language", ""))):
                        await tell(chat, claim.parts, _(TOO_LATE))
        await asyncio.gather(*(self._answering.follow(key, task) for key, task in begun.items()))

    async def _slow_down(self, chat: Chat, message: Message, seconds: float) -> None:
        """Tell a person once to slow down, then say nothing until they may ask again."""
        now = time.monotonic()
        self._slowed = {person: until for person, until in self._slowed.items() if until > now}
        if message.author.id not in self._slowed:
            self._slowed[message.author.id] = now + seconds
            said = _("That is a lot of questions at once: please ask again in {seconds} s.").format(
                seconds=f"{seconds:.0f}"
            )
            parts = await chat.post(message.ref, Reply(said))
            await self._conversations.posted(message.ref.key, parts)

    def _lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())

    async def reaction(self, chat: Chat, reaction: Reaction) -> None:
        """Count a reaction as a vote, or take it as a mark; errors are logged, never posted."""
        await self._reacting.take(chat, reaction)

    # --- commands and controls ----------------------------------------------------------------

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        """Carry out a slash command and answer whoever typed it."""
        await self._attending.command(chat, command, responder)

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Carry out a press of a control, or a form that was sent, and answer whoever did it."""
        await self._attending.press(chat, press, responder)

    async def channel_became_private(self, channel: str) -> None:
        """Keep what was learnt in a channel (`slack:C1`) inside it from now on."""
        await self._engine.channel_became_private(channel)

    # --- what pages ask -----------------------------------------------------------------------

    async def releases(self) -> list[dict[str, Any]]:
        """Return the releases and how ready they are."""
        return await self._library.releases()

    def progress(self) -> list[dict[str, Any]]:
        """Return the index work that is going on."""
        return self._library.progress()

    async def paused(self) -> bool:
        """Tell whether no new questions are answered anywhere."""
        return await self._pausing.of(EVERYWHERE) is not None

    async def why(self, answer_id: str) -> dict[str, Any]:
        """Return what led to an answer; raises KeyError for an unknown one."""
        return await self._engine.given.why(answer_id)

    async def stop(self) -> None:
        """Give up what is running, and say so; it is answered after the next start."""
        self._chats.clear()
        self._attending.stop()
        await self._answering.stop()
        await self._reacting.stop()
