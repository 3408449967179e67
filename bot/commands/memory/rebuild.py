"""`memory rebuild`: derive every placement from the votes again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Derive them, and say whether they are as before."""
    before = await app.memory.placed()
    await app.memory.rebuild()
    after = await app.memory.placed()
    return Result({"placements": len(after), "as_before": after == before})


def text(result: Result) -> Sequence[str]:
    """Say how many there are."""
    same = "as before" if result.data["as_before"] else "other than before: please report this"
    return [f"Derived {result.data['placements']} placements from the votes, {same}."]


async def asks(app: Application, given: Given) -> str:
    """Say what it does."""
    return "This derives every placement from the votes again, which takes a while in a large memory."


COMMAND = Command(
    "memory rebuild",
    "admin",
    "derive every placement from the votes again",
    run,
    text,
    changes=True,
    asks=asks,
    sure="Yes, rebuild it",
    rank=41,
)
