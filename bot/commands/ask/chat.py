"""`chat`: a channel in the terminal."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

from bot.commands.command import Command

if TYPE_CHECKING:
    from core.settings import Settings


def here(settings: Settings, options: Namespace) -> int:
    """Talk until the input ends; return the exit status."""
    from bot.cli.terminal_chat import chat

    return asyncio.run(chat(settings))


COMMAND = Command(
    "chat", "ask", "talk in the terminal as in a channel", who="owner", where="terminal", here=here, rank=3
)
