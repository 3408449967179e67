"""Slash commands, presses and forms: carried out once, and answered to whoever did it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from bot.answering import Answering
from bot.chat import Chat, Command, Press, Reply, Responder
from bot.confirmations import CONFIRM
from bot.hint import Hint
from bot.limits import Limits, wait_text
from bot.logs import about
from bot.opted_out import NOT_TOLD, OptedOut
from bot.pausing import Pausing, paused_text
from bot.presses import ASK_AGAIN, Presses
from bot.render import WORKING
from bot.sharing import alone
from bot.slash import SlashCommands
from bot.tongues import Tongues
from core.domain import Question
from core.engine import Engine
from core.errors import ThreadloreError
from core.languages import _, speaking, spoken
from core.noise import Noise
from core.ports import Claim, ConversationStore

log = logging.getLogger(__name__)


class Attending:
    """Does what somebody wants of the bot itself, and tells them what came of it."""

    def __init__(
        self,
        engine: Engine,
        conversations: ConversationStore,
        answering: Answering,
        slash: SlashCommands,
        presses: Presses,
        limits: Limits,
        pausing: Pausing,
        opted_out: OptedOut,
        tongues: Tongues,
        noise: Noise,
        hint: Hint,
    ) -> None:
        self._engine = engine
        self._conversations = conversations
        self._answering = answering
        self._slash = slash
        self._presses = presses
        self._limits = limits
        self._pausing = pausing
        self._opted_out = opted_out
        self._tongues = tongues
        self._noise = noise
        self._hint = hint
        self._running: set[asyncio.Task[Any]] = set()

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        """Carry out a slash command and answer whoever typed it."""
        about(command.event, platform=chat.name, kind=command.scope.kind, command=command.name)
        if await self.is_new(command.event):
            # what people ask is never in the log
            asks = command.name == "ask"
            what = f"/{command.name}"
            text = command.text if asks else ""
            with speaking(await self._tongues.of_text(text, command.person)):
                await self._attend(self._carry_out(chat, command, responder), what, responder, kindly=asks)

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Carry out a press of a control, or a form that was sent, and answer whoever did it."""
        about(press.event, platform=chat.name, kind=press.scope.kind, control=press.name)
        if await self.is_new(press.event):
            work = self._pressed(chat, press, responder)
            with speaking(await self._tongues.of_answer(press.value.partition(" ")[0], press.person)):
                await self._attend(work, f"pressing {press.name}", responder, kindly=press.name != CONFIRM)

    async def _attend(
        self, doing: Coroutine[Any, Any, None], what: str, responder: Responder, kindly: bool
    ) -> None:
        """Wait for what somebody wants; tell them of an error in their words (`kindly`) or in an admin's."""
        work = asyncio.create_task(doing)
        self._running.add(work)
        try:
            await work
        except asyncio.CancelledError:
            work.cancel()
            if not self._answering.stopping:
                raise
            await responder.reply(Reply(_(ASK_AGAIN)))
        except ThreadloreError as error:
            log.warning("%s: %s", what, error)
            await responder.reply(Reply(_(error.told) if kindly else str(error)))
        except Exception:  # whoever typed it must not be left with a sign of work
            log.exception("%s failed", what)
            await responder.reply(Reply(_(ThreadloreError.told)))
        finally:
            self._running.discard(work)

    async def _pressed(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Carry out a press; one that asks anew waits until a pause is over."""
        if press.name == "release" and (pause := await self._pausing.of(press.ref.channel_key)):
            await responder.reply(Reply(paused_text(pause)))
            return
        if press.name == CONFIRM:
            await self._slash.pressed(press, responder)
            return
        if await self._opted_out.pressed(press, responder):
            return
        answer_id = press.value.partition(" ")[0]
        if press.name == "delete":
            await self._deleted(chat, press, answer_id, responder)
            return
        await self._presses.carry_out(chat, press, responder)
        await self._noise.noticed(answer_id)

    async def _deleted(self, chat: Chat, press: Press, answer_id: str, responder: Responder) -> None:
        """Delete an answer; that an admin did it to somebody else's is written down."""
        before = await self._conversations.claim_of(answer_id)
        await self._presses.carry_out(chat, press, responder)
        if await self._conversations.claim_of(answer_id) is not None:
            return
        await self._noise.deleted(answer_id)
        if before is not None and not self._opted_out.is_asker(before, press.person.id):
            await self._slash.note(press.person, press.ref, f"delete {answer_id}")

    async def _carry_out(self, chat: Chat, command: Command, responder: Responder) -> None:
        if command.name != "ask":
            await self._slash.run(command, responder, chat)
            return
        if not command.text.strip():
            said = _("Write your question after the command: `/ask How do I …?`")
            await responder.reply(await self._hint.with_examples(said, command.where, command.scope))
            return
        where = command.where.channel_key
        if self._opted_out.is_out(command.author):
            await responder.reply(Reply(_(NOT_TOLD)))
            return
        if pause := await self._pausing.of(where):
            await responder.reply(Reply(paused_text(pause)))
            return
        if seconds := self._limits.wait(command.person.id, where):
            await responder.reply(Reply(wait_text(seconds)))
            return
        await responder.reply(Reply(_(WORKING), final=False))
        authors = tuple(sorted(await self._authors(command)))
        asked = Question(
            command.text, command.person.id, where, command.scope, language=spoken(), authors=authors
        )
        answer = await self._engine.answer(asked)
        reply = alone(answer, self._engine.product.name, command.where, command.scope)
        await responder.reply(await self._opted_out.dressed(reply, command.person.id))

    async def _authors(self, command: Command) -> set[str]:
        """Return whose words are asked, of a message of somebody else; the bot repeats those of others."""
        if command.author in ("", command.person.id):
            return set()
        answer_id = await self._conversations.answer_of(command.where.key)
        repeated = await self._engine.given.whose([answer_id]) if answer_id else frozenset()
        return {command.author, *repeated}

    async def is_new(self, event: str) -> bool:
        """Claim an event of which nothing but its id is kept."""
        return not event or await self._conversations.claim(Claim("", "", "", 0.0), event)

    def stop(self) -> None:
        """Give up what is running; whoever waits for it is told."""
        for task in self._running:
            task.cancel()
