"""`memory export` writes all pairs to a file; `memory import` brings those that are known to be good."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Given, Option, Result, Sent, at_terminal
from bot.commands.memory.show import AT_ONCE
from core.text.plurals import counted, plural

if TYPE_CHECKING:
    from bot.commands.importing import Brought
    from bot.operations.application import Application
    from core.settings import Settings


async def export_pairs(app: Application, given: Given) -> Result:
    """Return what is written of every pair that is not retired."""
    from core.memory.import_export import written

    rows = []
    for place, pair in enumerate(await app.memory.everything()):
        if place % AT_ONCE == 0:
            await asyncio.sleep(0)
        if pair.aside != "retired":
            rows.append(written(pair, app.memory.thresholds))
    return Result(rows, (f"Exported {counted(len(rows), 'pair')}.",))


def export_text(result: Result) -> Sequence[str]:
    """Write each as JSON on a line."""
    from bot.commands.answers import json_text

    return [json_text(row) for row in result.data]


def export_here(settings: Settings, options: Namespace) -> Sent:
    """Have the lines written to the file, or to standard output."""
    from bot.privacy.exports import note
    from core.errors import UsageError
    from core.system.private_files import private_folder

    request = {"command": "memory", "action": "export"}
    if str(options.file) == "-":
        return Sent(request)
    folder = options.file.absolute().parent
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}; make it, or name a file in another one.")
    note(private_folder(settings.home), options.file)
    return Sent(request, options.file)


EXPORT = at_terminal(
    "memory export",
    "admin",
    "write all pairs to a file that `import` reads",
    export_pairs,
    export_text,
    (Option("file", "JSONL file to write; - for standard output", required=True, kind="path"),),
    here=export_here,
    has_json=False,
    rank=42,
)


async def import_pairs(app: Application, given: Given) -> Result:
    """Bring in pairs from JSONL or CSV; lines that cannot be used are told and left out."""
    from bot.commands.importing import brought

    data, bad = await brought(app, given["text"], given.get("name") or "")
    notes = tuple(f"line {line.line} was left out: {line.reason}" for line in bad)
    return Result(data, notes, code=1 if bad else 0)


def import_text(result: Result) -> Sequence[str]:
    """Say what came of it."""
    data: Brought = result.data
    said = [
        f"Imported {counted(data.imported, 'pair')}",
        f"{data.merged} merged with a better one that is as good as the same" if data.merged else "",
        f"{data.replaced} replaced what was imported under their id" if data.replaced else "",
        f"{data.already} {plural(data.already, 'was', 'were')} there already" if data.already else "",
        f"{data.not_kept} not kept, MEMORY_LIMIT is reached" if data.not_kept else "",
        f"{counted(data.left_out, 'line')} left out" if data.left_out else "",
    ]
    return [f"{', '.join(part for part in said if part)}."]


def import_here(settings: Settings, options: Namespace) -> Sent:
    """Read the file, and have its text brought in."""
    from core.errors import UsageError
    from core.memory.import_export import decoded

    is_standard = str(options.file) == "-"
    try:
        raw = sys.stdin.buffer.read() if is_standard else options.file.read_bytes()
    except OSError as error:
        told = f"{options.file} cannot be read ({error.strerror}); name a JSONL or CSV file."
        raise UsageError(told) from None
    text = decoded(raw, "Standard input" if is_standard else options.file.name)
    request = {"command": "memory", "action": "import", "text": text}
    return Sent(request | {"name": options.file.name, "json": options.json})


IMPORT = at_terminal(
    "memory import",
    "admin",
    "import questions and answers known to be good",
    import_pairs,
    import_text,
    (
        Option(
            "file",
            "JSONL or CSV: question, answer, and where known release, url, score, id; - for standard input",
            required=True,
            kind="path",
        ),
    ),
    changes=True,
    here=import_here,
    rank=43,
)
