"""`memory verify`: check memory against the votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


@dataclass(frozen=True, slots=True)
class Verified:
    """Sentences about what is wrong, and how many pairs are placed and recalled."""

    wrong: tuple[str, ...]
    placed: int
    recalled: int


async def run(app: Application, given: Given) -> Result:
    """Compare; the code is 1 where something is wrong."""
    wrong = tuple(await app.memory.verify() + await app.upkeep.broken())
    stores = (await app.memory.placed()).values()
    data = Verified(wrong, len(stores), sum(1 for _, is_kept in stores if is_kept))
    repair = f"`{given.program} memory rebuild` derives every placement from the votes again."
    notes = (f"{len(wrong)} things are not as the votes say; {repair}",) if wrong else ()
    return Result(data, notes, code=1 if wrong else 0)


def text(result: Result) -> Sequence[str]:
    """Say what is wrong, or that all is well."""
    data: Verified = result.data
    if data.wrong:
        return data.wrong
    return [f"All is as the votes say: {data.placed} pairs placed, {data.recalled} of them recalled."]


COMMAND = Command("memory verify", "admin", "check memory against the votes", run, text, rank=40)
