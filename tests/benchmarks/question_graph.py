"""`make bench`: the question graph with 100,000 questions and a million edges, beside a dense search."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from core.domain import Vector
from core.memory.question_graph import QuestionGraph, pagerank
from core.ports import Matrix
from tests.benchmarks.memory import resident_mb, unit
from tests.benchmarks.reports import quantile

QUESTIONS = 100_000
KINDS = 14
"""Directions that the synthetic questions differ in, the last one less: with so few, 100,000 of them have a
million edges over .8, and all of them hang together."""
LAST = 0.55
DIMENSIONS = 384
ASKED = 200
COMPARED = 10
"""Questions whose two best are compared with those of a whole power iteration."""
TOP = 2
AIM = 20.0
"""Milliseconds beyond the dense search that a question may take (95th percentile)."""


def make_world(count: int) -> Matrix:
    """Make questions as unit vectors, shape (count, 384)."""
    chance = np.random.default_rng(7)
    turned, _ = np.linalg.qr(chance.normal(size=(DIMENSIONS, KINDS)))
    places = chance.normal(size=(count, KINDS))
    places[:, -1] *= LAST
    return unit(places @ turned.T)


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the graph, then measure questions, one more question, and one less; print a table."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.question_graph", description=__doc__)
    options.add_argument("--questions", type=int, default=QUESTIONS)
    for name, value in measure(options.parse_args(arguments).questions).items():
        print(f"  {name:<52} {value}")


def measure(count: int) -> dict[str, str]:
    """Return the figures of a graph of so many questions."""
    world = make_world(count)
    before, began = resident_mb(), time.perf_counter()
    graph = QuestionGraph(DIMENSIONS)
    graph.put({f"q{row:06}": world[row] for row in range(count)})
    built, used = time.perf_counter() - began, resident_mb() - before
    chance = np.random.default_rng(8)
    dense, walked, spent, same, without = [], [], [], 0, 0
    for turn in range(ASKED + 5):
        asked = _near(world, chance)
        began = time.perf_counter()
        cosines = world @ asked
        np.argpartition(-cosines, TOP)[:TOP]
        searched, busy = time.perf_counter(), time.thread_time()
        found = graph.ranked(cosines, TOP)
        ended = time.perf_counter()
        if turn >= 5:  # the first ones warm up
            dense.append((searched - began) * 1000)
            walked.append((ended - searched) * 1000)
            spent.append((time.thread_time() - busy) * 1000)
            without += not found[0][1]
        if turn < COMPARED:
            same += {row for row, _ in found} == _whole(graph, cosines)
    added = _timed(lambda: graph.put({"new": _near(world, chance)}))
    removed = _timed(lambda: graph.remove(["new"]))
    return {
        "questions, edges": f"{len(graph):,}, {graph.edges:,}",
        "built in s": f"{built:.1f}",
        "memory in MB, vectors included": f"{used:.0f}",
        "dense search, ms p50 p95": _quantiles(dense),
        f"PageRank beyond it, ms p50 p95 (aim: {AIM:.0f})": _quantiles(walked),
        "  the same in processor time": _quantiles(spent),
        "questions without an edge": f"{without} of {ASKED}",
        "same best two as the whole iteration": f"{same} of {COMPARED}",
        "one more question, ms": f"{added:.0f}",
        "one less, ms": f"{removed:.0f}",
    }


def _whole(graph: QuestionGraph, cosines: Vector) -> set[int]:
    """Return the two best by the power iteration over the whole graph."""
    ranks = pagerank(graph.links, np.where(cosines > graph.edge, cosines, 0.0).astype(np.float64))[:-1]
    return set(np.argsort(-ranks)[:TOP].tolist())


def _near(world: Matrix, chance: np.random.Generator) -> Vector:
    """Return a question that is near one of the world: their cosine is about .9."""
    row = world[int(chance.integers(len(world)))]
    asked: Vector = unit(row + 0.45 * unit(world[chance.integers(len(world), size=1)])[0])
    return asked


def _timed(do: Callable[[], None]) -> float:
    began = time.perf_counter()
    do()
    return (time.perf_counter() - began) * 1000


def _quantiles(ms: list[float]) -> str:
    return f"{quantile(ms, 50):.1f} {quantile(ms, 95):.1f}"


if __name__ == "__main__":
    main()
