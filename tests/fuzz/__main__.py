"""Plays changed input at every edge: `python -m tests.fuzz --cases 10000 --edge slack --seed 1`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from tests.fuzz import files, wires
from tests.fuzz.watch import Case, Report, watched

EDGES: dict[str, Callable[[], AbstractAsyncContextManager[Case]]] = {
    "slack": wires.slack,
    "payloads": files.payloads,
    "texts": files.texts,
    "ollama": wires.ollama_streams,
    "openai": wires.openai_streams,
    "corpora": files.corpora,
    "gold": files.gold,
    "pairs": files.pairs,
    "http": wires.http,
    "control": wires.control,
}


async def played(edge: str, seed: int, first: int, count: int, seconds: float = 1e9) -> Report:
    """Play cases of one edge."""
    async with EDGES[edge]() as case:
        return await watched(edge, case, seed, first, count, seconds)


def main() -> None:
    """Play what the command line names; exit with 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--cases", type=int, default=10_000, help="cases of each edge")
    parser.add_argument("--edge", choices=list(EDGES), help="one edge alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--minutes", type=float, default=1e6, help="time of each edge")
    given = parser.parse_args()
    logging.basicConfig(level=logging.CRITICAL)
    logging.getLogger().setLevel(logging.WARNING)
    failed = False
    for edge in [given.edge] if given.edge else list(EDGES):
        report = asyncio.run(played(edge, given.seed, given.first, given.cases, given.minutes * 60))
        said = f"{report.cases} cases in {report.seconds:.0f} s, slowest {report.slowest:.3f} s"
        print(f"{edge}: {said}, {report.caught} logged, {len(report.failures)} failed", flush=True)
        for failure in report.failures:
            print(failure, flush=True)
        failed = failed or bool(report.failures)
    sys.exit(failed)


if __name__ == "__main__":
    main()
