"""`memory import`: bring questions and answers that are known to be good."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result, Sent

if TYPE_CHECKING:
    from bot.commands.importing import Brought
    from bot.operations.application import Application
    from core.settings import Settings


async def run(app: Application, given: Given) -> Result:
    """Bring in pairs from JSONL or CSV; lines that cannot be used are told and left out."""
    from bot.commands.importing import brought

    data, bad = await brought(app, given["text"], given.get("name") or "")
    notes = tuple(f"line {line.line} was left out: {line.reason}" for line in bad)
    return Result(data, notes, code=1 if bad else 0)


def text(result: Result) -> Sequence[str]:
    """Say what came of it."""
    data: Brought = result.data
    said = [
        f"Imported {data.imported} pairs",
        f"{data.merged} merged with a better one that is as good as the same" if data.merged else "",
        f"{data.replaced} replaced what was imported under their id" if data.replaced else "",
        f"{data.already} were there already" if data.already else "",
        f"{data.not_kept} not kept, MEMORY_LIMIT is reached" if data.not_kept else "",
        f"{data.left_out} lines left out" if data.left_out else "",
    ]
    return [f"{', '.join(part for part in said if part)}."]


def here(settings: Settings, options: Namespace) -> Sent:
    """Read the file, and have its text brought in."""
    is_standard = str(options.file) == "-"
    raw = sys.stdin.buffer.read() if is_standard else options.file.read_bytes()
    request = {"command": "memory", "action": "import", "text": raw.decode("utf-8-sig", "replace")}
    return Sent(request | {"name": options.file.name, "json": options.json})


COMMAND = Command(
    "memory import",
    "admin",
    "bring questions and answers that are known to be good",
    run,
    text,
    (
        Option(
            "file",
            "JSONL or CSV: question, answer, and where known release, url, score, id; - for standard input",
            required=True,
            kind="path",
        ),
    ),
    who="owner",
    where="terminal",
    changes=True,
    here=here,
    rank=43,
)
