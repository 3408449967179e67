"""A folder of reports: JSON and Markdown of each, the figures of all runs, and which of them got worse.

The folder is `.threadlore/load`; `history.jsonl` there has a line for each run. Figures are compared with
those of the last run on the same kind of machine only.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluation.tables import grid

FOLDER = Path(".threadlore/load")
HISTORY = "history.jsonl"
WORSE = 0.2
"""A figure that is worse by more than this share is named."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    `aim` is the most (where `lower` is better) or the least that is wanted; None where there is no aim.
    """

    name: str
    value: float
    unit: str
    lower: bool = True
    aim: float | None = None

    @property
    def met(self) -> bool | None:
        """Return True if the aim is met, None without one."""
        if self.aim is None:
            return None
        return self.value <= self.aim if self.lower else self.value >= self.aim


def machine() -> dict[str, Any]:
    """Return what kind of machine this is, without its name, and how busy it is."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(pages / 1024**3),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def kind_of(known: Mapping[str, Any]) -> str:
    """Return what has to be the same for figures to be compared."""
    return f"{known['processor']}, {known['cores']} cores, {known['memory_gb']} GB"


def _processor() -> str:
    found = platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return found
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(names, found)


def compare(
    folder: Path, report: str, known: Mapping[str, Any], figures: Sequence[Figure], setting: str = ""
) -> list[str]:
    """Add a run to the history; return a sentence for each figure that got worse since the last one like it.

    `setting` is what else has to be the same: a corpus, a number of questions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file, like = folder / HISTORY, [report, kind_of(known), setting]
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    earlier = [run for line in lines if (run := json.loads(line))["like"] == like]
    row = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "like": like,
        "load": known["load"],
        "figures": {figure.name: round(figure.value, 4) for figure in figures},
    }
    with file.open("a", encoding="utf-8") as history:
        history.write(json.dumps(row) + "\n")
    return worse(figures, earlier[-1]["figures"]) if earlier else []


def worse(figures: Sequence[Figure], before: Mapping[str, float]) -> list[str]:
    """Return a sentence for each figure that is worse than before by more than a fifth."""
    found = []
    for figure in figures:
        old = before.get(figure.name)
        if not old or not figure.value:
            continue
        change = (figure.value / old if figure.lower else old / figure.value) - 1
        if change > WORSE:
            now = f"{figure.value:.4g} {figure.unit}".strip()
            found.append(f"{figure.name} is {change:.0%} worse: {now}, it was {old:.4g}")
    return found


def write(folder: Path, name: str, report: Mapping[str, Any], text: str) -> None:
    """Write a report as JSON and as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    (folder / f"{name}.md").write_text(text, "utf-8")


def as_rows(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return figures for JSON."""
    return [asdict(figure) | {"met": figure.met} for figure in figures]


def quantile(values: Sequence[float], percent: int) -> float:
    """Return a percentile."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def table(figures: Sequence[Figure]) -> str:
    """Return figures as a Markdown table with what is aimed at."""
    rows = []
    for one in figures:
        aim = (
            "" if one.aim is None else f"at {'most' if one.lower else 'least'} {one.aim:g} {one.unit}".strip()
        )
        met = {True: ": met", False: ": **missed**", None: ""}[one.met]
        rows.append((one.name, f"{one.value:.4g} {one.unit}", f"{aim}{met}"))
    return grid(("figure", "measured", "aim"), rows, ("---", "---:", "---"))
