"""`simulate`: play a community; `calibrate`: choose memory's thresholds (options: docs/simulation.md)."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING

from bot.commands.command import Option, at_terminal
from bot.commands.measure.evaluate import HALF

if TYPE_CHECKING:
    from core.settings import Settings


def here(settings: Settings, options: Namespace) -> int:
    """Simulate in this process; return the exit status. Raises UsageError."""
    run = import_module("evaluation.commands.simulate").run_simulation
    return int(asyncio.run(run(settings, options)))


def _share(name: str, default: float, help: str) -> Option:
    return Option(name, help, kind="share", named=True, default=default)


def _number(name: str, default: int, help: str) -> Option:
    return Option(name, help, kind="number", named=True, default=default)


COMMAND = at_terminal(
    "simulate",
    "measure",
    "simulate a community on labelled questions: how much memory saves and how often it is wrong",
    options=(
        Option(
            "data",
            "Lines with topic, question, answer, release; or StackFAQ",
            required=True,
            kind="path",
            metavar="DATA",
        ),
        Option("report", "Where the report goes", required=True, kind="path", named=True, metavar="DIR"),
        _number("rounds", 10, "Rounds that the questions are cut into"),
        _number("seed", 0, "What people and model are drawn by"),
        _number("seeds", 1, "Runs, each with the next seed"),
        Option("half", "Which topics", choices=HALF, named=True, default="all"),
        Option("fit", "Choose thresholds on the tune half, and ask the report half", kind="flag"),
        _share("known", 1.0, "Share of original questions that memory begins with"),
        Option(
            "releases",
            "Ask everything for each of these releases",
            named=True,
            many=True,
            metavar="NAME ...",
        ),
        Option(
            "others",
            "Questions nobody rewords: half remembered, half asked",
            kind="path",
            named=True,
            metavar="FILE",
        ),
        _number("readers", 3, "People who read an answer"),
        _share("turnout", 0.6, "Probability that a reader votes"),
        _share("error", 0.05, "Probability that a vote is wrong"),
        _share("adversaries", 0.0, "Share who vote against the truth"),
        _share("right", 0.85, "Probability that the model answers rightly from documents"),
        _share("right-referred", 0.95, "The same with a right answer to refer to"),
        _share("model-seconds", 5.0, "Seconds that a model call takes"),
        Option("no-baselines", "No other memories to compare with", kind="flag"),
        Option("no-sweeps", "No runs with other thresholds", kind="flag"),
        Option("tables", "Also write ComRAG's tables and curves: systems, rounds, ablations", kind="flag"),
        Option("recipes", "With --tables: play every recipe as a system, too", kind="flag"),
    ),
    here=here,
    rank=72,
)


def calibrate(settings: Settings, options: Namespace) -> int:
    """Calibrate in this process; return the exit status. Raises UsageError."""
    run = import_module("evaluation.commands.simulate").run_calibration
    return int(asyncio.run(run(settings, options)))


CALIBRATE = at_terminal(
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
    here=calibrate,
    rank=73,
)
