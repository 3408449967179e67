"""Draws what a soak measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.plots import drawn


def draw_soak(report: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Write memory, handles and times; blocking. Returns the file's name, none without matplotlib."""
    return drawn(folder, {"soak.png": (4, lambda axes: _soak(axes, report["samples"]))})


def _soak(axes: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> None:
    minutes = [row["seconds"] / 60 for row in rows]
    panels = (
        {"rss_mb": "memory, MB", "own_rss_mb": "of the main process"},
        {"handles": "open handles", "threads": "threads"},
        {"p95_ms": "p95, ms", "p50_ms": "p50, ms"},
        {"load": "load of the machine", "cores": "cores used"},
    )
    for one, panel in zip(axes, panels, strict=True):
        for key, label in panel.items():
            one.plot(minutes, [row[key] for row in rows], label=label)
        one.set_ylim(bottom=0)
        one.set_xlabel("minutes")
        one.legend(fontsize=8)
