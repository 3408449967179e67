"""Figures of reports and simulations as PNG, by matplotlib where it is installed (extra `evaluate`)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.metrics import CUTS

MISSING = "No plots: matplotlib is not installed; `pip install threadlore[evaluate]` brings it."
Figures = dict[str, tuple[int, Callable[[Sequence[Any]], None]]]
"""Figures by the name of their file: how many panels stand side by side, and what draws into these."""
_SHARES = (("reuse", "#2f7d4f"), ("reference", "#4f7fb5"), ("avoid", "#c98a2b"), ("documents", "#b0b0b0"))


def draw(report: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Write the plots of a report; blocking, so call it in a worker thread.

    Like all that draw here it returns the names of the files, none where matplotlib is missing.
    """
    confidence = report.get("confidence") or {}
    bins, curve = confidence.get("reliability", {}).get("bins", []), confidence.get("trade_off", [])
    figures: Figures = {}
    if rows := report["configurations"]:
        figures["hits.png"] = 1, lambda axes: _hits(axes[0], rows)
    if bins:
        figures["reliability.png"] = 1, lambda axes: _reliability(axes[0], bins)
    if curve:
        figures["abstention.png"] = 1, lambda axes: _abstention(axes[0], curve)
    return drawn(folder, figures)


def draw_comparison(result: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Write the plots of two reports side by side; blocking."""
    return drawn(folder, {"comparison.png": (3, lambda axes: _comparison(axes, result))})


def draw_simulation(
    report: Mapping[str, Any], sweeps: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path
) -> tuple[str, ...]:
    """Write the plots of a simulation; blocking."""
    figures: Figures = {
        "routes.png": (1, lambda axes: _routes(axes[0], report)),
        "memory.png": (2, lambda axes: _memory(axes, report)),
    }
    if sweeps:
        figures["sweeps.png"] = len(sweeps), lambda axes: _sweeps(axes, sweeps)
    return drawn(folder, figures)


def draw_rounds(curves: Mapping[str, Mapping[str, Sequence[float]]], folder: Path) -> tuple[str, ...]:
    """Write a panel for each measure with a curve for each system; blocking."""
    if not curves:
        return ()
    return drawn(folder, {"rounds.png": (len(curves), lambda axes: _rounds(axes, curves))})


def draw_calibration(report: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Write the curve of a calibration; blocking."""
    return drawn(folder, {"calibration.png": (1, lambda axes: _curve(axes[0], report))})


def draw_votes(
    made: Mapping[str, Mapping[str, Any]], counts: Sequence[int], bad: Sequence[float], folder: Path
) -> tuple[str, ...]:
    """Write how often the right page comes first by votes; blocking."""

    def panels(axes: Sequence[Any]) -> None:
        for one, (name, rows) in zip(axes, made.items(), strict=True):
            for part in bad:
                shares = [rows["shipped"][0], *(rows[f"learnt {part:g} {count}"][0] for count in counts)]
                one.plot(range(len(shares)), shares, marker=".", label=f"{part:.0%} bad")
            one.set_xticks(range(len(counts) + 1), ["0", *map(str, counts)])
            one.set_title(name)
            one.set_xlabel("votes")
        axes[0].set_ylabel("right page first, nobody voted on it")
        axes[0].legend(fontsize=8)

    return drawn(folder, {"votes.png": (len(made), panels)})


def drawn(folder: Path, figures: Figures) -> tuple[str, ...]:
    """Write figures by file name into a folder, which is made where it is missing; blocking."""
    try:
        # Without a display: threads and servers have none.
        importlib.import_module("matplotlib").use("Agg")
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    for name, (columns, plot) in figures.items():
        figure, axes = pyplot.subplots(
            1,
            columns,
            figsize=(8 if columns == 1 else 5 * columns, 4.5),
            squeeze=False,
            layout="constrained",
        )
        plot(axes[0])
        figure.savefig(folder / name, dpi=120)
        pyplot.close(figure)
    return tuple(figures)


def _hits(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    width = 0.8 / len(CUTS)
    for place, cut in enumerate(CUTS):
        values = [row[f"hit@{cut}"] or 0.0 for row in rows]
        offsets = [at + place * width for at in range(len(rows))]
        axes.bar(offsets, values, width, label=f"hit@{cut}")
    axes.set_xticks([at + width for at in range(len(rows))], [row["name"] for row in rows], rotation=35)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of answerable questions")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(CUTS), frameon=False)


def _reliability(axes: Any, bins: Sequence[Mapping[str, Any]]) -> None:
    axes.plot([0, 1], [0, 1], linestyle=":", color="grey")
    axes.plot([row["confidence"] for row in bins], [row["answerable"] for row in bins], marker="o")
    for row in bins:
        axes.annotate(str(row["n"]), (row["confidence"], row["answerable"]), fontsize=8)
    axes.set_xlabel("confidence")
    axes.set_ylabel("share of answerable questions")


def _abstention(axes: Any, curve: Sequence[Mapping[str, Any]]) -> None:
    axes.plot([row["answerable_lost"] for row in curve], [row["abstained"] for row in curve])
    axes.set_xlabel("answerable questions lost")
    axes.set_ylabel("out-of-scope questions abstained from")
    axes.set_xlim(0, 0.5)
    axes.set_ylim(0, 1.02)


def _comparison(panels: Sequence[Any], result: Mapping[str, Any]) -> None:
    shares, changes, times = panels
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


def _routes(axes: Any, report: Mapping[str, Any]) -> None:
    rounds = report["rounds"]
    numbers, below = [row["round"] for row in rounds], [0.0] * len(rounds)
    for route, colour in _SHARES:
        values = [row[route] for row in rounds]
        axes.bar(numbers, values, bottom=below, color=colour, label=route)
        below = [low + value for low, value in zip(below, values, strict=True)]
    precise = [(row["round"], row["reuse_precision"]) for row in rounds if row["reuse_precision"] is not None]
    axes.plot([n for n, _ in precise], [p for _, p in precise], "k.-", label="precision of reuse")
    axes.set_xlabel("round")
    axes.set_ylabel("share of questions")
    axes.legend(loc="lower right")


def _memory(axes: Sequence[Any], report: Mapping[str, Any]) -> None:
    for name, rows in (
        ("this memory", report["rounds"]),
        *((n, b["rounds"]) for n, b in report["baselines"].items()),
    ):
        numbers = [row["round"] for row in rows]
        axes[0].plot(numbers, [row["stored"] for row in rows], marker=".", label=name)
        axes[1].plot(numbers, [row["model_calls"] for row in rows], marker=".", label=name)
    axes[0].set_ylabel("pairs stored")
    axes[1].set_ylabel("model calls a question")
    axes[1].set_ylim(0, 1.05)
    axes[1].legend(fontsize=8)
    for one in axes:
        one.set_xlabel("round")


def _rounds(panels: Sequence[Any], curves: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    names = list(dict.fromkeys(name for systems in curves.values() for name in systems))
    shown: dict[str, Any] = {}
    for axes, (title, systems) in zip(panels, curves.items(), strict=True):
        for name, values in systems.items():
            style = {
                "color": f"C{names.index(name) % 10}",
                "linestyle": "-" if names.index(name) < 10 else "--",
            }
            (shown[name],) = axes.plot(range(1, len(values) + 1), values, marker=".", **style)
        axes.set_title(title.partition(" (")[0], fontsize=9)
        axes.set_xlabel("round")
    panels[0].figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=7, fontsize=9)


def _sweeps(axes: Sequence[Any], sweeps: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for one, (name, rows) in zip(axes, sweeps.items(), strict=True):
        values = [row["value"] for row in rows]
        for key, label in (("reuse", "reused"), ("reuse_precision", "precision"), ("right", "right answers")):
            one.plot(values, [row[key] for row in rows], marker=".", label=label)
        one.set_xlabel(name)
        one.set_ylim(0, 1.02)
        one.legend(loc="lower left", fontsize=8)


def _curve(axes: Any, report: Mapping[str, Any]) -> None:
    cosines = [cosine for cosine, _, _ in report["curve"]]
    axes.plot(cosines, [precision for _, precision, _ in report["curve"]], label="precision of reuse")
    axes.plot(cosines, [recall for _, _, recall in report["curve"]], label="share of rewordings reused")
    axes.axvline(report["delta"], linestyle="--", color="black", label=f"δ = {report['delta']:.3f}")
    axes.axvline(report["tau"], linestyle=":", color="black", label=f"τ = {report['tau']:.3f}")
    axes.set_xlabel(f"cosine by {report['encoder']}")
    axes.set_ylim(0, 1.02)
    axes.legend(loc="lower left")
