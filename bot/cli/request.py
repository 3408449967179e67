"""A command of the command line, handed to the process that serves, or carried out here where none does."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from core.settings import Settings

FAILED = 1
MARKDOWN = frozenset({"ask", "again", "status", "sources", "why", "wrong"})
"""Commands whose lines are Markdown."""
VERBATIM = frozenset({"ask", "again", "batch", "finetune"})
"""Commands whose lines say what pages and people say: times in them are not the bot's own."""
STARTING_SECONDS = 30.0
"""How long a command waits for a process that is just starting to serve."""


def print_line(line: str, request: Mapping[str, Any], out: TextIO) -> None:
    """Print a line of a command, Markdown as a terminal shows it."""
    from bot.rendering.progress import say
    from bot.rendering.times import in_zone, local

    is_verbatim = request.get("command") in VERBATIM or request.get("action") in ("export", "show")
    if not (request.get("json") or is_verbatim):
        line = in_zone(line, local)
    if request.get("command") in MARKDOWN and not request.get("json"):
        say(line, out)
    else:
        print(line, file=out, flush=True)


async def carry_out(settings: Settings, request: dict[str, Any], out: Any) -> int:
    """Have a request carried out by the serving process, or by this one where none serves."""
    from bot.commands.registry import table
    from bot.home.control_socket import call
    from bot.home.home import started_by
    from bot.rendering.progress import Bars

    request = {**request, "caller": started_by("cli")}
    code = FAILED
    task = asyncio.current_task()
    assert task is not None
    if table().ends_with_caller(request):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    with Bars() as bars:

        async def show(message: dict[str, Any]) -> None:
            nonlocal code
            if "line" in message:
                print_line(message["line"], request, out)
            if "progress" in message:
                bars.show(message["progress"])
            if "note" in message or "error" in message:
                print(f"threadlore: {message.get('note') or message['error']}", file=sys.stderr)
            code = message.get("code", code)

        until = time.monotonic() + STARTING_SECONDS
        is_heard = False
        while True:
            try:
                async for message in call(settings.home, request):
                    is_heard = True
                    await show(message)
                return code
            except ConnectionError as error:  # nobody listens: this process does it itself
                if is_heard and isinstance(error, BrokenPipeError):  # nobody reads what it says
                    raise
                from bot.app.bootstrap import build
                from bot.commands.command_line import handle
                from core.errors import HomeBusy

                try:
                    async with build(settings, request["command"]) as app:
                        await handle(app, request, show)
                    return code
                except HomeBusy:  # somebody is just starting to serve
                    if time.monotonic() > until:
                        raise
                    await asyncio.sleep(0.1)
