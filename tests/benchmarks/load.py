"""`make load`: 1, 8 and 32 people at once, beside what people would build from llama-index's own parts.

    python -m tests.benchmarks.load --home .threadlore/bench

Fresh questions, no model: ours answers with quotes and saves them, the other finds pages. Both have the same
passages, vectors and questions, each in a process of its own; they take turns, and one waits while the other
works. Besides: start of a process to its first answer, reuse of a remembered answer, memory. Writes
`load.json`, `load.md` and `load.png`, and names what got worse by over 20 % since the last run on such a
machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.app.bootstrap import build
from bot.home.control_socket import call
from bot.home.home import SOCKET
from bot.operations.application import Application
from evaluation.gold import GoldLine, rank_of, read_gold
from tests.benchmarks.fresh import Questions
from tests.benchmarks.load_report import FINDING, OURS, RIVAL, draw, figures_of, text_of
from tests.benchmarks.ours import settings_of
from tests.benchmarks.questions import GOLD, HOME
from tests.benchmarks.reports import FOLDER, as_rows, compare, machine, write
from tests.benchmarks.side import Side, started

ROOT = Path(__file__).parents[2]
PEOPLE = (1, 8, 32)
ROUNDS = 3
"""Times that both answer at each number of people, in turn."""
EACH = {1: 40, 8: 80, 32: 160}
"""Questions of a round."""
WARM = 20
STARTS = 3
REUSED = 40
TOP = 3
START_SECONDS = 120.0
Asked = list[tuple[str, str]]


def _written(folder: Path, rows: Sequence[Mapping[str, Any]], pages: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    (folder / "pages.json").write_text(json.dumps(pages), "utf-8")


async def exported(app: Application, folder: Path) -> list[tuple[str, str, str]]:
    """Write passages, vectors and pages for the other; return release, heading and text of all pages."""
    encoder = (await app.corpus_manager.encoders.current()).name
    told: dict[str, dict[str, str]] = {}
    passages: list[dict[str, Any]] = []
    pages = []
    for release in app.corpus_manager.order():
        rows = await app.corpora.rows(release)
        vectors = await app.corpora.vectors(encoder, [row.text_hash for row in rows])
        contexts = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
        for key, one in contexts.items():
            told[f"{release} {key}"] = {"path": one.path, "text": one.text}
            pages.append((release, one.heading, one.page))
        for row in rows:
            known = {"id": f"{release} {row.id}", "release": release, "text": row.embedded}
            vector = vectors[row.text_hash].tolist()
            passages.append(known | {"page": f"{release} {row.context_id}", "vector": vector})
    await asyncio.to_thread(_written, folder, passages, told)
    return pages


class Fresh:
    """Questions with their releases, none twice."""

    def __init__(self, pages: Sequence[tuple[str, str, str]], golden: Sequence[str], seed: int) -> None:
        self._chance = random.Random(seed)
        self._releases = sorted({release for release, _, _ in pages})
        self._made = Questions([(heading, text) for _, heading, text in pages], golden, self._chance)

    def some(self, count: int) -> Asked:
        """Return so many new ones."""
        return [(self._chance.choice(self._releases), self._made.fresh()) for _ in range(count)]


Figures = dict[str, dict[int, dict[str, float]]]


async def compared(ours: Side, rival: Side, fresh: Fresh, share: float) -> Figures:
    """Ask both in turn; return throughput, p50 and p95 of each by the number of people."""
    doing = {OURS: (ours, "load"), FINDING: (ours, "find"), RIVAL: (rival, "load")}
    for side, what in doing.values():
        await side.do(what, people=4, questions=fresh.some(WARM))
    found: Figures = {name: {} for name in doing}
    for people in PEOPLE:
        ms: dict[str, list[float]] = {name: [] for name in doing}
        rates: dict[str, list[float]] = {name: [] for name in doing}
        for number in range(ROUNDS):
            for name in list(doing) if number % 2 else list(doing)[::-1]:
                side, what = doing[name]
                questions = fresh.some(max(people, round(EACH[people] * share)))
                told = await side.do(what, people=people, questions=questions)
                ms[name] += told["ms"]
                rates[name].append(len(told["ms"]) / told["seconds"])
        for name in doing:
            p50, p95 = (statistics.quantiles(ms[name], n=100, method="inclusive")[at] for at in (49, 94))
            found[name][people] = {"rate": statistics.median(rates[name]), "p50": p50, "p95": p95}
    return found


async def hits(side: Side, lines: Sequence[GoldLine]) -> float:
    """Return the share of golden questions whose page is among the first three."""
    told = await side.do("hits", questions=[(line.release, line.question) for line in lines])
    ranks = [rank_of(line.places, list(map(tuple, some))) for line, some in zip(lines, told, strict=True)]
    return sum(0 < rank <= TOP for rank in ranks) / max(1, len(ranks))


async def first_answer(home: Path, config: Path, question: tuple[str, str]) -> float:
    """Start the process on an indexed home and ask; return the seconds until the answer is there."""
    request = {
        "command": "ask",
        "question": question[1],
        "release": question[0],
        "user": "cli:a",
        "json": True,
    }
    await asyncio.to_thread((home / SOCKET).unlink, missing_ok=True)
    nothing = asyncio.subprocess.DEVNULL
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "serve"),
        env=serving(home, config),
        cwd=home.parent,
        stdout=nothing,
        stderr=nothing,
    )
    try:
        while time.perf_counter() - began < START_SECONDS:
            if process.returncode is not None:
                raise RuntimeError(f"The bot ended with {process.returncode} while it started.")
            if await _answers(home, request):
                return time.perf_counter() - began
            await asyncio.sleep(0.02)
        raise RuntimeError(f"The bot did not answer within {START_SECONDS:.0f} s.")
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def serving(home: Path, config: Path) -> dict[str, str]:
    """Return the environment of a process that serves a home without a model and a platform."""
    tokens = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "DISCORD_TOKEN")
    return {
        **{name: value for name, value in os.environ.items() if name not in tokens},
        "THREADLORE_HOME": str(home.absolute()),
        "THREADLORE_CONFIG": str(config.absolute()),
        "THREADLORE_PLAYGROUND": "true",
        "THREADLORE_PORT": "0",
        "OLLAMA_HOST": "off",
        "PYTHONPATH": str(ROOT),
    }


async def _answers(home: Path, request: dict[str, Any]) -> bool:
    if not await asyncio.to_thread((home / SOCKET).exists):
        return False
    try:
        messages = [message async for message in call(home, request)]
    except ConnectionError:
        return False
    return bool(messages) and messages[-1].get("code") == 0


def golden(gold: Path, releases: Collection[str]) -> list[GoldLine]:
    """Return the questions with one place in one of the releases, and without a conversation before them."""
    every = (line for line in read_gold(gold) if line.answerable and not line.history)
    return [line for line in every if list(line.places) == [line.release] and line.release in releases]


async def measure(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Do all of it in a folder of its own; return what was measured."""
    home, others = folder / "home", folder / "rival"
    ignored = shutil.ignore_patterns("*.sock", "logs")
    await asyncio.to_thread(shutil.copytree, given.home, home, symlinks=True, ignore=ignored)
    async with build(settings_of(home, given.config), "bench") as app:
        pages = await exported(app, others)
        passages = sum([len(await app.corpora.rows(name)) for name in app.corpus_manager.order()])
    lines = await asyncio.to_thread(golden, given.gold, {release for release, _, _ in pages})
    fresh = Fresh(pages, [line.question for line in lines], given.seed)
    starts = [await first_answer(home, given.config, fresh.some(1)[0]) for _ in range(given.starts)]
    # with as many threads as torch takes by itself
    threads = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    ours = await started("tests.benchmarks.ours", str(home), str(given.config))
    rival = await started("tests.benchmarks.rival", str(others), environment=threads)
    sides = {OURS: ours, RIVAL: rival}
    try:
        found = await compared(ours, rival, fresh, given.share)
        memory = {name: await side.do("memory") for name, side in sides.items()}
        reuse = await ours.do("reuse", questions=fresh.some(max(8, round(REUSED * given.share))))
        hit = {name: await hits(side, lines) for name, side in sides.items()}
    finally:
        for side in sides.values():
            await side.close()
    return {
        "sides": found,
        "starts": starts,
        "reuse": reuse,
        "memory_mb": memory,
        "hit@3": hit,
        "golden": len(lines),
        "passages": passages,
    }


