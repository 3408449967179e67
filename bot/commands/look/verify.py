"""`verify`: corpora, indexes, pairs made of documents, and memory, against the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


@dataclass(frozen=True, slots=True)
class Verified:
    """Sentences about what is as it should be, and about what is wrong."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]


async def run(app: Application, given: Given) -> Result:
    """Compare everything; the code is 1 where something is wrong."""
    from bot.commands.verification import verified

    right, wrong = await verified(app)
    notes = (f"{len(wrong)} things are wrong.",) if wrong else ()
    return Result(Verified(tuple(right), tuple(wrong)), notes, code=1 if wrong else 0)


def text(result: Result) -> Sequence[str]:
    """Say what is right, then what is wrong."""
    return (*result.data.right, *result.data.wrong)


COMMAND = Command(
    "verify",
    "look",
    "check corpora, indexes, pairs and memory; exit status 1 where something is wrong",
    run,
    text,
    who="owner",
    where="terminal",
    rank=60,
)
