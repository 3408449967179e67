"""Slash commands, buttons and forms: carried out once, then answered."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any

from bot.commands.slash.confirmations import CONFIRM
from bot.commands.slash.table import SlashCommands
from bot.conversation.answering import RESTARTING, Answering
from bot.conversation.desk import Desk, paused_text
from bot.conversation.limits import wait_text
from bot.home.logs import about
from bot.interactions.ledger import Answered, InteractionLedger, Kind, Silent
from bot.interactions.own_pages import OwnPagesHandler
from bot.interactions.presses import APART, ASK_AGAIN, VOTES, Presses
from bot.interactions.sharing import alone
from bot.ports.chat import (
    DOWN,
    UP,
    Chat,
    Command,
    Press,
    Reaction,
    Reply,
    Responder,
    command_of,
    packed,
    press_of,
)
from bot.privacy.opted_out import NOT_TOLD
from bot.rendering.answers import THINK, WORKING
from bot.rendering.own_page import CONTROLS
from core.domain import Question
from core.errors import PlatformError, StorageUnavailable, ThreadloreError
from core.languages import N_, _, speaking, spoken
from core.ports import Claim
from core.ports.cluster import STILL

log = logging.getLogger(__name__)

VOTE_TRIES = 10
"""Processes that may end while they count a vote by button."""
LOST = N_("I was restarted before I could do this. Please try again.")

_WHY = re.compile(r"(?:--|[—–])why(?!\S)", re.IGNORECASE)
"""What asks for the reasoning, too; phones write two hyphens as a dash."""


def _asks_why(text: str) -> tuple[bool, str]:
    """Return whether a question begins or ends with `--why`, and the question."""
    words = text.split()
    for at in (0, -1):
        if words and _WHY.fullmatch(words[at]):
            rest = text.strip()[len(words[at]) :] if at == 0 else text.strip()[: -len(words[at])]
            return True, rest.strip()
    return False, text.strip()


class InteractionHandler:
    """Carries out commands and presses, and tells the person the result."""

    def __init__(
        self,
        desk: Desk,
        answering: Answering,
        slash: SlashCommands,
        presses: Presses,
        own_pages: OwnPagesHandler,
    ) -> None:
        self._desk = desk
        self._answering = answering
        self._slash = slash
        self._presses = presses
        self._own_pages = own_pages
        self._ledger = InteractionLedger(desk.conversations, desk.opted_out)
        self._running: set[asyncio.Task[Any]] = set()

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        """Carry out a slash command and answer the person who typed it."""
        about(command.event, platform=chat.name, kind=command.scope.kind, command=command.name)
        key = await self._begun(chat, "command", command.event, command.person.id, responder)
        if key and await self._filled(command, responder, key):
            await self._commanded(chat, command, responder, key)

    async def _filled(self, command: Command, responder: Responder, key: str) -> bool:
        """Note a question first of all, so that it is answered even if the process dies now.

        Returns False where nothing can be written down; the person is told.
        """
        if command.name != "ask" or self._desk.opted_out.is_out(command.author):
            return True
        try:
            told = {"command": packed(command), "authors": sorted(await self._authors(command))}
            await self._ledger.fill(key, command.person.id, responder.address, **told)
        except StorageUnavailable as error:
            log.error("a question cannot be noted: %s", error)
            await self._say(responder, _(error.told))
            await self._ledger.done(key)
            return False
        return True

    async def _commanded(self, chat: Chat, command: Command, responder: Responder, key: str) -> None:
        # what people ask is never in the log
        asks = command.name == "ask"
        answered = Answered(responder, lambda: self._ledger.done(key))
        with speaking(await self._desk.locales.of_text(command.text if asks else "", command.person)):
            work = self._carry_out(chat, command, answered)
            is_done = await self._attend(work, f"/{command.name}", answered, kindly=asks, again=asks)
        await (self._ledger.done(key) if is_done else self._ledger.keep(key))

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Handle a pressed button or a submitted form, and answer the person."""
        about(press.event, platform=chat.name, kind=press.scope.kind, control=press.name)
        if key := await self._begun(chat, "press", press.event, press.person.id, responder):
            await self._pressed_by(chat, press, responder, key)

    async def _pressed_by(self, chat: Chat, press: Press, responder: Responder, key: str) -> None:
        votes, lasting = press.name in VOTES, press.name == APART
        answered = responder if votes else Answered(responder, lambda: self._ledger.done(key))

        async def work() -> None:
            told = noted = press
            if votes:  # done again after a restart it must not be the other way round
                told = noted = replace(press, again=await self._presses.takes_back(press))
            elif lasting:
                noted = replace(press, again=True)
            if votes or lasting:
                await self._ledger.fill(key, press.person.id, responder.address, press=packed(noted))
            await self._pressed(chat, told, answered)

        with speaking(await self._desk.locales.of_answer(press.value.partition(" ")[0], press.person)):
            kindly = press.name != CONFIRM
            again = votes or lasting
            is_done = await self._attend(work(), f"pressing {press.name}", answered, kindly, again=again)
        await (self._ledger.done(key) if is_done else self._ledger.keep(key))

    async def _begun(self, chat: Chat, kind: Kind, event: str, account: str, responder: Responder) -> str:
        """Return the key it was noted under; empty if it was handled before or cannot be noted."""
        key = self._ledger.key(chat.name, kind, event)
        try:
            await self._ledger.take(key, kind, event, account, responder.address)
        except StorageUnavailable as error:
            log.error("a %s cannot be noted: %s", kind, error)
            await self._say(responder, _(error.told))
            return ""
        return key if self._ledger.begin(key) else ""

    async def take(
        self,
        chat: str,
        kind: Kind,
        event: str,
        account: str,
        to: Mapping[str, Any],
        press: Press | None = None,
    ) -> bool:
        """Note a command or a press before it is acknowledged; return False if it was noted before.

        Raises StorageUnavailable: then it must not be acknowledged as done.
        """
        what = {"press": packed(press)} if press and press.name in VOTES and not press.fields else {}
        return await self._ledger.take(self._ledger.key(chat, kind, event), kind, event, account, to, **what)

    async def resume(self, chat: Chat) -> None:
        """Answer commands and presses that a process that died had noted.

        Questions are answered, votes and *Not my question* counted; for anything else the person is told to
        repeat it. What was being shared comes last, for that may take long.
        """
        for claim in sorted(await self._ledger.left(chat), key=lambda one: one.kind == "share"):
            try:
                await self._resumed(chat, claim)
            except Exception:  # whatever it is, the others wait behind it; the next process tries again
                log.exception("%s, which an earlier process left, cannot be dealt with", claim.message)

    async def _resumed(self, chat: Chat, claim: Claim) -> None:
        """Answer one of them."""
        if claim.kind == "share":
            return await self._presses.sharing.resume(chat, claim)
        responder, key = chat.responder(claim.payload.get("to", {})), claim.message
        command, press = claim.payload.get("command"), claim.payload.get("press")
        # a vote is short work, and nobody may be told that it was lost
        is_vote = press is not None and press["name"] in VOTES and claim.tries < VOTE_TRIES
        again = is_vote or not claim.is_hopeless
        if press and again:
            await self._desk.conversations.tried(key)
            await self._pressed_by(chat, press_of(press), responder or Silent(), key)
        elif command and again and responder is not None:
            await self._desk.conversations.tried(key)
            await self._commanded(chat, command_of(command), responder, key)
        else:
            is_told = responder is None or await self._say(responder, _(LOST))
            await (self._ledger.done(key) if is_told else self._ledger.keep(key))

    async def _attend(
        self,
        doing: Coroutine[Any, Any, None],
        what: str,
        responder: Responder,
        kindly: bool,
        again: bool = False,
    ) -> bool:
        """Await an action; report errors in plain words (`kindly`) or with an admin's details.

        Returns False if it is to be done `again` after the next start: the bot stops first, or the platform
        takes nothing now.
        """
        told = STILL.set(self._desk.cluster.sure)
        work = asyncio.create_task(doing)
        STILL.reset(told)
        self._running.add(work)
        try:
            await work
        except asyncio.CancelledError:
            work.cancel()
            if not self._answering.stopping:
                raise
            await self._say(responder, _(RESTARTING if again else ASK_AGAIN), final=not again)
            return not again
        except ThreadloreError as error:
            log.warning("%s: %s", what, error)
            if not self._desk.cluster.is_sure:  # another process does it
                return False
            return await self._say(responder, _(error.told) if kindly else str(error)) or not again
        except Exception:  # the person who typed it must not be left with a sign of work
            log.exception("%s failed", what)
            return await self._say(responder, _(ThreadloreError.told)) or not again
        finally:
            self._running.discard(work)
        return True

    @staticmethod
    async def _say(responder: Responder, text: str, final: bool = True) -> bool:
        """Answer the waiting person. Returns False where the platform may take it later."""
        try:
            await responder.reply(Reply(text, final=final))
        except PlatformError as error:
            log.warning("who waits for an answer could not be told: %s", error)
            return not error.retryable
        return True

    async def _pressed(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Carry out a press; one that asks again is refused during a pause."""
        asks_again = press.name in ("release", APART, THINK)
        if asks_again and (pause := await self._desk.pausing.of(press.ref.channel_key)):
            await responder.reply(Reply(paused_text(pause)))
            return
        if press.name == CONFIRM:
            await self._slash.pressed(press, responder)
            return
        if press.name in CONTROLS:
            await self._own_pages.pressed(chat, press, responder)
            return
        if await self._desk.opted_out.pressed(press, responder):
            return
        answer_id = press.value.partition(" ")[0]
        if press.name == "delete":
            await self._deleted(chat, press, answer_id, responder)
            return
        try:
            await self._presses.carry_out(chat, press, responder)
        except StorageUnavailable:
            if press.name in VOTES:  # the platform may show the vote as an emoji already
                emoji = UP if VOTES[press.name] else DOWN
                await chat.take_back(Reaction(press.ref, press.person, emoji, True))
            raise
        await self._desk.unsolicited.noticed(answer_id)

    async def _deleted(self, chat: Chat, press: Press, answer_id: str, responder: Responder) -> None:
        """Delete an answer; log it if an admin deletes somebody else's."""
        before = await self._desk.conversations.claim_of(answer_id)
        await self._presses.carry_out(chat, press, responder)
        if await self._desk.conversations.claim_of(answer_id) is not None:
            return
        await self._desk.unsolicited.deleted(answer_id)
        if before is not None and not self._desk.opted_out.is_asker(before, press.person.id):
            await self._slash.note(press.person, press.ref, f"delete {answer_id}")

    async def _carry_out(self, chat: Chat, command: Command, responder: Responder) -> None:
        if command.name != "ask":
            await self._slash.run(command, responder, chat)
            return
        why, text = _asks_why(command.text)
        if not text:
            said = _("Write your question after the command: `/ask How do I …?`")
            await responder.reply(await self._desk.hint.with_examples(said, command.where, command.scope))
            return
        where = command.where.channel_key
        if self._desk.opted_out.is_out(command.author):
            await responder.reply(Reply(_(NOT_TOLD)))
            return
        if pause := await self._desk.pausing.of(where):
            await responder.reply(Reply(paused_text(pause)))
            return
        if refused := await self._desk.limits.wait(command.person.id, where):
            await responder.reply(Reply(wait_text(refused.seconds)))
            return
        await responder.reply(Reply(_(WORKING), final=False))
        authors = tuple(sorted(await self._authors(command)))
        asked = Question(
            text,
            command.person.id,
            where,
            command.scope,
            release=command.release,
            language=spoken(),
            authors=authors,
            why=why,
        )
        answer = await self._desk.engine.answer(asked)
        reply = alone(answer, self._desk.engine.product.name, command.where, command.scope)
        await responder.reply(await self._desk.opted_out.dressed(reply, command.person.id))

    async def _authors(self, command: Command) -> set[str]:
        """Return the authors of the words that are asked, where they are somebody else's."""
        if {command.author, *command.authors} <= {"", command.person.id}:
            return set()
        answer_id = await self._desk.conversations.answer_of(command.where.key)
        repeated = await self._desk.engine.answer_log.whose([answer_id]) if answer_id else frozenset()
        return {*(command.authors or (command.author,)), *repeated}

    def stop(self) -> None:
        """Cancel what is running and tell those who wait for it."""
        for task in self._running:
            task.cancel()
