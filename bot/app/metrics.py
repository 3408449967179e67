"""What machines read of how everything is: Prometheus' text format, with counters that only grow."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from core.insights.gaps import Statistics


def written(figures: dict[str, Any], counted: Counted, errors: Mapping[str, int]) -> bytes:
    """Return figures in Prometheus' text format; `errors` counts those that were logged, by class."""
    registry = CollectorRegistry()
    registry.register(_Figures(figures, counted, errors))
    return bytes(generate_latest(registry))


class _Figures(Collector):
    """Figures as Prometheus reads them; names follow its conventions (base units, `_total` for counters)."""

    def __init__(self, figures: dict[str, Any], counted: Counted, errors: Mapping[str, int]) -> None:
        self._figures = figures
        self._counted = counted
        self._errors = errors

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        figures = self._figures
        memory, sources = figures["memory"]["stores"], figures["sources"]
        totals = self._counted.totals
        routes, votes = totals["routes"].items(), totals["votes"].items()
        yield InfoMetricFamily("threadlore_build", "What runs.", value={"version": version()})
        times = HistogramMetricFamily(
            "threadlore_answer_seconds", "Time to the end of an answer.", labels=["route"]
        )
        for route, (buckets, sum_) in self._counted.buckets().items():
            times.add_metric([route], buckets, sum_)
        yield times
        told = "Errors that were logged, by their class."
        yield _labelled(CounterMetricFamily, "errors", told, ["class"], self._errors.items())
        yield _labelled(CounterMetricFamily, "answers", "Answers by route.", ["route"], routes)
        yield _labelled(CounterMetricFamily, "votes", "Votes by value.", ["value"], votes)
        yield CounterMetricFamily(
            "threadlore_wrong_reuses",
            "Remembered answers that somebody said were to another question.",
            value=totals["reuse"]["wrong"],
        )
        told = "Questions that were put to a person."
        yield _labelled(GaugeMetricFamily, "escalations", told, ["state"], figures["escalations"].items())
        pairs = ((entry["release"], entry["store"], entry["kept"] + entry["waiting"]) for entry in memory)
        yield _labelled(GaugeMetricFamily, "memory_pairs", "Remembered pairs.", ["release", "store"], pairs)
        chunks = ((release["name"], release["chunks"]) for release in figures["releases"])
        yield _labelled(GaugeMetricFamily, "corpus_chunks", "Passages of a corpus.", ["release"], chunks)
        told, labels = "Failures of a source in a row.", ["release", "source"]
        failures = ((source["release"], source["source"], source["failures"]) for source in sources)
        yield _labelled(GaugeMetricFamily, "source_failures", told, labels, failures)
        model = figures["model"]
        ready = float(bool(model and model["ready"]))
        yield GaugeMetricFamily("threadlore_model_ready", "Whether the model answers.", value=ready)
        states = Counter(server["state"] for server in (model or {}).get("servers", ()))
        if states:
            told = "Servers of the model, where it has several."
            yield _labelled(GaugeMetricFamily, "model_servers", told, ["state"], states.items())
        breaker = figures["breaker"]
        closed = float(breaker is None or breaker["state"] == "closed")
        yield GaugeMetricFamily("threadlore_breaker_closed", "Whether the model is asked.", value=closed)
        indexing = float(len(figures["indexing"]))
        yield GaugeMetricFamily("threadlore_indexing", "Releases that are being indexed.", value=indexing)
        learnt = float(figures["learnt"]["votes"])
        yield GaugeMetricFamily("threadlore_learnt_votes", "Votes the ranking learned from.", value=learnt)
        problems = float(len(figures["problems"]))
        yield GaugeMetricFamily("threadlore_problems", "What `status` finds wrong.", value=problems)


SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper ends of what times are sorted into."""
LATE_SECONDS = 900.0
"""How long after its question an answer may be written down."""


class Counted:
    """Counts for machines: while the process runs they only grow, whatever is removed from the database."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._begun = clock()
        self._seen: dict[str, float] = {}
        self._times: dict[str, list[int]] = {}
        self._sums: defaultdict[str, float] = defaultdict(float)
        self.totals: dict[str, Counter[str]] = {}
        self._last: dict[str, Counter[str]] = {}

    async def read(self, statistics: Statistics) -> None:
        """Count what came since the last reading."""
        now = await statistics.totals()
        for kind, counts in now.items():
            known = self.totals.setdefault(kind, Counter())
            before = self._last.get(kind, Counter())
            for name, count in counts.items():
                known[name] += max(count - before[name], 0)
        self._last = {kind: Counter(counts) for kind, counts in now.items()}
        at = self._clock()
        for one in await statistics.served(max(self._begun, at - LATE_SECONDS)):
            if one.id not in self._seen and one.ms is not None:
                seconds = one.ms / 1000
                places = self._times.setdefault(one.route, [0] * (len(SECONDS) + 1))
                places[next((n for n, end in enumerate(SECONDS) if seconds <= end), len(SECONDS))] += 1
                self._sums[one.route] += seconds
            self._seen[one.id] = one.at
        self._seen = {key: when for key, when in self._seen.items() if when > at - 2 * LATE_SECONDS}

    def buckets(self) -> dict[str, tuple[list[tuple[str, float]], float]]:
        """Return for each route how many answers took up to so many seconds, and the seconds of all."""
        ends = [*map(str, SECONDS), "+Inf"]
        return {
            route: (list(zip(ends, map(float, accumulate(counts)), strict=True)), float(self._sums[route]))
            for route, counts in self._times.items()
        }


def version() -> str:
    """Return the version of Threadlore that runs; empty where it is not installed."""
    try:
        return metadata.version("threadlore")
    except metadata.PackageNotFoundError:
        return ""


def _labelled(
    family: type[Any], name: str, told: str, labels: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Metric:
    """Return a metric with a figure for each row, whose labels stand before it."""
    metric: Metric = family(f"threadlore_{name}", told, labels=labels)
    for *values, figure in rows:
        metric.add_metric(values, figure)  # type: ignore[attr-defined]
    return metric
