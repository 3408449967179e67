"""What the report of `load` says: figures with their aims, and the Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.plots import drawn
from evaluation.tables import grid
from tests.benchmarks.reports import Figure, table

OURS, FINDING, RIVAL = "ours", "ours, finding alone", "llama-index"
COLUMNS = {"rate": "a second", "p50": "p50 ms", "p95": "p95 ms"}
TIMES = 4.0
"""How many times as many answers a second are aimed at."""


def figures_of(found: Mapping[str, Any]) -> list[Figure]:
    """Return the figures that are compared with those of the last run."""
    made = []
    for people, one in found["sides"][OURS].items():
        rate = found["sides"][RIVAL][people]["rate"]
        finding, at_once = found["sides"][FINDING][people]["rate"], f"{people} at once"
        made += [
            Figure(f"answers, {at_once}", one["rate"], "a second", lower=False),
            Figure(f"answers beside llama-index's finding, {at_once}", one["rate"] / rate, "×", False, TIMES),
            Figure(f"finding beside llama-index's finding, {at_once}", finding / rate, "×", False, TIMES),
            Figure(f"p50, {at_once}", one["p50"], "ms"),
            Figure(f"p95, {at_once}", one["p95"], "ms"),
        ]
    reuse = found["reuse"]
    ratios = [again / alone for again, alone in zip(reuse["reuse"], reuse["embedding"], strict=True)]
    return [
        *made,
        Figure("hit@3", found["hit@3"][OURS], "", lower=False),
        Figure("start to first answer", statistics.median(found["starts"]), "s", aim=3.0),
        Figure("reuse beside embedding alone", statistics.median(ratios) if ratios else 0.0, "×", aim=1.3),
        Figure("memory", found["memory_mb"][OURS], "MB"),
    ]


def text_of(
    found: Mapping[str, Any], figures: Sequence[Figure], got_worse: Sequence[str], drawn: Sequence[str]
) -> str:
    """Return the report as Markdown."""
    known, sides = found["machine"], found["sides"]
    head = [f"{label}, {name}" for label in COLUMNS.values() for name in sides]
    hits = ", ".join(f"{name} {value:.3f}" for name, value in found["hit@3"].items())
    memory = ", ".join(f"{name} {value:.0f} MB" for name, value in found["memory_mb"].items())
    rows = [
        [str(people), *(f"{rows[people][key]:.1f}" for key in COLUMNS for rows in sides.values())]
        for people in sides[OURS]
    ]
    lines = [
        "# Load\n",
        f"{found['at']}, {known['processor']}, {known['cores']} cores; load of the machine {known['load']} "
        f"before, {found['load_after']} after. {found['passages']} passages, {found['golden']} golden "
        f"questions; each question is asked once, without a model. Ours finds and ranks pages, quotes them "
        f"and saves the answer; *finding alone* and llama-index search vectors and words.\n",
        grid(["people at once", *head], rows),
        f"\nhit@3: {hits}. Memory: {memory}.\n",
        table(figures),
        "\n## Worse by over 20 % than the last run on such a machine\n",
        *([f"- {sentence}" for sentence in got_worse] or ["Nothing."]),
        "",
        *(f"![{name}]({name})" for name in drawn),
    ]
    return "\n".join(lines) + "\n"


def draw(report: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Write throughput and times of a load report; blocking. Returns the file's name, if any."""
    return drawn(folder, {"load.png": (3, lambda axes: _load(axes, report["sides"]))})


def _load(axes: Sequence[Any], sides: Mapping[str, Mapping[int, Mapping[str, float]]]) -> None:
    labels = {"rate": "answers a second", "p50": "p50, ms", "p95": "p95, ms"}
    for one, (key, label) in zip(axes, labels.items(), strict=True):
        for place, (name, rows) in enumerate(sides.items()):
            offsets = [at + 0.4 * place for at in range(len(rows))]
            one.bar(offsets, [row[key] for row in rows.values()], 0.4, label=name)
            one.set_xticks([at + 0.2 for at in range(len(rows))], [str(people) for people in rows])
        one.set_xlabel("people at once")
        one.set_ylabel(label)
        one.legend(fontsize=8)
