"""`memory renew`: let a stale pair be reused again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result
from bot.commands.memory.show import ID

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Renew it with its own words, or with what would be answered now. Raises UsageError."""
    from core.errors import UsageError

    pair = await app.memory.find(given["id"])
    waiting = {item.pair.id: item for item in await app.stale_review.waiting()}
    if pair is None or pair.id not in waiting:
        raise UsageError(f"No stale pair has the id {given['id']}; `threadlore memory stale` lists them.")
    if problem := await app.stale_review.renew(waiting[pair.id], bool(given.get("new"))):
        raise UsageError(problem)
    return Result({"id": pair.id, "is_new": bool(given.get("new"))})


def text(result: Result) -> Sequence[str]:
    """Say with which words."""
    words = "with the new answer" if result.data["is_new"] else "with the words it had"
    return [f"Renewed {result.data['id']}, {words}: it is reused again as its votes say."]


COMMAND = Command(
    "memory renew",
    "admin",
    "let a stale pair be reused again",
    run,
    text,
    (ID, Option("new", "With what would be answered now", kind="flag")),
    changes=True,
    audit=lambda given: (given.get("id"),),
    rank=35,
)