def main() -> None:
    """Run as the command line says."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.load", description=__doc__)
    options.add_argument("--home", type=Path, default=HOME, help="an indexed home, which is copied")
    options.add_argument("--config", type=Path, default=Path("corpora.toml"))
    options.add_argument("--gold", type=Path, default=GOLD)
    options.add_argument("--report", type=Path, default=FOLDER)
    options.add_argument("--starts", type=int, default=STARTS)
    options.add_argument("--share", type=float, default=1.0, help="of the usual number of questions")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    logging.disable(logging.WARNING)
    report(given)


def report(given: argparse.Namespace) -> dict[str, Any]:
    """Measure and write the report; return it."""
    known = machine()
    with tempfile.TemporaryDirectory(prefix="threadlore-load-") as made:
        found = asyncio.run(measure(given, Path(made)))
    after = round(os.getloadavg()[0], 1)
    found = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": known,
        "load_after": after,
    } | found
    figures = figures_of(found)
    setting = f"{found['passages']} passages, share {given.share:g}"
    got_worse = compare(given.report, "load", known, figures, setting)
    drawn = draw(found, given.report)
    text = text_of(found, figures, got_worse, drawn)
    write(given.report, "load", found | {"figures": as_rows(figures), "worse": got_worse}, text)
    print(text)
    return found


if __name__ == "__main__":
    main()
