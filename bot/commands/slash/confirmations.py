"""Ask for confirmation of what cannot be undone: a button, for ten minutes, for one person."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.ports.chat import Control, Press, Reply, Responder
from core.languages import N_, _

CONFIRM = "confirm"
"""The name of the button."""
SECONDS = 600.0
"""How long a button works."""
WAITING = 1000
"""Buttons that are remembered; the oldest go first."""
TOO_LATE = N_(
    "This was done already, or it is too late for it: nothing has been done now. Give the command again."
)
NOT_YOURS = N_("Only the person who gave the command can confirm it.")
Act = Callable[[], Awaitable[str]]
"""Does it, and returns what to say."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    person: str
    until: float
    act: Act


class Confirmations:
    """Keeps the actions that wait for a button; a restart drops them all."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}

    def button(self, person: str, label: str, act: Act) -> Control:
        """Return a button that lets `act` happen once, pressed by that person (`slack:U1`)."""
        now = self._clock()
        self._waiting = {token: entry for token, entry in self._waiting.items() if entry.until > now}
        while len(self._waiting) >= WAITING:
            del self._waiting[next(iter(self._waiting))]
        token = secrets.token_urlsafe(12)
        self._waiting[token] = _Waiting(person, now + SECONDS, act)
        return Control(CONFIRM, label, token)

    async def carry_out(self, press: Press, responder: Responder) -> None:
        """Do what waits for this press, once; raises what doing it raises."""
        entry = self._waiting.get(press.value)
        if entry is None or entry.until <= self._clock():
            await responder.reply(Reply(_(TOO_LATE)))
        elif entry.person != press.person.id:
            await responder.reply(Reply(_(NOT_YOURS)))
        else:
            del self._waiting[press.value]
            await responder.reply(Reply(await entry.act()))
