"""Answers in progress: shown as they grow, cancelled and retried, posted whole or not at all."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from bot.conversation.desk import WAIT, Desk, say, whole
from bot.conversation.limits import AT_ONCE, QUOTED_AT_ONCE, Line
from bot.conversation.strays import Strays
from bot.conversation.threads import StreamingReply, Threads
from bot.conversation.undelivered import GOODBYE_SECONDS, Undelivered, tell
from bot.home.logs import about
from bot.ports.chat import Chat, Message, Reply
from bot.rendering.answers import WORKING, compose, controls
from core.domain import Answer, MessageRef, Question, Scope
from core.errors import MessageGone, PlatformError, StorageError, StorageUnavailable, ThreadloreError
from core.languages import N_, _, speaking
from core.ports import PLACE
from core.ports.cluster import STILL

log = logging.getLogger(__name__)

AGAIN_SECONDS = (2.0, 10.0, 30.0, 90.0, 180.0)
"""Pauses before an answer is said again that the platform did not take, because it was down, say."""
RESTARTING = N_("I am being restarted and will answer this when I am back.")


@dataclass(slots=True)
class _Answer:
    """A message being answered, its reply's messages so far (more, `in_doubt`), the answer, and its text."""

    chat: Chat
    message: Message
    parts: tuple[MessageRef, ...]
    found: str = ""
    in_doubt: bool = False
    said: str = ""


