"""`tickets`: questions that wait for a person."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Return what people were asked and have not resolved."""
    return Result(await app.escalations.waiting())


def text(result: Result) -> Sequence[str]:
    """List them with how long they wait."""
    from bot.escalation.texts import listed

    return [listed(result.data, time.time())]


COMMAND = Command(
    "tickets",
    "look",
    "list the questions that were put to a person and are open",
    run,
    text,
    where="chat",
    rank=15,
)
