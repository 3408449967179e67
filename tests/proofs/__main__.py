"""Plays many sequences of one machine, or explores the claim protocol; prints what it played.

python -m tests.proofs claims --sequences 1000 --seed 7
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis.stateful import RuleBasedStateMachine

from tests.databases import GIVEN, postgres_schema
from tests.journeys.house import new_kettle
from tests.proofs.claims import Claims
from tests.proofs.memory import Home, Placement
from tests.proofs.protocol import LEASE, MISTAKES, TODAY, explored
from tests.proofs.running import played
from tests.proofs.scope import Scopes
from tests.proofs.votes import Votes
from tests.proofs.world import models_folder, world

STEPS = {"claims": 10, "votes": 20, "memory": 20, "scope": 12}
BATCH = 50
"""Sequences that are played with one seed; the next ones have the next."""


@contextmanager
def machine(name: str) -> Iterator[Callable[[], RuleBasedStateMachine]]:
    """Open what a machine plays on; PostgreSQL, where memory may have one."""
    with tempfile.TemporaryDirectory() as folder:
        if name == "memory" and GIVEN:
            with postgres_schema() as url:
                home = Home(Path(folder), url)
                yield lambda: Placement(home)
                home.close()
        elif name == "memory":
            home = Home(Path(folder))
            yield lambda: Placement(home)
            home.close()
        else:
            kettle = asyncio.run(new_kettle(Path(folder) / "kettle", models_folder(), "2.0"))
            made = {"claims": Claims, "votes": Votes, "scope": Scopes}[name]
            with world(kettle) as opened:
                yield lambda: made(opened)


def explore(depth: int) -> None:
    """Print what every interleaving of each protocol leads to."""
    for protocol in (TODAY, LEASE, *MISTAKES):
        found = explored(protocol, depth)
        said = f"{found.wrong}: {'; '.join(found.trace)}" if found.wrong else "never wrong"
        print(f"{protocol.name}: {found.states} states, {found.steps} steps, {said}")


def main() -> None:
    """Play what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs")
    parser.add_argument("what", choices=[*STEPS, "protocol"])
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--depth", type=int, default=30)
    given = parser.parse_args()
    if given.what == "protocol":
        explore(given.depth)
        return
    logging.disable(logging.CRITICAL)
    begun, done = time.monotonic(), 0
    with machine(given.what) as make:
        while done < given.sequences:
            count = min(BATCH, given.sequences - done)
            played(make, count, STEPS[given.what], given.seed + done // BATCH)
            done += count
            print(f"{done} sequences, {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
