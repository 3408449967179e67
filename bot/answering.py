"""Answers under way: shown from the first moment, given up and taken up again, said whole or not at all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from bot.chat import Chat, Control, Message, Reply
from bot.controls import controls
from bot.logs import about
from bot.opted_out import OptedOut
from bot.render import WORKING, compose
from bot.show import Show
from core.domain import Answer, MessageRef, Question, Scope, Turn
from core.engine import Engine
from core.errors import PlatformError, ThreadloreError
from core.languages import N_, _, speaking
from core.noise import Noise
from core.ports import ConversationStore

log = logging.getLogger(__name__)
_T = TypeVar("_T")

TURNS = 12
"""Messages of a conversation that are read back for a follow-up."""
GOODBYE_SECONDS = 3.0
"""Time that the words of a bot that is being stopped may take."""
AGAIN_SECONDS = (2.0, 10.0, 30.0, 90.0, 180.0)
"""Pauses before an answer is said again that the platform did not take, because it was down, say."""
RESTARTING = N_("I am being restarted and will answer this when I am back.")


class Answering:
    """Asks the engine for each question in a task of its own, and posts what comes of it."""

    def __init__(self, engine: Engine, conversations: ConversationStore, opted_out: OptedOut) -> None:
        self._opted_out = opted_out
        self._engine = engine
        self._conversations = conversations
        self._running: dict[str, tuple[Message, asyncio.Task[None]]] = {}
        self.stopping = False
        self.noise: Noise | None = None
        """What counts answers that nobody asked for, where there is one."""

        self.to_person: Callable[[MessageRef, Scope], bool] = lambda where, scope: False
        """Tells whether there is a person to ask, in a place of that scope."""

    def __contains__(self, key: str) -> bool:
        """Tell whether the message of that key is being answered."""
        return key in self._running

    def begin(self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]) -> asyncio.Task[None]:
        """Start to answer a claimed message, in place of the reply `parts` if there is one."""
        with speaking(message.language):
            task = asyncio.create_task(self._say(chat, message, parts))
        self._running[message.key] = (message, task)
        return task

    async def follow(self, key: str, task: asyncio.Task[None]) -> None:
        """Wait for an answer; when the platform is stopped instead, it is answered after a restart."""
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                task.cancel()
                raise
        except PlatformError as error:
            log.warning("could not answer %s: %s", key, error)
            if not error.retryable:
                await self._conversations.answered(key, "")
        finally:
            if self._running.get(key, (None, None))[1] is task:
                del self._running[key]

    async def cancel(self, key: str) -> None:
        """Give up an answer; the messages it has taken are known afterwards."""
        _, task = self._running.pop(key, (None, None))
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def settled(self, conversation: str) -> None:
        """Wait for the answers under way in a conversation: a follow-up may come before the answer."""
        tasks = {task for message, task in self._running.values() if message.ref.conversation == conversation}
        if tasks:
            await asyncio.wait(tasks)

    async def stop(self) -> None:
        """Give up everything, and say so where it was asked."""
        self.stopping = True
        tasks = {task for _, task in self._running.values()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2 * GOODBYE_SECONDS)

    async def _say(self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]) -> None:
        """Answer, again after a while where the platform is in trouble; raises PlatformError in the end."""
        key = message.key
        about(key, platform=chat.name, kind=message.scope.kind)
        for pause in (*AGAIN_SECONDS, 0.0):
            try:
                parts, answer_id = await self._answer(chat, message, parts)
                break
            except PlatformError as error:
                if not (error.retryable and pause):
                    raise
                log.warning("could not answer %s, next attempt in %g s: %s", key, pause, error)
            await asyncio.sleep(pause)
            claim = await self._conversations.claimed(key)
            parts = claim.parts if claim is not None else ()
        if answer_id and not self._opted_out.is_out(message.author.id):
            if message.unasked and self.noise is not None:
                await self.noise.answered(answer_id, message.ref)
            try:
                await chat.seed_votes(parts[-1])
            except PlatformError as error:  # the answer stands, and people can still vote on it
                log.warning("an answer has no boxes for votes: %s", error)

    async def _answer(
        self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]
    ) -> tuple[tuple[MessageRef, ...], str]:
        """Find an answer and say it; return the messages it takes and its id, empty for silence."""
        key = message.key
        try:
            parts, reply = await self._find(chat, message, parts)
        except asyncio.CancelledError:
            claim = await self._conversations.claimed(key) if self.stopping else None
            if claim is not None:
                await tell(chat, claim.parts, _(RESTARTING))
            raise
        if reply is None:
            await _whole(self._keep_quiet(chat, key, parts))
            return (), ""
        return await _whole(self._close(chat, message, parts, reply)), reply.answer_id

    async def _find(
        self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]
    ) -> tuple[tuple[MessageRef, ...], Reply | None]:
        """Ask the engine, showing how far it is; return the reply and the messages to put it in.

        Where nobody called the bot no sign of work is shown, and what it is not sure of has no reply.
        """
        key = message.key
        quiet = message.unasked == "questions"
        silent = quiet

        async def note(now: tuple[MessageRef, ...]) -> None:
            await self._conversations.posted(key, now)

        product = self._engine.product.name
        opened = parts if quiet else await _whole(self._open(chat, message, parts))
        show = Show(chat, opened, product, note, message.ref)
        try:
            # a question for another release stands alone
            history = () if message.release or quiet else await self.history(chat, message.ref)
            question = Question(
                text=message.text,
                asker=message.author.id,
                channel=message.ref.channel_key,
                scope=message.scope,
                history=tuple(history),
                release=message.release,
                unasked=quiet,
                language=message.language,
                authors=message.authors,
            )
            answer = await self._engine.answer(question, show)
            silent = quiet and answer.route == "abstain"
            reply = replace(compose(answer, product), controls=self._controls(answer, message))
            reply = await self._opted_out.dressed(reply, message.author.id)
        except PlatformError:
            raise
        except ThreadloreError as error:
            log.error("answering %s failed: %s", key, error)
            reply = Reply(_(error.told))
        except Exception:  # whoever asked must not be left with a sign of work
            log.exception("answering %s failed", key)
            reply = Reply(_(ThreadloreError.told))
        finally:
            await show.finish()
        return show.parts, None if silent else reply

    def _controls(self, answer: Answer, message: Message) -> tuple[Control, ...]:
        return controls(answer, self._engine.ready, self.to_person(message.ref, message.scope))

    async def _open(
        self, chat: Chat, message: Message, parts: tuple[MessageRef, ...]
    ) -> tuple[MessageRef, ...]:
        """Show that work goes on, in the messages of an earlier reply if there are any."""
        waiting = Reply(_(WORKING), final=False)
        if parts:
            try:
                return await chat.edit(parts, waiting)
            except PlatformError as error:
                log.info("an earlier reply cannot be edited, so there will be a new one: %s", error)
        parts = await chat.post(message.ref, waiting)
        await self._conversations.posted(message.key, parts)
        return parts

    async def _close(
        self, chat: Chat, message: Message, parts: tuple[MessageRef, ...], reply: Reply
    ) -> tuple[MessageRef, ...]:
        """Say the whole answer and note that the question is settled."""
        parts = await (chat.edit(parts, reply) if parts else chat.post(message.ref, reply))
        await self._conversations.posted(message.key, parts)
        await self._conversations.answered(message.key, reply.answer_id)
        return parts

    async def _keep_quiet(self, chat: Chat, key: str, parts: tuple[MessageRef, ...]) -> None:
        """Leave nothing of an answer that nobody asked for and that would not be sure, nor of the post."""
        await self._conversations.answered(key, "")
        if parts:
            await chat.delete(parts)
            await self._conversations.posted(key, ())
        await self._conversations.emptied(key)

    async def history(self, chat: Chat, ref: MessageRef) -> tuple[Turn, ...]:
        """Read what was said before a message; the thread's last answer tells which release it spoke for.

        Without what people said who opted out or were forgotten since, and what the bot said in their words.
        """
        history = await chat.history(ref, TURNS)
        given = await self._conversations.answers_in(ref.conversation, TURNS)
        release = await self._engine.given.release_of(given[0]) if given else ""
        authors = tuple(sorted(await self._engine.given.whose(given)))
        of = await self._conversations.answers_of([turn.message for turn in history if turn.message])
        emptied = await self._engine.given.emptied(list(of.values()))
        turns = [
            turn if turn.role == "user" else replace(turn, authors=authors)
            for turn in self._opted_out.heard(history)
            if of.get(turn.message) not in emptied
        ]
        for place in range(len(turns) - 1, -1, -1):
            if turns[place].role == "assistant":
                turns[place] = replace(turns[place], release=release)
                break
        return tuple(turns)


async def _whole(work: Awaitable[_T]) -> _T:
    """Await work to its end even if the caller is cancelled: what was posted must be known."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


async def tell(chat: Chat, parts: tuple[MessageRef, ...], text: str) -> None:
    """Replace what stands in messages of the bot, if the platform takes it in good time."""
    if parts:
        try:
            await asyncio.wait_for(chat.edit(parts, Reply(text)), GOODBYE_SECONDS)
        except (PlatformError, TimeoutError) as error:
            log.info("a reply could not be changed: %s", error)
