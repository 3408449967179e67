"""Plays changed input at every edge: `python -m tests.fuzz --cases 10000 --edge slack --seed 1`.

`--all 1000000` (`make fuzz CASES=1000000`) plays so many in all, fewer at slow edges than at quick ones,
goes on where the last run with this seed ended, and prints a table of what all runs played at each edge.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from tests.fuzz import files, gateway, wires
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
    "gateway": gateway.gateway,
}


SHARES = {
    "slack": 2,
    "payloads": 24,
    "texts": 1,
    "ollama": 3,
    "openai": 1,
    "corpora": 4,
    "gold": 12,
    "pairs": 40,
    "http": 10,
    "control": 2,
    "gateway": 1,
}
"""Of a hundred cases: about as quick as an edge is, so that none takes most of the time."""
KEPT = Path(".threadlore/fuzz")


async def played(edge: str, seed: int, first: int, count: int, seconds: float = 1e9) -> Report:
    """Play cases of one edge."""
    async with EDGES[edge]() as case:
        return await watched(edge, case, seed, first, count, seconds)


def _all(cases: int, seed: int, seconds: float) -> bool:
    """Play what is missing of so many cases, each edge for so long at most; return True where one failed."""
    for handler in logging.getLogger().handlers:  # `watched` has one of its own
        handler.setLevel(logging.CRITICAL)
    file, failed = KEPT / f"{seed}.json", False
    known: dict[str, int] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    print("| edge | cases of all runs | wanted | of this run | seconds | failed |")
    print("|---|---:|---:|---:|---:|---:|")
    for edge, share in SHARES.items():
        begun, wanted = known.get(edge, 0), cases * share // 100
        report = asyncio.run(played(edge, seed, begun, max(0, wanted - begun), seconds))
        known[edge] = begun + report.cases
        KEPT.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(known), "utf-8")
        done = f"{known[edge]:,} | {wanted:,} | {report.cases:,} | {report.seconds:.0f}"
        print(f"| `{edge}` | {done} | {len(report.failures)} |", flush=True)
        for failure in report.failures:
            print(f"\n{failure}\n", flush=True)
        failed = failed or bool(report.failures)
    print(f"| all, seed {seed} | {sum(known.values()):,} | {cases:,} | | | {'yes' if failed else 0} |")
    return failed


def main() -> None:
    """Play what the command line names; exit with 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--cases", type=int, default=10_000, help="cases of each edge")
    parser.add_argument("--edge", choices=list(EDGES), help="one edge alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--minutes", type=float, default=1e6, help="time of each edge")
    parser.add_argument("--all", type=int, default=0, help="cases of all edges together, of all runs")
    given = parser.parse_args()
    logging.basicConfig(level=logging.CRITICAL)
    logging.getLogger().setLevel(logging.WARNING)
    if given.all:
        sys.exit(_all(given.all, given.seed, given.minutes * 60))
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
