"""`memory retire`: take a pair out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result
from bot.commands.memory.show import ID, found

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Take a pair out of every store. Raises UsageError where there is none."""
    from bot.rendering.pairs import named

    pair = await found(app, given["id"])
    await app.memory.retire([pair.id])
    return Result({"id": pair.id, "named": named(pair)})


def text(result: Result) -> Sequence[str]:
    """Say that it is out."""
    return [f"Retired {result.data['named']}: it is in no store any more, whatever its votes are."]


async def asks(app: Application, given: Given) -> str:
    """Say what it does. Raises UsageError where there is no such pair."""
    await found(app, given["id"])
    return (
        f"This takes {given['id']} out of memory: no vote brings it back, only `/threadlore memory restore`."
    )


COMMAND = Command(
    "memory retire",
    "admin",
    "take a pair out: no vote brings it back",
    run,
    text,
    (ID,),
    changes=True,
    audit=lambda given: (given.get("id"),),
    asks=asks,
    sure="Yes, retire it",
    rank=32,
)
