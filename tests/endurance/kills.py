"""`make endurance`: random operations on a real process that is killed again and again.

    python -m tests.endurance.kills --operations 10000 --kills 100 --seed 1

People ask, vote, change and take back votes; pairs are imported, retired and exported; people are
forgotten; a folder changes and is read anew. Several of them at once, on one `threadlore serve` with
a home on disk, which is ended by SIGKILL at random moments and started again. After each start, and
at the end, what was acknowledged must be there, and memory what the votes say.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.endurance.checks import Checks, check, check_indexes
from tests.endurance.ledger import Ledger
from tests.endurance.operations import Operations
from tests.endurance.process import Died, Process
from tests.endurance.world import FEATURES, Shelf
from tests.journeys.house import Kettle, new_folder, opened

CLIENTS = 4
"""Commands under way at the same time."""
AT_START = 0.2
"""Share of kills that hit a process while it starts."""
IN_HEAVY = 0.45
"""Share of the other kills that wait for a command that writes much."""
HEAVY_SECONDS = 1.5
"""Longest time from the beginning of such a command to the kill."""
PAUSE_SECONDS = 0.15
"""Longest time from the last operation to the kill, for the other kills."""


class Run:
    """One run: so many operations in all, so many kills in between."""

    def __init__(self, kettle: Kettle, shelf: Shelf, operations: int, kills: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.process = Process(kettle)
        self.ledger = Ledger()
        self.operations = Operations(self.process, self.ledger, shelf, self.chance)
        self.checks = Checks()
        self.moments: Counter[str] = Counter()
        self.starts: list[float] = []
        at_start = round(kills * AT_START)
        # a kill while starting has no operations before it
        self.kills = ["start"] * at_start + [
            "heavy" if self.chance.random() < IN_HEAVY else "any" for _ in range(kills - at_start)
        ]
        self.chance.shuffle(self.kills)
        self.wanted = operations

    async def run(self) -> None:
        """Do it all."""
        kills_left = len(self.kills)
        for kill in self.kills:
            if kill == "start":
                typical = sum(self.starts) / len(self.starts) if self.starts else 3.0
                self.starts.append(await self.process.start(self.chance.uniform(0, 1.1 * typical)))
                if self.process.killed:
                    self.starts.pop()
                else:
                    await self.process.kill()
                self.moments["while starting"] += 1
            else:
                await self._started()
                lives = sum(1 for k in self.kills[-kills_left:] if k != "start") + 1
                share = (self.wanted - self.operations.started) / lives
                await self._live(round(share * self.chance.uniform(0.5, 1.5)), kill)
            kills_left -= 1
            self._tell(len(self.kills) - kills_left)
        await self._started()
        await self._live(self.wanted - self.operations.started, "")
        found = await check(self.process, self.ledger)
        self.checks.add("at the end", found | {"no command fails": self.operations.refused})
        await self.process.kill()
        self.checks.add("at the end", await check_indexes(self.process.kettle))

    async def _started(self) -> None:
        """Start the process and check what it holds; what it had begun to forget is forgotten now."""
        self.starts.append(await self.process.start())
        before = self.operations.forgetting
        known = [self.ledger] + ([self.ledger.after_forgetting(before)] if before else [])
        found = [await check(self.process, ledger) for ledger in known]
        best = min(range(len(found)), key=lambda i: sum(map(len, found[i].values())))
        self.checks.add(f"after kill {sum(self.moments.values())}", found[best])
        if best:
            self.ledger.forgot(before)
        await self.operations.after_restart()

    async def _live(self, count: int, kill: str) -> None:
        """Do so many operations with several clients, then kill the process as planned."""
        until = self.operations.started + max(count, 1)
        heavy = asyncio.Event()
        clients = [
            asyncio.create_task(self.operations.client(number, CLIENTS, until, kill, heavy))
            for number in range(CLIENTS)
        ]
        if kill == "heavy":
            waiting = asyncio.create_task(heavy.wait())
            await asyncio.wait({waiting, *clients}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            await asyncio.sleep(self.chance.uniform(0, HEAVY_SECONDS))
            self.moments[f"while it does {self.operations.heavy}"] += 1
        elif kill:
            while self.operations.started < until and not any(c.done() for c in clients):
                await asyncio.sleep(0.005)
            await asyncio.sleep(self.chance.uniform(0, PAUSE_SECONDS))
            self.moments["at any moment"] += 1
        if kill:
            await self.process.kill()
        for done in await asyncio.gather(*clients, return_exceptions=True):
            if isinstance(done, BaseException):
                raise done

    def _tell(self, number: int) -> None:
        print(
            f"{time.strftime('%H:%M:%S')} kill {number} of {len(self.kills)}, "
            f"{self.operations.started} operations, {self.checks.failed} failed",
            flush=True,
        )

    def table(self) -> str:
        """Return what was done and found."""
        starts = sorted(self.starts) or [0.0]
        lines = [
            self.operations.table(),
            "",
            *(f"{count:5} kills {moment}" for moment, count in sorted(self.moments.items())),
            f"{len(starts):5} starts: median {statistics.median(starts):.1f} s, longest {starts[-1]:.1f} s",
            "",
            self.checks.table(),
        ]
        return "\n".join(lines)


async def endure(
    folder: Path, encoder_cache: Path, operations: int, kills: int, seed: int, features: int = len(FEATURES)
) -> Run:
    """Build a home in a folder and run on it; an end that nobody caused counts as a failed check."""
    kettle = new_folder(folder, encoder_cache)
    shelf = Shelf(kettle.folder, features)
    shelf.fill()
    async with opened(kettle) as app:
        await app.corpus_manager.reindex()
    run = Run(kettle, shelf, operations, kills, seed)
    try:
        await run.run()
    except Died as error:
        run.checks.add("the process", {"it ends only when it is killed": [str(error)]})
    finally:
        await run.process.kill()
    return run


def main() -> None:
    """Run as the command line says; exit status 1 where a check failed."""
    options = argparse.ArgumentParser(prog="python -m tests.endurance.kills", description=__doc__)
    options.add_argument("--operations", type=int, default=10_000)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"))
    options.add_argument("--keep", type=Path, help="folder to work in, which is kept")
    given = options.parse_args()
    given.models.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = (given.keep or Path(made) / "kettle").absolute()
        run = asyncio.run(endure(folder, given.models.absolute(), given.operations, given.kills, given.seed))
    print(run.table())
    print(f"\nseed {given.seed}, {(time.monotonic() - began) / 60:.1f} min")
    print(f"{run.checks.passed} passed, {run.checks.failed} failed")
    sys.exit(1 if run.checks.failed else 0)


if __name__ == "__main__":
    main()
