"""`make soak MINUTES=60`: ask and vote at 80 % of what the bot bears, and see whether it stays as it is.

    python -m tests.soak --minutes 60 --core 1 --home .threadlore/bench

One `threadlore serve` on a copy of the home, at the loopback Slack, without a model. Memory, handles,
threads, times and the database are looked at every ten seconds. Exit status 1 where memory or handles grow,
answers get slower, or a question stays without an answer. `--core` keeps the process and those who ask on
one core.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.benchmarks.fresh import Questions
from tests.benchmarks.reports import FOLDER, Figure, as_rows, compare, machine, table, write
from tests.soak.capacity import Capacity, capacity
from tests.soak.people import Answered, People
from tests.soak.plot import draw_soak
from tests.soak.process import ROOT, Taken, Watched, copied, served
from tests.soak.verdict import Check, checks, quantile, rows

HOME = Path(os.environ.get("THREADLORE_BENCH_HOME", ".threadlore/bench"))
GOLD = ROOT / "tests" / "golden" / "flask.jsonl"
LOOK_SECONDS = 10.0
STEP_SECONDS = (5.0, 30.0)
"""A step of the search for the capacity is a twentieth of the soak, but at least and at most so long."""


def tell(text: str) -> None:
    """Say what happens."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


async def soak(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Measure the capacity, then ask at a share of it; return the report."""
    kettle = await asyncio.to_thread(copied, given.home, given.config, folder)
    chance, seconds = random.Random(given.seed), given.minutes * 60
    gold = given.gold if given.gold and given.gold.is_file() else None
    people = People(Questions(_pages(kettle.home), _golden(gold), chance), chance)
    async with people.slack, served(kettle, people.slack) as process:
        await people.agree()
        step = min(max(seconds / 20, STEP_SECONDS[0]), STEP_SECONDS[1])
        found = Capacity(given.rate / given.share) if given.rate else await capacity(people, step, tell)
        rate = found.rate * given.share
        tell(f"{given.minutes:g} minutes at {rate:.2f} questions a second")
        began, first = time.perf_counter(), len(people.answered)
        looking = asyncio.create_task(_look(process, people, seconds, given.every))
        await people.at_rate(rate, seconds)
        await people.nothing_waits()
        looking.cancel()
        taken = [one for one in process.taken if one.at >= began]
        lost, alive = people.waiting, process.alive()
    answered = people.answered[first:]
    found_out = checks(taken, answered, began, seconds, lost)
    if not alive:
        found_out.append(Check("processes that ended by themselves", 0, 1, 0, ""))
    return _report(given, found, rate, people, taken, answered, began, found_out, kettle.home)


async def _look(process: Watched, people: People, seconds: float, every: float) -> None:
    """Look at the process again and again, and say how it is now and then."""
    shown = 0.0
    while True:
        now = await asyncio.to_thread(process.look)
        process.taken.append(now)
        if now.at - shown > max(60.0, seconds / 40):
            shown = now.at
            ms = [one.ms for one in people.answered if one.at > now.at - 60]
            tell(
                f"{now.rss_mb:.0f} MB, {now.handles} handles, {now.threads} threads, {now.cores:.2f} cores, "
                f"p95 {quantile(ms, 95):.0f} ms, {people.waiting} waiting, load {now.load:.1f}"
            )
        await asyncio.sleep(every)


def _report(
    given: argparse.Namespace,
    found: Capacity,
    rate: float,
    people: People,
    taken: list[Taken],
    answered: list[Answered],
    began: float,
    found_out: list[Check],
    home: Path,
) -> dict[str, Any]:
    ms = [one.ms for one in answered]
    again = [one.ms for one in answered if one.repeated]
    known = machine()
    figures = [
        *([Figure("capacity", found.rate, "questions/s", lower=False)] if found.steps else []),
        Figure("p50 at the soak's rate", quantile(ms, 50), "ms"),
        Figure("p95 at the soak's rate", quantile(ms, 95), "ms"),
        Figure("p95 of questions asked again", quantile(again, 95), "ms"),
        Figure("memory at the end", taken[-1].rss_mb, "MB"),
        Figure("open handles at the end", taken[-1].handles, ""),
    ]
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": known | {"pinned_to_core": given.core},
        "load_beside": [min(one.load for one in taken), max(one.load for one in taken)],
        "minutes": given.minutes,
        "rate": rate,
        "capacity": vars(found),
        "asked": len(answered),
        "asked_again": len(again),
        "votes": people.votes,
        "routes": _routes(home),
        "holds": all(check.holds for check in found_out),
        "checks": [vars(check) | {"holds": check.holds} for check in found_out],
        "figures": as_rows(figures),
        "worse": compare(given.report, "soak", known, figures, f"{given.minutes:g} min"),
        "samples": rows(taken, answered, began),
        "lines": [*(check.text() for check in found_out), "", table(figures)],
    }


def _pages(home: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(f"file:{home / 'threadlore.sqlite3'}?mode=ro", uri=True)) as database:
        return list(database.execute("SELECT heading, page FROM context_chunks ORDER BY id"))


def _golden(gold: Path | None) -> list[str]:
    lines = [json.loads(line) for line in gold.read_text("utf-8").splitlines()] if gold else []
    return [line["question"] for line in lines if not line.get("history")]


def _routes(home: Path) -> dict[str, int]:
    """Return how many answers came by which route, of all that the home has."""
    with closing(sqlite3.connect(f"file:{home / 'threadlore.sqlite3'}?mode=ro", uri=True)) as database:
        return dict(database.execute("SELECT route, count(*) FROM answers GROUP BY route").fetchall())


def _text(report: dict[str, Any], drawn: tuple[str, ...]) -> str:
    low, high = report["load_beside"]
    known, rate = report["machine"], report["rate"]
    core = known["pinned_to_core"]
    pinned = f", kept on core {core}" if core is not None else ""
    lines = [
        f"# Soak: {'passed' if report['holds'] else 'failed'}\n",
        f"{report['at']}, {known['processor']}, {known['cores']} cores{pinned}; load of the machine "
        f"{low:.1f} to {high:.1f}. {report['minutes']:g} minutes at {rate:.2f} questions a second, "
        f"{report['asked']} answers, {report['asked_again']} of them to questions asked again, "
        f"{report['votes']} votes; "
        f"routes of all answers in the home: {report['routes']}.\n",
        "| | after the warm-up | at the end | change | allowed |",
        "|---|---:|---:|---:|---|",
        *report.pop("lines"),
        "",
        *(f"- {sentence}" for sentence in report["worse"]),
        *(f"![{name}]({name})" for name in drawn),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run as the command line says."""
    options = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("--core", type=int, help="the core that the process and those who ask stay on")
    options.add_argument("--rate", type=float, default=0.0, help="questions a second; measured without it")
    options.add_argument("--share", type=float, default=0.8, help="of the capacity")
    options.add_argument("--every", type=float, default=LOOK_SECONDS, help="seconds between looks")
    options.add_argument("--home", type=Path, default=HOME, help="an indexed home, which is copied")
    options.add_argument("--config", type=Path, default=ROOT / "corpora.toml")
    options.add_argument("--gold", type=Path, default=GOLD)
    options.add_argument("--report", type=Path, default=FOLDER)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    if not (given.home / "threadlore.sqlite3").is_file():
        sys.exit(f"{given.home} is not indexed. Run `make bench` first, or name a home with --home.")
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})  # children stay there, too
    with tempfile.TemporaryDirectory(prefix="threadlore-soak-") as made:
        report = asyncio.run(soak(given, Path(made)))
    drawn = draw_soak(report, given.report)
    text = _text(report, drawn)
    write(given.report, "soak", report, text)
    print(text)
    sys.exit(0 if report["holds"] else 1)


if __name__ == "__main__":
    main()
