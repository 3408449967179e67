"""`memory restore`: let votes decide again on a retired pair, or a pair answer a question again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result
from bot.commands.memory.show import ID, found

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.ports import Remembered

QUESTION = Option(
    "question",
    "Number of a question that is not its own, as `memory show` lists them: let the pair answer it again",
    kind="number",
    named=True,
    metavar="N",
)


async def run(app: Application, given: Given) -> Result:
    """Take a pair back in. Raises UsageError for one that is not out, or that stays out."""
    from bot.rendering.pairs import named, standing
    from core.errors import UsageError

    pair = await found(app, given["id"])
    if (number := given.get("question")) is not None:
        apart = await app.memory.told_apart(pair.id)
        if not 1 <= number <= len(apart):
            raise UsageError(f"{named(pair)} has no question {number}; `memory show {pair.id}` lists them.")
        await app.memory.take_back(apart[number - 1])
        return Result({"id": pair.id, "named": named(pair), "question": number})
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
    if "question" in result.data:
        return [f"Taken back: {result.data['named']} may answer that question again."]
    return [f"Restored {result.data['named']}: {result.data['standing']}."]


async def _in_place_of(app: Application, pair: Remembered) -> str:
    """Return the pair that was imported later under the same id for the same question; empty for none."""
    same = (pair.label, pair.release, pair.scope, pair.question)
    for other in await app.memory.everything() if pair.label else ():
        if not other.aside and (other.label, other.release, other.scope, other.question) == same:
            return other.id
    return ""


def _numbered(given: Given) -> Sequence[str]:
    """Return the words that name a question."""
    number = given.get("question")
    return () if number is None else ("--question", str(number))


COMMAND = Command(
    "memory restore",
    "admin",
    "let votes decide again on a retired pair, or take back one *Not my question*",
    run,
    text,
    (ID, QUESTION),
    changes=True,
    audit=lambda given: (given.get("id"), *_numbered(given)),
    rank=33,
)
