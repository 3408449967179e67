"""`doctor`: look at everything a working bot needs."""

from __future__ import annotations

from bot.commands.command import Command

COMMAND = Command(
    "doctor",
    "home",
    "look at everything a working bot needs, and say what to do",
    who="owner",
    where="terminal",
    program="bot.cli.doctor.examination:doctor",
    rank=81,
)
