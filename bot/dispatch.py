"""Both journeys, platform side: a message to its answer, and a reaction to its vote.

Everything that must happen once is claimed in the database first, so retries, doubled events,
several connections and restarts lead to one answer.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from bot.admin import Admin
from bot.chat import Chat, Command, Message, Person, Reaction, Reply, Responder, vote_of
from bot.limits import Limits
from bot.render import WORKING, compose, growing
from core.domain import Evidence, MessageRef, Question, Scope, Turn, Vote
from core.engine import Engine
from core.errors import PlatformError, ThreadloreError
from core.ports import Claim, ConversationStore
from core.text import looks_like_question

log = logging.getLogger(__name__)

TURNS = 12
"""Messages of a conversation that are read back for a follow-up."""
EDIT_SECONDS = 60
"""How long after a question an edit of it is answered anew."""
RESUME_SECONDS = 600
"""Age up to which a question that a dead process took is answered after a restart."""
_PLEASANTRY = re.compile(
    r"\W*(?:(?:many )?thanks?(?: (?:a lot|so much|you))?|thx|ty|great|ok(?:ay)?|cool|nice|perfect|awesome|"
    r"got it|that (?:works|helped|did it)|works(?: now)?|danke|merci|gracias|lol|yes|no|👍|🙏|❤️)\b[^?]{0,25}",
    re.IGNORECASE,
)


class Dispatch:
    """Takes what platforms hear, asks the engine, and says what it answers."""

    def __init__(
        self, engine: Engine, conversations: ConversationStore, admin: Admin, limits: Limits
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self._admin = admin
        self._limits = limits
        self._running: dict[str, asyncio.Task[Any]] = {}

    @property
    def product(self) -> str:
        """Return the name of what is talked about."""
        return self._engine.product.name

    # --- messages -----------------------------------------------------------------------------

    async def message(self, chat: Chat, message: Message) -> None:
        """Answer a message that is meant for the bot, once."""
        if not await self._is_meant(chat, message):
            return
        claim = Claim(
            message.ref.key, message.ref.conversation, message.author.id, time.time(), _packed(message)
        )
        if await self._conversations.claim(claim):
            await self._answer(chat, message, ())

    async def edited(self, chat: Chat, message: Message) -> None:
        """Answer a question anew that was edited within a minute, in place of the first answer."""
        claim = await self._conversations.claimed(message.ref.key)
        if claim is None:
            if message.mentions_bot:
                await self.message(chat, message)
            return
        if claim.payload.get("text") == message.text or time.time() - claim.at > EDIT_SECONDS:
            return
        await self._cancel(message.ref.key)
        claim = await self._conversations.claimed(message.ref.key) or claim
        await self._conversations.reopen(message.ref.key, _packed(message), claim.at)
        await self._answer(chat, message, claim.parts)

    async def deleted(self, chat: Chat, ref: MessageRef) -> None:
        """Take back the answer to a question that was deleted."""
        claim = await self._conversations.claimed(ref.key)
        if claim is None:
            return
        await self._cancel(ref.key)
        claim = await self._conversations.claimed(ref.key) or claim
        await chat.delete(claim.parts)
        await self._conversations.posted(ref.key, ())
        await self._conversations.answered(ref.key, "")

    async def resume(self, chat: Chat) -> None:
        """Answer what a process that died had taken from this platform but not answered."""
        for claim in await self._conversations.unanswered(time.time() - RESUME_SECONDS):
            if claim.message.startswith(f"{chat.name}:") and claim.message not in self._running:
                await self._answer(chat, _unpacked(claim.payload), claim.parts)

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
        if message.mentions_others or _PLEASANTRY.fullmatch(message.text.strip()):
            return False
        last = await self._conversations.last_claim(message.ref.conversation)
        if last is None or last.asker != message.author.id:
            return False
        turns = await chat.history(message.ref, 1)
        between_people = bool(turns) and turns[-1].role == "user" and turns[-1].author != message.author.id
        return not between_people

    async def _answer(self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]) -> None:
        key = message.ref.key
        task = asyncio.ensure_future(self._say(chat, message, parts))
        self._running[key] = task
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():  # the platform is stopping: what was taken is answered after a restart
                task.cancel()
            raise
        except PlatformError as error:
            log.warning("could not answer %s: %s", key, error)
        finally:
            if self._running.get(key) is task:
                del self._running[key]

    async def _say(self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]) -> None:
        key = message.ref.key
        seconds = self._limits.wait(message.author.id, message.ref.channel_key) if not parts else 0.0
        if seconds:
            said = f"That is a lot of questions at once: please ask again in {seconds:.0f} s."
            await chat.post(message.ref, Reply(said))
            await self._conversations.answered(key, "")
            return
        waiting = Reply(WORKING, final=False)
        parts = await (chat.edit(parts, waiting) if parts else chat.post(message.ref, waiting))
        await self._conversations.posted(key, parts)
        show = _Show(chat, parts, self._engine.product.name)
        try:
            history = await chat.history(message.ref, TURNS)
            question = Question(
                text=message.text,
                asker=message.author.id,
                channel=message.ref.channel_key,
                scope=message.scope,
                history=await self._with_releases(message.ref, history),
            )
            answer = await self._engine.answer(question, show)
            await show.finish()
            parts = await chat.edit(show.parts, compose(answer, self._engine.product.name))
            await self._conversations.posted(key, parts)
            await self._conversations.answered(key, answer.id)
            await chat.seed_votes(parts[-1])
        except PlatformError:
            raise
        except ThreadloreError as error:
            log.error("answering %s failed: %s", key, error)
            await self._apologise(chat, show, key, error.told)
        except Exception:
            log.exception("answering %s failed", key)
            await self._apologise(chat, show, key, ThreadloreError.told)

    async def _apologise(self, chat: Chat, show: _Show, key: str, told: str) -> None:
        await show.finish()
        await chat.edit(show.parts, Reply(told))
        await self._conversations.answered(key, "")

    async def _with_releases(self, ref: MessageRef, history: Sequence[Turn]) -> tuple[Turn, ...]:
        """Tell the thread's last answer which release it spoke for."""
        last = await self._conversations.last_claim(ref.conversation)
        release = await self._engine.release_of(last.answer_id) if last else ""
        turns = list(history)
        for place in range(len(turns) - 1, -1, -1):
            if turns[place].role == "assistant":
                turns[place] = replace(turns[place], release=release)
                break
        return tuple(turns)

    async def _cancel(self, key: str) -> None:
        task = self._running.pop(key, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    # --- reactions ----------------------------------------------------------------------------

    async def reaction(self, chat: Chat, reaction: Reaction) -> None:
        """Count a reaction as a vote; errors are logged, never posted."""
        value = vote_of(reaction.emoji)
        if value is None or reaction.person.bot:
            return
        answer_id = await self._conversations.answer_of(reaction.ref.key)
        if not answer_id:
            return
        voter = reaction.person.id
        vote = (
            Vote(answer_id, voter, value) if reaction.added else Vote(answer_id, voter, None, withdraws=value)
        )
        await self._engine.feedback(vote, helper=reaction.person.helper)

    # --- commands -----------------------------------------------------------------------------

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        """Carry out a slash command and answer whoever typed it."""
        if command.event and not await self._conversations.claim(Claim("", "", "", 0.0), command.event):
            return
        try:
            if command.name == "ask":
                await self._ask(command, responder)
            else:
                await self._admin.run(command.text, command.person, responder)
        except ThreadloreError as error:
            log.warning("/%s %s: %s", command.name, command.text, error)
            await responder.reply(Reply(str(error)))

    async def _ask(self, command: Command, responder: Responder) -> None:
        if not command.text.strip():
            await responder.reply(Reply("Write your question after the command: `/ask How do I …?`"))
            return
        seconds = self._limits.wait(command.person.id, command.where.channel_key)
        if seconds:
            await responder.reply(Reply(f"Please ask again in {seconds:.0f} s."))
            return
        await responder.reply(Reply(WORKING, final=False))
        answer = await self._engine.answer(
            Question(
                command.text,
                command.person.id,
                command.where.channel_key,
                command.scope if command.scope.kind != "direct" else Scope("direct", command.scope.channel),
            )
        )
        await responder.reply(compose(answer, self._engine.product.name))

    # --- what pages ask -----------------------------------------------------------------------

    async def releases(self) -> list[dict[str, Any]]:
        """Return the releases and how ready they are."""
        return await self._admin.library.releases()

    def progress(self) -> list[dict[str, Any]]:
        """Return the index work that is going on."""
        return self._admin.library.progress()

    async def why(self, answer_id: str) -> dict[str, Any]:
        """Return what led to an answer; raises KeyError for an unknown one."""
        return await self._engine.why(answer_id)

    async def stop(self) -> None:
        """Give up what is running; it is answered after the next start."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Show:
    """Shows an answer while it grows: sources first, then text, one edit at a time."""

    def __init__(self, chat: Chat, parts: tuple[MessageRef, ...], product: str) -> None:
        self.parts = parts
        self._chat = chat
        self._product = product
        self._release = ""
        self._evidence: Sequence[Evidence] = ()
        self._text = ""
        self._shown = ""
        self._task: asyncio.Task[None] | None = None

    async def sources(self, release: str, evidence: Sequence[Evidence]) -> None:
        """Show which pages are being read."""
        self._release, self._evidence = release, evidence
        self._begin()

    async def text(self, markdown: str) -> None:
        """Show the text so far; what comes while an edit is under way is shown by the next one."""
        self._text = markdown
        self._begin()

    async def finish(self) -> None:
        """Wait until no edit is under way."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._edit())

    async def _edit(self) -> None:
        while (
            reply := growing(self._text, self._product, self._release, self._evidence)
        ).markdown != self._shown:
            self._shown = reply.markdown
            try:
                self.parts = await self._chat.edit(self.parts, reply)
            except PlatformError as error:
                log.info("an intermediate edit failed: %s", error)
                return
            await asyncio.sleep(0)


def _packed(message: Message) -> dict[str, Any]:
    return asdict(message)


def _unpacked(payload: dict[str, Any]) -> Message:
    return Message(
        **{
            **payload,
            "ref": MessageRef(**payload["ref"]),
            "author": Person(**payload["author"]),
            "scope": Scope(**payload["scope"]),
        }
    )
