"""Serve people who opted out: quote pages to them, and store nothing of theirs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from bot.ports.chat import Chat, Message, Press, Reaction, Reply, Responder, packed
from core.domain import Turn
from core.errors import PlatformError
from core.languages import N_, _
from core.ports import Claim
from core.privacy.names import Privacy

SO_ANSWERED = N_(
    "*You have opted out: I quote the documentation for you, show your words to no model and keep nothing of "
    "this. `/threadlore opt-in` changes it.*"
)
NOT_COUNTED = N_(
    "You have opted out, so I do not store your votes or notes, and this does not count. "
    "`/threadlore opt-in` changes that."
)
NOT_TOLD = N_("The author of this message has opted out, so I do not read it. Please ask in your own words.")
ALLOWED = ("delete", "why", "confirm")
"""Controls that work for somebody who opted out: they keep nothing."""


class OptedOut:
    """Keeps words and names of those who opted out away from what is kept, and from others' answers."""

    def __init__(self, privacy: Privacy) -> None:
        self._privacy = privacy

    def is_out(self, account: str) -> bool:
        """Return True if the person behind an account opted out."""
        return self._privacy.is_out(account)

    def claim(self, message: Message) -> Claim:
        """Return the claim of a message, without words and names of people who opted out."""
        key, ref, asker = message.ref.key, message.ref, message.author.id
        words = {} if self.is_out(asker) else packed(message)
        return Claim(key, ref.conversation, self.named(asker, key), time.time(), words)

    def named(self, account: str, key: str) -> str:
        """Return how a claim names a person: by a one-way name for that claim alone if they opted out."""
        return self._privacy.names.veil(account, key) if self.is_out(account) else account

    def is_asker(self, claim: Claim, account: str) -> bool:
        """Return True if the person behind an account asked what was claimed."""
        return self._privacy.names.stands_for(claim.asker, account, claim.message)

    def heard(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """Leave out what these people said, and what was said before its author was forgotten, and what the
        bot answered right after that.
        """
        kept: list[Turn] = []
        waits = answered = False
        for turn in turns:
            if turn.role == "assistant" and waits:
                answered = True
            elif turn.role == "user" and self._is_silent(turn):
                waits, answered = True, False
            else:
                waits = waits and not answered
                kept.append(turn)
        return tuple(kept)

    def _is_silent(self, turn: Turn) -> bool:
        return self.is_silent(turn.author, turn.at)

    def is_silent(self, account: str, at: float) -> bool:
        """Return True if nothing of then is kept of somebody: they opted out, or were forgotten since."""
        return self.is_out(account) or 0.0 < at <= self._privacy.forgotten(account)

    async def dressed(self, reply: Reply, account: str) -> Reply:
        """Return a reply without the controls that keep something; the first says how they are served."""
        if not self.is_out(account):
            return reply
        controls = tuple(control for control in reply.controls if control.name == "delete")
        said = reply.markdown
        if await self._privacy.first_time(account, "answer"):
            said = f"{said}\n\n{_(SO_ANSWERED)}"
        return replace(reply, markdown=said, controls=controls)

    async def reacted(self, chat: Chat, reaction: Reaction) -> None:
        """Tell somebody once that their votes are not counted."""
        person = reaction.person
        if not reaction.added or not await self._privacy.first_time(person.id, "vote"):
            return
        if not await chat.whisper(reaction.ref, person, Reply(_(NOT_COUNTED))):
            with suppress(PlatformError):  # who takes no direct messages is told nothing
                await chat.send(person.id.partition(":")[2], Reply(_(NOT_COUNTED)))

    async def pressed(self, press: Press, responder: Responder) -> bool:
        """Tell somebody who opted out why a button does nothing; return False if it works for them."""
        if press.name in ALLOWED or not self.is_out(press.person.id):
            return False
        await responder.reply(Reply(_(NOT_COUNTED)))
        return True
