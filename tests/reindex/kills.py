"""`make reindex-kills`: a reindex that is killed again and again while people ask.

    python -m tests.reindex.kills --kills 50 --seed 1

One `threadlore serve` with a home on disk indexes pages of a folder, of a git repository and of a website on
loopback with ETags, which are changed, removed and added. SIGKILL ends it at random moments of every stage;
it is started again, and the reindex is gone on with. Whoever asks gets the old corpus or the new one, whole;
after the last reindex the home holds exactly what a fresh one holds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bot.home.control_socket import call
from tests.core.ingestion_sources.site_server import Site
from tests.endurance.checks import Checks
from tests.endurance.process import Died, Killed, Process, Refused
from tests.journeys.house import opened
from tests.reindex.contents import contents, differences
from tests.reindex.pages import NAMES, RELEASE, KillKettle, Pages, State, editions, fits

ASKERS = 2
"""People who ask all the time."""
MOMENTS = {
    "reading": 0.4,
    "embedding": 1.0,
    "indexing": 0.3,
    "swap and clean-up": 0.8,
    "pairs": 0.4,
    "embedding pairs": 0.8,
    "any": 0.0,
    "start": 0.0,
}
"""When a kill comes, and the most seconds it waits once the process is there; "any" in a whole reindex."""
_BEGINS = {"swap and clean-up": "indexing"}
ASKED_AFTER = 6
"""Questions after each start."""
RESUMED = 0.5
"""Share of kills after which the reindex is gone on with to its end; the others are killed once more."""


class Run:
    """One run of so many kills."""

    def __init__(self, kettle: KillKettle, pages: Pages, kills: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.process = Process(kettle)
        self.pages = pages
        self.checks = Checks()
        self.moments: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.rounds = 0
        self.kills = [list(MOMENTS)[at % len(MOMENTS)] for at in range(kills)]
        self.chance.shuffle(self.kills)
        self._old: State = dict(pages.state)
        self._new_since = float("inf")
        self._stage = ""
        self._seconds = 5.0
        self._wrong: dict[str, list[str]] = {}

    async def run(self) -> None:
        """Do it all."""
        await self.process.start()
        await self._to_the_end()
        self._change()
        for number, moment in enumerate(self.kills, start=1):
            await self._killed_at(moment)
            await self._started(f"after kill {number} ({moment})")
            if self.chance.random() < RESUMED:
                await self._to_the_end()
                self._change()
            print(
                f"{time.strftime('%H:%M:%S')} kill {number} of {len(self.kills)} ({moment}), "
                f"{self.asked.total()} questions, {self.checks.failed} failed",
                flush=True,
            )
        await self._to_the_end()
        await self.process.kill()

    def _change(self) -> None:
        self._old = self.pages.change(self.chance)
        self._new_since = float("inf")
        self.rounds += 1

    async def _killed_at(self, moment: str) -> None:
        """Reindex while people ask, and kill the process at a moment of it."""
        if moment == "start":
            await self.process.kill()
            await self.process.start(self.chance.uniform(0, 6.0))
            await self.process.kill()
            self.moments["while starting"] += 1
            return
        async with self._people():
            indexing = asyncio.create_task(self._reindex())
            wanted, began = _BEGINS.get(moment, moment), time.monotonic()
            if moment == "any":
                await asyncio.wait({indexing}, timeout=self.chance.uniform(0, 1.1 * self._seconds))
            else:
                while self._stage != wanted and not indexing.done():
                    await asyncio.sleep(0.002)
                await asyncio.wait({indexing}, timeout=self.chance.uniform(0, MOMENTS[moment]))
            self.moments[f"at {self._stage or 'the beginning'}"] += 1
            await self.process.kill()
            with contextlib.suppress(Killed):
                await indexing
            self._seconds = max(2.0, 0.7 * self._seconds + 0.3 * (time.monotonic() - began))

    async def _started(self, when: str) -> None:
        """Start the process again; what is there is whole and answers."""
        await self.process.start()
        for _ in range(ASKED_AFTER):
            await self._ask()
        self._tell(when)
        self.checks.add(when, {"verify finds nothing wrong": await self._verified()})

    async def _to_the_end(self) -> None:
        """Reindex to the end while people ask; from then on the new pages answer, and only they."""
        began = time.monotonic()
        async with self._people():
            await self._reindex()
        self._seconds = time.monotonic() - began
        self._new_since = time.monotonic()
        changed = [n for n in self.pages.names if self._old.get(n) != self.pages.state.get(n)]
        for name in changed[:ASKED_AFTER] or self.pages.names[:ASKED_AFTER]:
            await self._ask(name)
        when = f"after reindex {self.rounds}"
        self._tell(when)
        found = {"verify finds nothing wrong": await self._verified(finished=True)}
        self.checks.add(when, found)
        self._old = dict(self.pages.state)

    async def _reindex(self) -> None:
        """Give the command and follow its stages; raises Killed, or Died where it fails."""
        self._stage = ""
        last: dict[str, object] = {}
        with contextlib.suppress(ConnectionError):
            async for message in call(self.process.kettle.home, {"command": "index", "release": RELEASE}):
                last = message
                if "progress" in message:
                    self._stage = message["progress"]["stage"]
        if last.get("code") != 0:
            await asyncio.sleep(0.3)  # it may just have been killed
            if self.process.killed:
                raise Killed
            raise Died(f"a reindex failed: {last}\n{self.process.log()}")
        self._stage = "the end"

    @contextlib.asynccontextmanager
    async def _people(self):  # type: ignore[no-untyped-def]
        """Let people ask all the time."""
        stopped = asyncio.Event()

        async def person() -> None:
            while not stopped.is_set():
                began = time.monotonic()
                await self._ask()
                # else nothing is left for reading, which stands behind people on a machine that has others
                await asyncio.sleep(ASKERS * (time.monotonic() - began))

        people = [asyncio.create_task(person()) for _ in range(ASKERS)]
        try:
            yield
        finally:
            stopped.set()
            for ended in await asyncio.gather(*people, return_exceptions=True):
                if isinstance(ended, BaseException) and not isinstance(ended, Killed):
                    raise ended

    async def _ask(self, name: str = "") -> None:
        """Ask about a page, most often about one that changes, and look from which corpus the answer is."""
        old, new = self._old, self.pages.state
        changed = [n for n in self.pages.names if old.get(n) != new.get(n)]
        name = name or self.chance.choice(changed if changed and self.chance.random() < 0.7 else sorted(new))
        question, began = self.pages.question(name, self.chance), time.monotonic()
        try:
            reply = await self.process.ask(
                command="ask", question=question, release=RELEASE, user="cli", channel="", json=True
            )
        except Refused as refused:
            self._add("every question is answered", f"{question}: {refused}")
            return
        answer = json.loads(reply.lines[-1])
        found = editions([answer["answer"], *(page["text"] for page in answer["retrieved"])])
        is_old, is_new = fits(found, old), fits(found, new)
        is_whole = (is_old and (name in found or name not in old)) or (
            is_new and (name in found or name not in new)
        )
        late = began > self._new_since
        if is_new and not is_old:
            self._new_since = min(self._new_since, time.monotonic())
        self.asked["both" if is_old and is_new else "old" if is_old else "new" if is_new else "none"] += 1
        self._add("every question is answered", "" if found else f"{question}: {answer['answer'][:200]}")
        told = {key: sorted(numbers) for key, numbers in found.items()}
        self._add(
            "an answer is of one corpus, the old one or the new one",
            "" if is_whole else f"{question}: {told}; before {_of(old, found)}, now {_of(new, found)}",
        )
        self._add(
            "after the first answer of the new corpus none is of the old one",
            f"{question}: {told}" if late and not is_new else "",
        )

    def _add(self, check: str, wrong: str) -> None:
        self._wrong.setdefault(check, []).extend([wrong] if wrong else [])

    def _tell(self, when: str) -> None:
        """Count what the questions since the last time showed."""
        self.checks.add(when, self._wrong)
        self._wrong = {}

    async def _verified(self, finished: bool = False) -> list[str]:
        try:
            lines = (await self.process.ask(command="verify")).lines
        except Refused as refused:
            return [str(refused)]
        return [line for line in lines if finished and "cut short" in line]

    def table(self) -> str:
        """Return what was done and found."""
        lines = [
            f"{self.rounds} times other pages, {self.asked.total()} questions: "
            + ", ".join(f"{count} from {which}" for which, count in sorted(self.asked.items())),
            *(f"{count:5} kills {moment}" for moment, count in sorted(self.moments.items())),
            "",
            self.checks.table(),
        ]
        return "\n".join(lines)


def _of(state: State, found: dict[str, set[int]]) -> dict[str, int | None]:
    return {name: state.get(name) for name in found}


async def endure(folder: Path, encoder_cache: Path, kills: int, seed: int, pages: int = len(NAMES)) -> Run:
    """Build a home in a folder, run on it, and compare it with a fresh one."""
    with Site() as site:
        return await _endure(Pages(folder, site, pages), folder, encoder_cache, kills, seed)


async def _endure(pages: Pages, folder: Path, encoder_cache: Path, kills: int, seed: int) -> Run:
    pages.fill()
    kettle = KillKettle(folder, encoder_cache)
    kettle.home.mkdir()
    (kettle.home / "models").symlink_to(encoder_cache)
    async with opened(kettle) as app:
        await app.corpus_manager.reindex()
    run = Run(kettle, pages, kills, seed)
    try:
        await run.run()
    except Died as error:
        run.checks.add("the process", {"it ends only when it is killed": [str(error)]})
        return run
    finally:
        await run.process.kill()
    fresh = KillKettle(folder / "fresh", encoder_cache)
    fresh.home.mkdir(parents=True)
    (fresh.home / "models").symlink_to(encoder_cache)
    (fresh.folder / "corpora.toml").write_text(kettle.config.read_text())
    async with opened(fresh) as app:
        await app.corpus_manager.reindex()
    run.checks.add("at the end", differences(await contents(kettle), await contents(fresh)))
    return run


def main() -> None:
    """Run as the command line says; exit status 1 where a check failed."""
    options = argparse.ArgumentParser(prog="python -m tests.reindex.kills", description=__doc__)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--pages", type=int, default=len(NAMES))
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"))
    given = options.parse_args()
    given.models.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        run = asyncio.run(
            endure(Path(made) / "kettle", given.models.absolute(), given.kills, given.seed, given.pages)
        )
    print(run.table())
    print(f"\nseed {given.seed}, {(time.monotonic() - began) / 60:.1f} min")
    print(f"{run.checks.passed} checks passed, {run.checks.failed} failed")
    sys.exit(1 if run.checks.failed else 0)


if __name__ == "__main__":
    main()
