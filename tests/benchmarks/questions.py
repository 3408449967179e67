"""`make bench`: time of the path without the model; every question is asked once, as people ask.

    python -m tests.benchmarks.questions                    Flask's releases, MiniLM
    python -m tests.benchmarks.questions --passages 10000   its paragraphs dealt anew, vectors of words

Questions are the golden ones and others made of headings. Warm: the files are in the page cache, as they are
right after indexing. Cold: they are put out of it before each question, as after an idle hour.
`THREADLORE_BENCH_HOME` names the home that is kept; dealt corpora lie beside it, and are indexed once.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import os
import random
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import Queries, Question
from core.settings import Settings, load_settings
from tests.benchmarks.dealt import RELEASE, ByWords, deal
from tests.benchmarks.reports import quantile

HOME = Path(os.environ.get("THREADLORE_BENCH_HOME", ".threadlore/bench"))
GOLD = Path(__file__).parents[2] / "tests" / "golden" / "flask.jsonl"
PATH = ("understand", "embed", "recall", "retrieve", "quote", "offers")
"""Steps of the path without the model; saving the answer is not one of them."""
WARM, LOOKS, COLD = 300, 100, 40
"""Questions asked for each row at most."""
FIRST = 10
"""Questions before those that count: what a process loads once is not a question's."""
Rows = dict[str, list[float]]


async def main() -> None:
    """Index where that is not done yet, ask, print p50 and p95 of each step."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.questions", description=__doc__)
    options.add_argument("--passages", type=int, default=0, help="of a corpus dealt of Flask's sections")
    given = options.parse_args()
    logging.disable(logging.WARNING)
    settings = load_settings(home=HOME, ollama_host="")
    async with build(settings, "bench") as app:
        await _indexed(app)
        if not given.passages:
            await measure(app)
            return
        release = app.corpus_manager.order()[0]
        rows = await app.corpora.rows(release)
        pages = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
        texts = [(page.heading, page.page) for page in pages.values()]
    place = HOME.with_name(f"{HOME.name}-{given.passages}")
    (place / "pages").mkdir(parents=True, exist_ok=True)
    async with build(
        _dealt_settings(place), "bench", lambda _model, _folder: ByWords(HOME / "models")
    ) as app:
        if RELEASE not in app.searcher.corpora:
            began = time.monotonic()
            await deal(app, texts, given.passages)
            print(f"dealt {given.passages} passages in {time.monotonic() - began:.0f} s", flush=True)
        await measure(app)


async def measure(app: Application) -> None:
    """Ask each question once, warm and then cold, and look a second time for others."""
    asked = await _asked(app)
    gc.freeze()  # as `serve` does: what was loaded is no question's
    warm, cold, looks = asked[: FIRST + WARM], asked[FIRST + WARM :][:COLD], asked[FIRST + WARM + COLD :]
    chunks = {name: corpus.chunks for name, corpus in app.searcher.corpora.items()}
    print(f"passages {chunks}; {len(asked)} different questions, each asked once; ms, p50 and p95")
    rows = await _answered(app, warm, lambda: None)
    rows["second look"] = await _second_looks(app, looks[:LOOKS])
    _print(f"warm, {len(rows['path without model'])} answers quoted", rows)
    after_idle = await _answered(app, cold, lambda: forget_files(app.settings.home))
    _print(f"cold, {len(cold)} questions, each after its files left the page cache", after_idle)
    print("| passages | files | embedding alone, p50 and p95 | path without model, p50 and p95 | ratio |")
    for files, told in (("warm", rows), ("cold", after_idle)):
        figures = " | ".join(
            " and ".join(f"{quantile(told[name], percent):.1f}" for percent in (50, 95))
            for name in ("embedding alone", "path without model")
        )
        print(f"| {max(chunks.values()):,} | {files} | {figures} | {_ratio(told):.2f} |")


async def _answered(app: Application, asked: Sequence[tuple[str, str]], before: Callable[[], object]) -> Rows:
    """Ask questions, and embed the texts of each alone right after it."""
    encoder = await app.corpus_manager.encoders.current()
    rows: Rows = defaultdict(list)
    for number, (release, text) in enumerate(asked):
        before()
        answer = await app.engine.answer(Question(text, release=release))
        if answer.route != "quote" or (number < FIRST and len(asked) > COLD):
            continue
        encoder.forget()
        began = time.perf_counter()
        await encoder.encode([answer.queries.topic, *answer.queries.parts[1:]])
        rows["embedding alone"].append((time.perf_counter() - began) * 1000)
        rows["path without model"].append(sum(answer.timings_ms.get(step, 0.0) for step in PATH))
        for step in PATH:
            rows[step].append(answer.timings_ms.get(step, 0.0))
    return rows


async def _second_looks(app: Application, asked: Sequence[tuple[str, str]]) -> list[float]:
    """Return how long it takes to look at the pages that were found, for questions of their own."""
    encoder = await app.corpus_manager.encoders.current()
    took = []
    for release, text in asked:
        look = app.searcher.look(Queries(text, text), await encoder.encode([text]), release)
        if look is not None:
            await look.hits()
            began = time.perf_counter()
            await look.pool()
            took.append((time.perf_counter() - began) * 1000)
    return took


def forget_files(folder: Path) -> None:
    """Put every file below a folder out of the page cache, as far as nobody has it mapped."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


