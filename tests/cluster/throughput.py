"""`make throughput`: how many questions one, two and three processes answer in a second; prints a table.

    THREADLORE_TEST_POSTGRES=postgresql://user@127.0.0.1/db python -m tests.cluster.throughput --sizes 1 2 3

All questions are asked at once, none was asked before, no model writes. With `--votes 3` people put three
votes on each answer as it comes, and it is over once all are counted. Each round starts a cluster of its own
on a schema of its own; sizes take turns, so that what else the machine does hits all of them. What it says
are medians.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.models.embedding.encoder import PACKAGED, load_encoder
from tests.cluster.world import World, world
from tests.databases import GIVEN, VARIABLE, postgres_schema
from tests.soak.verdict import quantile

MODELS = Path(".threadlore/models").absolute()
SIZES, ROUNDS, QUESTIONS, WARM = (1, 2, 3), 3, 120, 12
CHANNELS = 40


@dataclass(frozen=True, slots=True)
class Measured:
    """Answers a second, and from question to answer in seconds, of one round; `load` is the machine's."""

    rate: float
    p50: float
    p95: float
    load: float


async def throughput(folder: Path, size: int, questions: int, votes: int = 0) -> Measured:
    """Ask so many processes all questions at once, after some that warm them up, with votes on each."""
    with postgres_schema() as url:
        async with world(folder, MODELS, url, size) as some:
            await some.start()
            await some.indexed()
            chance = random.Random(size)
            await _answered(some, chance, WARM * size, votes)
            before, began = set(some.asked), time.monotonic()
            await _answered(some, chance, questions, votes)
            seconds = time.monotonic() - began
            waits = [some.answered[place] - some.asked[place] for place in some.asked if place not in before]
            return Measured(questions / seconds, quantile(waits, 50), quantile(waits, 95), os.getloadavg()[0])


async def _answered(some: World, chance: random.Random, questions: int, votes: int) -> None:
    asked = {some.ask(chance, CHANNELS) for _ in range(questions)}

    def done() -> bool:
        some.look()
        for place in sorted(asked & some.answered.keys()):
            asked.discard(place)
            for _ in range(votes):
                some.vote(chance, place)
        return not asked and not (votes and some.slack._waiting)

    await some.until(done, "everything is answered, and every vote is counted", 900)


def measured(sizes: Sequence[int], rounds: int, questions: int, votes: int = 0) -> dict[int, list[Measured]]:
    """Measure each size so often, in turn and every other time in the opposite order."""
    MODELS.mkdir(parents=True, exist_ok=True)
    load_encoder(PACKAGED, MODELS).close()
    found: dict[int, list[Measured]] = {size: [] for size in sizes}
    for number in range(rounds):
        for size in sizes if number % 2 == 0 else list(sizes)[::-1]:
            with tempfile.TemporaryDirectory() as made:
                found[size].append(asyncio.run(throughput(Path(made), size, questions, votes)))
    return found


def as_table(found: Mapping[int, Sequence[Measured]], questions: int, votes: int = 0) -> str:
    """Return the medians as a Markdown table, each rate beside that of the first size."""
    first = statistics.median(one.rate for one in next(iter(found.values())))
    loads = [one.load for some in found.values() for one in some]
    lines = [
        f"{questions} questions at once{f' with {votes} votes each' if votes else ''}, "
        f"{len(next(iter(found.values())))} rounds in turn, "
        f"{os.cpu_count()} cores, a load of {min(loads):.1f} to {max(loads):.1f}:",
        "",
        "| processes | answers a second | least to most | of the first | median wait, s | p95, s |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for size, some in found.items():
        rates = [one.rate for one in some]
        rate = statistics.median(rates)
        p50, p95 = statistics.median(one.p50 for one in some), statistics.median(one.p95 for one in some)
        span = f"{min(rates):.1f} to {max(rates):.1f}"
        lines.append(f"| {size} | {rate:.1f} | {span} | {rate / first:.2f} | {p50:.1f} | {p95:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Run as the command line says."""
    options = argparse.ArgumentParser(prog="python -m tests.cluster.throughput", description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options.add_argument("--rounds", type=int, default=ROUNDS)
    options.add_argument("--questions", type=int, default=QUESTIONS)
    options.add_argument("--votes", type=int, default=0, help="votes on each answer")
    given = options.parse_args()
    if not GIVEN:
        sys.exit(f"Start a PostgreSQL and set {VARIABLE}=postgresql://user@127.0.0.1/db.")
    found = measured(given.sizes, given.rounds, given.questions, given.votes)
    print(as_table(found, given.questions, given.votes))


if __name__ == "__main__":
    main()
