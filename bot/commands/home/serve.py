"""`serve`: the playground, and the platforms whose tokens are set."""

from __future__ import annotations

from bot.commands.command import Command, Option
from bot.ports.platforms import titles

COMMAND = Command(
    "serve",
    "home",
    f"serve the playground, and {titles()} where their tokens are set",
    options=(Option("port", "Port of the playground (THREADLORE_PORT, 8080)", kind="number", named=True),),
    who="owner",
    where="terminal",
    program="bot.app.serve:serve",
    rank=82,
)
