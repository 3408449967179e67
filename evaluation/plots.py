"""Figures of a report as PNG. The one door to matplotlib, which is optional (extra `evaluate`)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.metrics import CUTS

MISSING = "No plots: matplotlib is not installed; `pip install threadlore[evaluate]` brings it."


def draw(report: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Write the plots of a report; blocking, so call it in a worker thread.

    Returns their file names, none where matplotlib is missing.
    """
    try:
        matplotlib = importlib.import_module("matplotlib")
        # Without a display: threads and servers have none.
        matplotlib.use("Agg")
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return ()
    made = []
    for name, plot in (("hits", _hits), ("reliability", _reliability), ("abstention", _abstention)):
        figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
        if plot(axes, report):
            figure.savefig(folder / f"{name}.png", dpi=120)
            made.append(f"{name}.png")
        pyplot.close(figure)
    return tuple(made)


def draw_comparison(result: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Write the plots of two reports side by side; blocking. Returns file names, none without matplotlib."""
    try:
        matplotlib = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    figure, (shares, changes, times) = pyplot.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    kinds = list(result["by_type"])
    for place, name in enumerate(result["names"]):
        values = [result["by_type"][kind]["good"][place] for kind in kinds]
        shares.bar([at + 0.4 * place for at in range(len(kinds))], values, 0.4, label=name)
        times.plot(sorted(row["ms"][place] for row in result["rows"]), label=name)
    shares.set_xticks([at + 0.2 for at in range(len(kinds))], kinds, rotation=35, ha="right")
    shares.set_ylabel("share of good answers")
    shares.legend(frameon=False)
    first, second = result["names"]
    parts = {
        "both": "both",
        f"{first} alone": "first_only",
        f"{second} alone": "second_only",
        "neither": "neither",
    }
    changes.barh(list(parts), [result[key] for key in parts.values()])
    changes.set_xlabel("questions answered well by")
    times.set_yscale("log")
    times.set_xlabel("questions, quickest first")
    times.set_ylabel("ms")
    figure.savefig(folder / "comparison.png", dpi=120)
    pyplot.close(figure)
    return ("comparison.png",)


def _hits(axes: Any, report: Mapping[str, Any]) -> bool:
    rows: Sequence[Mapping[str, Any]] = report["configurations"]
    width = 0.8 / len(CUTS)
    for place, cut in enumerate(CUTS):
        values = [row[f"hit@{cut}"] or 0.0 for row in rows]
        offsets = [at + place * width for at in range(len(rows))]
        axes.bar(offsets, values, width, label=f"hit@{cut}")
    axes.set_xticks([at + width for at in range(len(rows))], [row["name"] for row in rows], rotation=35)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of answerable questions")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(CUTS), frameon=False)
    return bool(rows)


def _reliability(axes: Any, report: Mapping[str, Any]) -> bool:
    bins = (report.get("confidence") or {}).get("reliability", {}).get("bins", [])
    axes.plot([0, 1], [0, 1], linestyle=":", color="grey")
    axes.plot([row["confidence"] for row in bins], [row["answerable"] for row in bins], marker="o")
    for row in bins:
        axes.annotate(str(row["n"]), (row["confidence"], row["answerable"]), fontsize=8)
    axes.set_xlabel("confidence")
    axes.set_ylabel("share of answerable questions")
    return bool(bins)


def _abstention(axes: Any, report: Mapping[str, Any]) -> bool:
    curve = (report.get("confidence") or {}).get("trade_off", [])
    axes.plot([row["answerable_lost"] for row in curve], [row["abstained"] for row in curve])
    axes.set_xlabel("answerable questions lost")
    axes.set_ylabel("out-of-scope questions abstained from")
    axes.set_xlim(0, 0.5)
    axes.set_ylim(0, 1.02)
    return bool(curve)
