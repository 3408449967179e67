"""The commands behind the command line, carried out in whichever process owns the home.

Each takes a request (a dictionary that travels over the socket) and streams `line`, `note`,
`progress` and at last `code` messages.
"""

from __future__ import annotations

import asyncio
from typing import Any

from bot.commands.answers import again, answer_batch, json_text, wrong
from bot.commands.command import Command, Given, Result, Table, plain
from bot.commands.editors import carry_out as editors
from bot.commands.look.status import status_of
from bot.commands.registry import table
from bot.commands.request import checked
from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.operations.audit import DONE, Audit
from core.errors import ThreadloreError, UsageError

__all__ = ["handle", "status_of"]

AT_ONCE = 100
"""Lines that are sent before others are served."""
_OURS = {"batch": answer_batch, "again": again, "wrong": wrong, "editors": editors}
"""What the command line's own programs send: `ask --batch`, `chat` and `mcp`."""


async def handle(
    app: Application, request: dict[str, Any], send: Send, commands: Table | None = None
) -> None:
    """Carry out a request, and write down what changes something; raises ThreadloreError."""
    name, action = str(request.get("command") or ""), str(request.get("action") or "")
    if name in _OURS:
        await _OURS[name](app, request if name == "editors" else checked(request), send)
        return
    known = commands or table()
    command = known.named(name, action) or known.taking(name, "action")
    if command is None or command.run is None:
        there = (
            f"no action '{action}'; `threadlore {name} --help`"
            if action
            else f"no command '{name}'; `threadlore --help`"
        )
        raise UsageError(f"There is {there} lists them.")
    given = Given(checked(request, command), str(request.get("caller") or "cli"), along=send)
    audit, line = Audit(app.audit), command.line(given)
    try:
        result = await command.run(app, given)
        await _tell(command, result, bool(request.get("json")), send)
        if result.problem is not None:
            raise result.problem
    except ThreadloreError as error:
        if line:
            await audit.note(given.who, "", line, f"failed: {error}")
        raise
    if line:
        await audit.note(given.who, "", line, result.outcome or DONE)
    await send({"code": result.code})


async def _tell(command: Command, result: Result, as_json: bool, send: Send) -> None:
    """Send a result in words or as JSON, a row of a list at a time."""
    if result.data is not None:
        for count, line in enumerate(_lines(command, result, as_json), start=1):
            await send({"line": line, **_kept(result.data)})
            if count % AT_ONCE == 0:
                await asyncio.sleep(0)
    for note in result.notes:
        await send({"note": note})


def _lines(command: Command, result: Result, as_json: bool) -> list[str]:
    if not as_json:
        return list(command.text(result))
    rows = result.data if command.is_list else [result.data]
    return [json_text(plain(row), command.indent) for row in rows]


def _kept(data: Any) -> dict[str, Any]:
    """Return what a program wants to go on with: which answer it was."""
    return dict(data.kept) if hasattr(data, "kept") else {}
