"""The options of `simulate` and `calibrate`. Only the standard library is imported here."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path


def add_simulate(command: Callable[[str, str], ArgumentParser]) -> None:
    """Add `threadlore simulate DATA --report DIR`; docs/simulation.md explains the options."""
    simulate = command("simulate", "Play a community on labelled questions: what memory saves, what it errs.")
    simulate.add_argument(
        "data", type=Path, metavar="DATA", help="lines with topic, question, answer, release; or StackFAQ"
    )
    simulate.add_argument("--report", type=Path, required=True, metavar="DIR", help="where the report goes")
    simulate.add_argument("--rounds", type=int, default=10, help="rounds that the questions are cut into")
    simulate.add_argument("--seed", type=int, default=0, help="what people and model are drawn by")
    simulate.add_argument("--seeds", type=int, default=1, help="runs, each with the next seed")
    simulate.add_argument("--half", choices=["tune", "report", "all"], default="all", help="which topics")
    simulate.add_argument(
        "--fit", action="store_true", help="choose thresholds on the tune half, and ask the report half"
    )
    simulate.add_argument(
        "--known", type=float, default=1.0, help="share of original questions that memory begins with"
    )
    simulate.add_argument(
        "--releases", nargs="+", default=[], metavar="NAME", help="ask everything for each of these releases"
    )
    simulate.add_argument(
        "--others",
        type=Path,
        metavar="FILE",
        help="questions nobody rewords: half remembered, half asked",
    )
    simulate.add_argument("--readers", type=int, default=3, help="people who read an answer")
    simulate.add_argument("--turnout", type=float, default=0.6, help="probability that a reader votes")
    simulate.add_argument("--error", type=float, default=0.05, help="probability that a vote errs")
    simulate.add_argument("--adversaries", type=float, default=0.0, help="share who vote against the truth")
    simulate.add_argument(
        "--right", type=float, default=0.85, help="probability that the model answers rightly from documents"
    )
    simulate.add_argument(
        "--right-referred",
        type=float,
        default=0.95,
        help="the same with a right answer to refer to",
    )
    simulate.add_argument("--model-seconds", type=float, default=5.0, help="seconds that a model call takes")
    simulate.add_argument("--no-baselines", action="store_true", help="no other memories to compare with")
    simulate.add_argument("--no-sweeps", action="store_true", help="no runs with other thresholds")


def add_calibrate(command: Callable[[str, str], ArgumentParser]) -> None:
    """Add `threadlore calibrate PAIRS.jsonl`; docs/simulation.md explains the options."""
    calibrate = command("calibrate", "Choose memory's thresholds for the embedding model by labelled pairs.")
    calibrate.add_argument(
        "pairs", type=Path, metavar="PAIRS.jsonl", help="lines with a, b, same; or what `simulate` reads"
    )
    calibrate.add_argument("--precision", type=float, default=0.95, help="wanted precision of reuse")
    calibrate.add_argument("--recall", type=float, default=0.9, help="rewordings that stay within τ")
    calibrate.add_argument(
        "--half", choices=["tune", "report", "all"], default="all", help="which topics, where it has any"
    )
