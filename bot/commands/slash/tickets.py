"""`/threadlore tickets`: questions that wait for a person."""

from __future__ import annotations

import time

from bot.commands.slash.table import Call, Subcommand
from bot.escalation.texts import listed
from core.ports.escalations import EscalationStore


def ticket_commands(tickets: EscalationStore) -> tuple[Subcommand, ...]:
    """Return the command that lists what people were asked and have not resolved."""

    async def waiting(call: Call) -> None:
        await call.tell(listed(await tickets.waiting(), time.time()))

    return (Subcommand("tickets", "list the questions that were put to a person and are open", waiting),)
