"""`memory why`: the same as `why`, for whoever looks for it there."""

from __future__ import annotations

from bot.commands.command import Command
from bot.commands.look import why

COMMAND = Command(
    "memory why",
    "admin",
    "explain an answer: release, route, memory, pages",
    why.run,
    why.text,
    (why.ANSWER_ID,),
    who="owner",
    where="terminal",
    rank=44,
)
