"""`tune`: learn the ranking of pages from labelled questions."""

from __future__ import annotations

from bot.commands.command import Command, Option
from bot.commands.measure.evaluate import GOLD, run

COMMAND = Command(
    "tune",
    "measure",
    "learn the ranking of pages from labelled questions",
    run,
    options=(GOLD, Option("reset", "Go back to the shipped ranking", kind="flag")),
    who="owner",
    where="terminal",
    changes=True,
    has_json=False,
    rank=71,
)