async def _asked(app: Application) -> list[tuple[str, str]]:
    """Return releases with questions, all different: the golden ones and some made of headings, mixed."""
    releases = app.corpus_manager.order()
    lines = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    found = {line["question"]: line.get("release") for line in lines if not line.get("history")}
    rows = [row for release in releases for row in await app.corpora.rows(release)]
    chance = random.Random(1)
    chance.shuffle(rows)
    chunks = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows[:1500])))
    for chunk in chunks.values():
        words = [word for word in re.findall(r"\w+", chunk.page) if len(word) > 5]
        subject = chunk.heading.rpartition(" > ")[2].strip("`¶ ")
        if words and 3 < len(subject) < 60:
            found.setdefault(f"How does {subject} work with {chance.choice(words)}?", chunk.release)
    asked = [(of if of in releases else releases[0], text) for text, of in found.items()]
    chance.shuffle(asked)
    return asked


async def _indexed(app: Application) -> None:
    for release in app.corpus_manager.order():
        if not any(e["name"] == release and e["ready"] for e in await app.corpus_manager.releases()):
            done = (await app.corpus_manager.reindex(release, pairs=False))[0]
            print(f"indexed {release}: {done.corpus.chunks} passages in {done.seconds:.0f} s")
    await app.corpus_manager.complete()


def _dealt_settings(place: Path) -> Settings:
    (place / "corpora.toml").write_text(
        f'[product]\nname = "Flask"\n[[release]]\nname = "{RELEASE}"\nlatest = true\n[[release.source]]\n'
        f'kind = "folder"\npath = "{(place / "pages").resolve()}"\ninclude = ["**/*.md"]\n',
        encoding="utf-8",
    )
    return load_settings(home=place / "home", config=place / "corpora.toml", ollama_host="")


def _print(title: str, rows: Rows) -> None:
    print(f"{title}:")
    for name, values in sorted(rows.items(), key=lambda row: row[0] in PATH):
        first, last = (quantile(values, percent) for percent in (50, 95))
        print(f"  {'  ' * (name in PATH)}{name:<20} p50 {first:8.2f}   p95 {last:8.2f}")
    print(f"  ratio of the path to embedding alone: {_ratio(rows):.2f} (aim: at most 2)")


def _ratio(rows: Rows) -> float:
    each = zip(rows["path without model"], rows["embedding alone"], strict=True)
    return statistics.median(whole / alone for whole, alone in each)


if __name__ == "__main__":
    asyncio.run(main())
