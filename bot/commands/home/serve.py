"""`serve`: the playground, and Slack and Discord where their tokens are set."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

from bot.commands.command import Command, Option

if TYPE_CHECKING:
    from core.settings import Settings


def here(settings: Settings, options: Namespace) -> int:
    """Serve until the process is told to end; return the exit status."""
    from bot.app.serve import serve

    return asyncio.run(serve(settings))


COMMAND = Command(
    "serve",
    "home",
    "serve the playground, and Slack and Discord where their tokens are set",
    options=(Option("port", "Port of the playground (THREADLORE_PORT, 8080)", kind="number", named=True),),
    who="owner",
    where="terminal",
    here=here,
    rank=82,
)
