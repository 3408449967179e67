"""`tune`: learn the ranking of pages, or how sure quotes are, from labelled questions."""

from __future__ import annotations

from bot.commands.command import Command, Option
from bot.commands.measure.evaluate import GOLD, run

COMMAND = Command(
    "tune",
    "measure",
    "learn the ranking of pages from labelled questions",
    run,
    options=(
        GOLD,
        Option(
            "answers",
            "Learn how sure quotes are, on questions with what they must hold; see docs/evaluation.md",
            kind="path",
            named=True,
            metavar="FILE",
        ),
        Option("reset", "Go back to what is shipped", kind="flag"),
    ),
    who="owner",
    where="terminal",
    changes=True,
    has_json=False,
    rank=71,
)
