"""The process under load, and what it takes of the machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.journeys.child import on_slack
from tests.journeys.house import Kettle
from tests.soak.slack import Slack

ROOT = Path(__file__).parents[2]
START_SECONDS = 120.0
REMEMBERED = 300
"""Pairs in each store of a release: full soon, so that what still grows is none of what is kept."""


@dataclass(frozen=True)
class Taken:
    """What the process and its workers take: MB, handles, threads, share of a core since the last look.

    `held_mb` is memory without what is only mapped from files, which the system takes back when it wants to.
    """

    at: float
    rss_mb: float
    own_rss_mb: float
    held_mb: float
    own_held_mb: float
    processes: int
    handles: int
    threads: int
    cores: float
    database_mb: float
    home_mb: float
    load: float


class Watched:
    """A process that is looked at."""

    def __init__(self, pid: int, kettle: Kettle) -> None:
        self.kettle = kettle
        self.taken: list[Taken] = []
        self._main = psutil.Process(pid)
        self._used, self._looked = 0.0, time.monotonic()

    def alive(self) -> bool:
        """Return True while it runs."""
        return self._main.is_running() and self._main.status() != psutil.STATUS_ZOMBIE

    def look(self) -> Taken:
        """Look at the process, its workers and its files; blocking for some milliseconds."""
        rss, handles, threads, used, count, own = 0, 0, 0, 0.0, 0, 0
        held: list[float] = []
        for process in (self._main, *self._main.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess), process.oneshot():
                now = process.memory_info().rss
                own = own or now
                rss, count = rss + now, count + 1
                held.append(_held(process.pid))
                handles, threads = handles + process.num_fds(), threads + process.num_threads()
                used += sum(process.cpu_times()[:2])
        moment = time.monotonic()
        cores = max(0.0, used - self._used) / max(1e-9, moment - self._looked)
        self._used, self._looked = used, moment
        files = [path for path in self.kettle.home.rglob("*") if path.is_file()]
        sizes = {path: _size(path) for path in files}
        database = sum(size for path, size in sizes.items() if path.name.startswith("threadlore.sqlite3"))
        return Taken(
            *(time.perf_counter(), rss / 2**20, own / 2**20, sum(held), (held or [0.0])[0]),
            *(count, handles, threads, cores),
            *(database / 2**20, sum(sizes.values()) / 2**20, os.getloadavg()[0]),
        )

    def log(self) -> str:
        """Return the end of what it wrote."""
        return (self.kettle.folder / "serve.log").read_text("utf-8", "replace")[-4000:]


def _held(pid: int) -> float:
    """Return the MB of a process that no file backs."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
        return sum(int(kb) for kb in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", status, re.M)) / 1024
    return 0.0  # it ended meanwhile


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # a journal of the database comes and goes
        return 0


def copied(home: Path, config: Path, folder: Path) -> Kettle:
    """Copy an indexed home and its `corpora.toml` to a folder of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(home, folder / "home", symlinks=True, ignore=shutil.ignore_patterns("*.sock", "logs"))
    shutil.copy(config, folder / "corpora.toml")
    return Kettle(folder, folder / "home" / "models")


@asynccontextmanager
async def served(kettle: Kettle, slack: Slack) -> AsyncIterator[Watched]:
    """Run `threadlore serve` on a home, connected to the loopback Slack, until it is left."""
    more = on_slack(slack) | {
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "MEMORY_NEWCOMER_DAYS": "0",
        "MEMORY_VOTES_PER_HOUR": "1000000",
        "QUESTIONS_PER_MINUTE": "100000",
        "MEMORY_LIMIT": str(REMEMBERED),
    }
    with (kettle.folder / "serve.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "serve"),
            env=kettle.variables(**more),
            cwd=kettle.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    watched = Watched(process.pid, kettle)
    try:
        end = time.monotonic() + START_SECONDS
        while not slack.connected:
            if process.returncode is not None or time.monotonic() > end:
                raise RuntimeError(f"The bot did not start:\n{watched.log()}")
            await asyncio.sleep(0.1)
        yield watched
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), 60)
            except TimeoutError:
                process.kill()
                await process.wait()
