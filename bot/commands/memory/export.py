"""`memory export`: write all pairs to a file that `memory import` reads."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result, Sent
from bot.commands.memory.list_pairs import AT_ONCE

if TYPE_CHECKING:
    from bot.operations.application import Application
    from core.settings import Settings


async def run(app: Application, given: Given) -> Result:
    """Return what is written of every pair that is not retired."""
    from core.memory.exchange import written

    rows = []
    for place, pair in enumerate(await app.memory.everything()):
        if place % AT_ONCE == 0:
            await asyncio.sleep(0)
        if pair.aside != "retired":
            rows.append(written(pair, app.memory.thresholds))
    return Result(rows, (f"Exported {len(rows)} pairs.",))


def text(result: Result) -> Sequence[str]:
    """Write each as JSON on a line."""
    from bot.commands.answers import json_text

    return [json_text(row) for row in result.data]


def here(settings: Settings, options: Namespace) -> Sent:
    """Have the lines written to the file, or to standard output."""
    from bot.privacy.exports import note
    from core.system.private_files import private_folder

    request = {"command": "memory", "action": "export"}
    if str(options.file) == "-":
        return Sent(request)
    note(private_folder(settings.home), options.file)
    return Sent(request, options.file)


COMMAND = Command(
    "memory export",
    "admin",
    "write all pairs to a file that `import` reads",
    run,
    text,
    (Option("file", "JSONL file to write; - for standard output", required=True, kind="path"),),
    who="owner",
    where="terminal",
    here=here,
    has_json=False,
    rank=42,
)
