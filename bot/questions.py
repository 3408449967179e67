"""A question's journey, platform side: taken once, answered, answered anew when it is edited, taken back.

Everything that must happen once is claimed in the database first, so retries, doubled events,
several connections and restarts lead to one answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from bot.answering import Answering, tell
from bot.chat import Chat, Message, Reply
from bot.escalation_resolving import Resolving
from bot.hint import Hint
from bot.limits import Limits, rounded
from bot.meant import Meant
from bot.opted_out import OptedOut
from bot.packing import packed, unpacked
from bot.pausing import Pausing
from bot.tongues import Tongues
from core.domain import MessageRef
from core.engine import Engine
from core.languages import N_, _, speaking
from core.noise import Noise
from core.ports import ConversationStore

EDIT_SECONDS = 60
"""How long after a question an edit of it is answered anew."""
RESUME_SECONDS = 600
"""Age up to which a question that a dead process took is answered after a restart."""
TOO_LATE = N_("I was stopped before I could answer this. Please ask again.")


class Questions:
    """Takes what people ask, and follows what becomes of it."""

    def __init__(
        self,
        engine: Engine,
        conversations: ConversationStore,
        answering: Answering,
        meant: Meant,
        resolving: Resolving,
        limits: Limits,
        pausing: Pausing,
        opted_out: OptedOut,
        tongues: Tongues,
        noise: Noise,
        hint: Hint,
        lock: Callable[[str], asyncio.Lock],
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self._answering = answering
        self._meant = meant
        self._resolving = resolving
        self._limits = limits
        self._pausing = pausing
        self._opted_out = opted_out
        self._tongues = tongues
        self._noise = noise
        self._hint = hint
        self._lock = lock
        self._slowed: dict[str, float] = {}

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
            if (
                not await self._conversations.claim(self._opted_out.claim(message))
                or self._answering.stopping
            ):
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
            if hint := await self._hint.to(message):
                await self._conversations.answered(key, "")
                await self._conversations.posted(key, await chat.post(ref, hint))
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
                await self._noise.withdrawn(claim.answer_id)
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
                seconds=rounded(seconds)
            )
            parts = await chat.post(message.ref, Reply(said))
            await self._conversations.posted(message.ref.key, parts)
