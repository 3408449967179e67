"""What a soak showed: whether memory, handles and times stayed as they were after the warm-up."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.soak.people import Answered
from tests.soak.process import Taken

WARM_UP = 0.1
"""Share of the time that warms up; memory is compared over a tenth of it, too."""
MEMORY = 0.05
HANDLES = 0.05
SLOWER = 0.25
"""Shares by which memory, handles and p95 may be more at the end."""
SLACK_MS = 25.0
"""Milliseconds more that are no matter."""


@dataclass(frozen=True)
class Check:
    """Something that had to stay as it was: after the warm-up, at the end, and the most allowed."""

    name: str
    before: float
    after: float
    most: float
    unit: str

    @property
    def holds(self) -> bool:
        """Return True if it did."""
        return self.after <= self.most

    def text(self) -> str:
        """Return a line of the report."""
        change = f"{self.after / self.before - 1:+.1%}" if self.before else ""
        allowed = f"at most {self.most:.4g} {self.unit}"
        return (
            f"| {self.name} | {self.before:.4g} {self.unit} | {self.after:.4g} {self.unit} | {change} "
            f"| {allowed}: {'yes' if self.holds else '**no**'} |"
        )


def checks(
    taken: Sequence[Taken], answered: Sequence[Answered], began: float, seconds: float, lost: int
) -> list[Check]:
    """Compare the tenth after the warm-up with the last tenth; times by halves of what came after it."""
    after = began + seconds * WARM_UP

    def change(of: Callable[[Taken], float]) -> tuple[float, float]:
        first = [of(one) for one in taken if after <= one.at < after + seconds / 10]
        last = [of(one) for one in taken if one.at >= began + seconds * 0.9]
        return statistics.median(first), statistics.median(last)

    memory, held = change(lambda one: one.rss_mb), change(lambda one: one.held_mb)
    handles = change(lambda one: float(one.handles))
    middle = after + (seconds - seconds * WARM_UP) / 2
    early = [one.ms for one in answered if after <= one.at < middle]
    late = [one.ms for one in answered if middle <= one.at]
    times = quantile(early, 95), quantile(late, 95)
    return [
        Check("memory of the process and its workers", *memory, memory[0] * (1 + MEMORY), "MB"),
        Check("of it what no file backs", *held, held[0] * (1 + MEMORY), "MB"),
        Check("open handles", *handles, max(handles[0] + 3, handles[0] * (1 + HANDLES)), ""),
        Check("p95 of the answers, by halves", *times, times[0] * (1 + SLOWER) + SLACK_MS, "ms"),
        Check("questions without an answer", 0.0, float(lost), 0.0, ""),
    ]


def rows(taken: Sequence[Taken], answered: Sequence[Answered], began: float) -> list[dict[str, Any]]:
    """Return what was taken at each look, with the times of the answers since the look before."""
    found, since = [], began
    for one in taken:
        ms = [answer.ms for answer in answered if since <= answer.at < one.at]
        found.append(
            {
                "seconds": round(one.at - began, 1),
                "rss_mb": round(one.rss_mb, 1),
                "own_rss_mb": round(one.own_rss_mb, 1),
                "held_mb": round(one.held_mb, 1),
                "own_held_mb": round(one.own_held_mb, 1),
                "processes": one.processes,
                "handles": one.handles,
                "threads": one.threads,
                "cores": round(one.cores, 3),
                "database_mb": round(one.database_mb, 1),
                "home_mb": round(one.home_mb, 1),
                "load": round(one.load, 2),
                "answers": len(ms),
                "p50_ms": round(quantile(ms, 50), 1),
                "p95_ms": round(quantile(ms, 95), 1),
            }
        )
        since = one.at
    return found


def quantile(values: Sequence[float], percent: int) -> float:
    """Return a percentile, 0 of nothing."""
    if len(values) < 2:
        return values[0] if values else 0.0
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
