"""`calibrate`: choose memory's thresholds by labelled pairs; docs/simulation.md explains the options."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING

from bot.commands.command import Command, Option
from bot.commands.measure.evaluate import HALF

if TYPE_CHECKING:
    from core.settings import Settings


def here(settings: Settings, options: Namespace) -> int:
    """Calibrate in this process; return the exit status. Raises UsageError."""
    run = import_module("evaluation.commands.calibrate").run_calibration
    return int(asyncio.run(run(settings, options)))


COMMAND = Command(
    "calibrate",
    "measure",
    "choose memory's thresholds for the embedding model by labelled pairs",
    options=(
        Option(
            "pairs",
            "Lines with a, b, same; or what `simulate` reads",
            required=True,
            kind="path",
            metavar="PAIRS.jsonl",
        ),
        Option("precision", "Wanted precision of reuse", kind="share", named=True, default=0.95),
        Option("recall", "Rewordings that stay within τ", kind="share", named=True, default=0.9),
        Option("half", "Which topics, where it has any", choices=HALF, named=True, default="all"),
    ),
    who="owner",
    where="terminal",
    here=here,
    rank=73,
)
