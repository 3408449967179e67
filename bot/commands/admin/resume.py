"""`resume`: answer questions again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.admin.pause import CHANNEL, HERE, place_of
from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """End the pause of a place; in chat that of this channel where nothing else is paused."""
    from bot.commands.pausing import end_pause

    return Result(await end_pause(app.pauses, place_of(given), given.channel))


def text(result: Result) -> Sequence[str]:
    """Say where questions are answered again."""
    from bot.commands.pausing import resumed_text

    return [resumed_text(result.data)]


COMMAND = Command(
    "resume",
    "admin",
    "answer questions again",
    run,
    text,
    options=(HERE, CHANNEL),
    changes=True,
    audit=lambda given: (given.get("channel"),),
    rank=21,
)
