"""`chat`: a channel in the terminal."""

from __future__ import annotations

from bot.commands.command import Command

COMMAND = Command(
    "chat",
    "ask",
    "talk in the terminal as in a channel",
    who="owner",
    where="terminal",
    program="bot.cli.terminal_chat:chat",
    rank=3,
)