class Answering:
    """Asks the engine for each question in a task of its own, and posts what comes of it."""

    def __init__(self, desk: Desk, to_person: Callable[[MessageRef, Scope], bool]) -> None:
        """`to_person` tells if a person can be asked."""
        self._desk = desk
        self._running: dict[str, tuple[_Answer, asyncio.Task[None]]] = {}
        self._held: Counter[str] = Counter()
        self.stopping = False
        self.history = Threads(desk).history
        self.line = Line(QUOTED_AT_ONCE if desk.engine.model is None else AT_ONCE)
        self._strays = Strays(desk.conversations)
        self._undelivered = Undelivered()
        self.to_person = to_person

    def __contains__(self, key: str) -> bool:
        """Return True if the message of that key is being answered."""
        return key in self._running

    def within(self, channel: str) -> list[str]:
        """Return the keys of the messages that are being answered in a channel (`slack:C1`)."""
        return [key for key in self._running if key.startswith(f"{channel}:")]

    def begin(
        self, chat: Chat, message: Message, parts: tuple[MessageRef, ...], found: str = ""
    ) -> asyncio.Task[None]:
        """Start to answer a claimed message, in place of the reply `parts` if there is one.

        `found` is the id of an answer that a dead process found for it, and may have posted.
        """
        answer = _Answer(chat, message, parts, found)
        with speaking(message.language):
            task = asyncio.create_task(self._say(answer))
        self._running[message.key] = (answer, task)
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
                await self._desk.conversations.answered(key, "", ours=True)
                running, gone = self._running.get(key), isinstance(error, MessageGone)
                if running and running[1] is task and not gone:
                    await self._undelivered.tell(running[0].chat, running[0].message, running[0].parts)
        finally:
            if self._running.get(key, (None, None))[1] is task:
                del self._running[key]

    async def cancel(self, key: str) -> None:
        """Cancel an answer; the messages it has posted are known afterwards."""
        _, task = self._running.pop(key, (None, None))
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    @contextmanager
    def holding(self, key: str) -> Iterator[None]:
        """Mark a claim as being worked on by this process, whether or not it leads to an answer."""
        self._held[key] += 1
        try:
            yield
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]

    def holds(self, key: str) -> bool:
        """Return True if this process works on the claim of that key."""
        return key in self._held or key in self._running

    async def stop(self) -> None:
        """Cancel all answers and tell their askers; none of them counts as having ended the process."""
        self.stopping = True
        tasks = {task: key for key, (_, task) in self._running.items()}
        held = {*self._held, *self._running}
        for task in tasks:
            task.cancel()
        if tasks:
            _done, late = await asyncio.wait(tasks, timeout=2 * GOODBYE_SECONDS)
            held -= {tasks[task] for task in late}  # the next process looks for what these still post
        try:
            await self._desk.conversations.spared(held)
        except StorageError as error:
            log.warning("what was under way counts as tried: %s", error)

    async def _say(self, answer: _Answer) -> None:
        """Answer; wait, and say so, while nothing can be saved; raise PlatformError after some retries."""
        key, message, chat = answer.message.key, answer.message, answer.chat
        about(key, platform=chat.name, kind=message.scope.kind)
        pauses = iter((*AGAIN_SECONDS, 0.0))
        while True:
            try:
                await self._look(answer)
                answer_id = await self._answer(answer)
                break
            except PlatformError as error:
                pause = next(pauses)
                if not (error.retryable and pause):
                    raise
                log.warning("could not answer %s, next attempt in %g s: %s", key, pause, error)
                answer.in_doubt |= error.in_doubt or not answer.parts
                await asyncio.sleep(pause)
            except StorageUnavailable as error:
                log.error("could not answer %s, which waits: %s", key, error)
                if self._desk.cluster.is_sure:  # else another process may have answered
                    answer.parts = await whole(say(chat, message.ref, answer.parts, WAIT))
                await self._desk.outage.over()
        if answer_id and not self._desk.opted_out.is_out(message.author.id):
            if message.unasked:
                await self._desk.unsolicited.answered(answer_id, message.ref)
            try:
                await chat.seed_votes(answer.parts[-1])
            except PlatformError as error:  # the answer stands, and people can still vote on it
                log.warning("an answer has no boxes for votes: %s", error)

    async def _look(self, answer: _Answer) -> None:
        """Find what may be posted of an answer though nobody said so, such as after a time-out."""
        if answer.in_doubt:
            answer.parts = await self._strays.under(answer.chat, answer.message, answer.said)
            answer.in_doubt = False

    async def _answer(self, answer: _Answer) -> str:
        """Find an answer and post it; return its id, empty if nothing is posted."""
        told = STILL.set(self._desk.cluster.sure)
        try:
            return await self._answered(answer)
        finally:
            STILL.reset(told)

    async def _answered(self, answer: _Answer) -> str:
        try:
            reply = await self._found(answer) or await self._find(answer)
            await self._look(answer)
        except asyncio.CancelledError:
            with suppress(PlatformError, StorageError):
                await self._look(answer)
            if self.stopping:
                await tell(answer.chat, answer.parts, _(RESTARTING))
            raise
        if reply is None:
            await whole(self._keep_quiet(answer))
            return ""
        await whole(self._close(answer, reply))
        return reply.answer_id

    async def _found(self, answer: _Answer) -> Reply | None:
        """Return the reply of the answer that was found before; None if there is none, or it is not kept."""
        if not answer.found:
            return None
        try:
            found, asked = await self._desk.engine.answer_log.answer(answer.found)
        except KeyError:
            return None
        return await self._composed(found, answer.message) if asked else None

    async def _find(self, answer: _Answer) -> Reply | None:
        """Ask the engine, showing progress; return the reply, None if nothing is posted.

        Where nobody called the bot, no progress is shown and an unsure answer is not posted.
        """
        chat, message, key = answer.chat, answer.message, answer.message.key
        quiet = message.unasked == "questions"
        product = self._desk.engine.product.name

        async def note(now: tuple[MessageRef, ...]) -> None:
            answer.parts = now
            with suppress(StorageError):  # they are noted with the finished answer
                await self._desk.conversations.posted(key, now)

        if not quiet:
            await whole(self._open(answer))
        show = StreamingReply(chat, answer.parts, product, note, message.ref)
        try:
            alone = message.release or quiet  # a question for another release is whole
            history = () if alone else await self.history(chat, message.ref, message.author.id)
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
                after=message.after,
                fresh=message.fresh,
                since=time.time(),
            )
            PLACE.set(show.place)
            async with self.line.turn(question.asker):
                found = await self._desk.engine.answer(question, show)
            if quiet and found.route == "abstain":
                return None
            return await self._composed(found, message)
        except (PlatformError, StorageUnavailable):
            raise
        except ThreadloreError as error:
            log.error("answering %s failed: %s", key, error)
            return Reply(_(error.told))
        except Exception:  # the asker must not be left with a sign of work
            log.exception("answering %s failed", key)
            return Reply(_(ThreadloreError.told))
        finally:
            await show.finish()
            answer.in_doubt |= show.in_doubt

    async def _composed(self, answer: Answer, message: Message) -> Reply:
        """Return the reply of an answer with its controls, as the asker's choices allow."""
        to_person = self.to_person(message.ref, message.scope)
        reply = compose(answer, self._desk.engine.product.name)
        reply = replace(reply, controls=controls(answer, self._desk.engine.ready, to_person))
        asker = message.author.id
        reply = replace(reply, asker="" if self._desk.opted_out.is_out(asker) else asker)
        return await self._desk.opted_out.dressed(reply, asker)

    async def _open(self, answer: _Answer) -> None:
        """Show a sign of work, in the messages of an earlier reply if there is one."""
        message, before, waiting = answer.message, answer.parts, Reply(_(WORKING), final=False)
        await self._hold(answer, before)
        await self._put(answer, waiting)
        await self._desk.conversations.posted(message.key, answer.parts)
        await self._hold(answer, before)

    async def _put(self, answer: _Answer, reply: Reply) -> None:
        """Show a reply in the messages there are, in new ones where somebody deleted those.

        A sign of work takes new ones wherever an earlier reply cannot be edited.
        """
        chat, left = answer.chat, answer.parts
        if left:
            try:
                answer.parts = await chat.edit(left, reply)
                return
            except PlatformError as error:
                gone = isinstance(error, MessageGone)
                if (reply.final and not gone) or (gone and answer.message.unasked):
                    raise  # what nobody asked for and somebody deleted is not wanted
                log.info("a reply cannot be edited, so there will be a new one: %s", error)
            answer.parts = ()
            if gone:
                with suppress(PlatformError):
                    await chat.delete(left)  # what others there are of it
                await self._desk.conversations.posted(answer.message.key, ())
                await self._hold(answer, ())
        answer.parts = await chat.post(answer.message.ref, reply)

    async def _hold(self, answer: _Answer, before: tuple[MessageRef, ...]) -> None:
        """Stop, taking new messages back, where another process answers or the question was deleted."""
        if not await self._desk.conversations.is_ours(answer.message.key):
            if answer.parts != before:
                await answer.chat.delete(answer.parts)
            raise asyncio.CancelledError

    async def _close(self, answer: _Answer, reply: Reply) -> None:
        """Post the whole answer, which is noted before, and note that the question is settled."""
        message, before = answer.message, answer.parts
        await self._hold(answer, before)
        if reply.answer_id and reply.answer_id != answer.found:
            if not await self._desk.conversations.posting(message.key, reply.answer_id):
                raise asyncio.CancelledError
            answer.found = reply.answer_id
        answer.said = reply.markdown
        await self._put(answer, reply)
        await self._hold(answer, before)
        await self._desk.conversations.posted(message.key, answer.parts)
        await self._desk.conversations.answered(message.key, reply.answer_id, message.language, ours=True)

    async def _keep_quiet(self, answer: _Answer) -> None:
        """Keep nothing of an unsure answer that nobody asked for, nor of the post."""
        key = answer.message.key
        await self._desk.conversations.answered(key, "", ours=True)
        if answer.parts:
            await answer.chat.delete(answer.parts)
            await self._desk.conversations.posted(key, ())
        await self._desk.conversations.emptied(key)
