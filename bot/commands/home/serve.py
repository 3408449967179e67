"""`serve`: the playground, and Slack and Discord where their tokens are set."""

from __future__ import annotations

from bot.commands.command import Command, Option

COMMAND = Command(
    "serve",
    "home",
    "serve the playground, and Slack and Discord where their tokens are set",
    options=(Option("port", "Port of the playground (THREADLORE_PORT, 8080)", kind="number", named=True),),
    who="owner",
    where="terminal",
    program="bot.app.serve:serve",
    rank=82,
)
