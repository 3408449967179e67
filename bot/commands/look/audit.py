"""`audit`: who gave which command, where, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application

IN_CHAT, AT_TERMINAL = 20, 50
"""Acts that are shown unless a number is named."""


async def run(app: Application, given: Given) -> Result:
    """Return the latest acts."""
    number = int(given.get("number") or (IN_CHAT if given.is_chat else AT_TERMINAL))
    return Result(await app.audit.acts(number))


def text(result: Result) -> Sequence[str]:
    """List them, the latest first."""
    from bot.operations.audit import audit_text

    return [audit_text(result.data)]


_LINES = "How many lines, {} when left out"
COMMAND = Command(
    "audit",
    "look",
    "who gave which command, where, and what came of it",
    run,
    text,
    (
        Option(
            "number",
            _LINES.format(IN_CHAT),
            kind="number",
            where="chat",
            most=200,
            called="The number of lines",
        ),
        Option("number", _LINES.format(AT_TERMINAL), kind="number", where="terminal"),
    ),
    rank=23,
)
