"""`memory restore`: let votes decide again on a retired pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result
from bot.commands.memory.show import ID, found

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ports import Remembered


async def run(app: Application, given: Given) -> Result:
    """Take a pair back in. Raises UsageError for one that is not out, or that stays out."""
    from bot.rendering.pairs import named, standing
    from core.errors import UsageError

    pair = await found(app, given["id"])
    if pair.aside != "retired":
        raise UsageError(f"{named(pair)} is not retired; now {standing(app.memory, pair)}.")
    if pair.origin == "person":
        raise UsageError(
            f"{named(pair)} is what a person wrote, who may have taken it back: a helper's ✅ put anew on "
            "their message brings it back, or the better answer sent once more."
        )
    if newer := await _in_place_of(app, pair):
        raise UsageError(f"{named(pair)} was replaced by {newer} in an import; retire that one first.")
    await app.memory.restore([pair.id])
    now = await found(app, pair.id)
    return Result({"id": pair.id, "named": named(pair), "standing": standing(app.memory, now)})


def text(result: Result) -> Sequence[str]:
    """Say how it stands again."""
    return [f"Restored {result.data['named']}: {result.data['standing']}."]


async def _in_place_of(app: Application, pair: Remembered) -> str:
    """Return the pair that was imported later under the same id for the same question; empty for none."""
    same = (pair.label, pair.release, pair.scope, pair.question)
    for other in await app.memory.everything() if pair.label else ():
        if not other.aside and (other.label, other.release, other.scope, other.question) == same:
            return other.id
    return ""


COMMAND = Command(
    "memory restore",
    "admin",
    "let votes decide again on a retired pair",
    run,
    text,
    (ID,),
    changes=True,
    audit=lambda given: (given.get("id"),),
    rank=33,
)
