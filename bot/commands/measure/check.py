"""`check`: which upvoted answers and gold questions a change of the documentation breaks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Compare the folder with the index; the table streams along. Raises ThreadloreError."""
    code = 0

    async def keep(message: dict[str, Any]) -> None:
        nonlocal code
        if "code" in message:
            code = message["code"]
        else:
            await given.along(message)

    # loaded now, for nothing that serves needs it
    await import_module("evaluation.commands").carry_out(app, {**given.values, "command": "check"}, keep)
    return Result(code=code)


COMMAND = Command(
    "check",
    "measure",
    "which upvoted answers a change of the documentation breaks; exit status 1 where one does",
    run,
    options=(
        Option("release", "The release whose pages change", required=True, dashed=True),
        Option(
            "changed",
            "The changed files, as `git diff --name-only` names them; every page when left out",
            named=True,
            many=True,
            metavar="PATH ...",
        ),
        Option(
            "docs",
            "The checkout with the change, or the folder of its pages; this folder when left out",
            kind="path",
            named=True,
            metavar="DIR",
            default=".",
        ),
        Option("gold", "Also check these labelled questions", kind="path", named=True, metavar="GOLD.jsonl"),
    ),
    who="owner",
    where="terminal",
    has_json=False,
    rank=72,
)
