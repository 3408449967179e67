"""Questions asked while another release is indexed, beside the same process at rest.

    python -m tests.benchmarks.while_indexing --home .threadlore/bench

The process is wired as `threadlore serve` wires it. One release of Flask's pages is live; the other has each
line changed, so that every text of it is embedded anew. Fresh questions come one after another with a pause,
first at rest, then until the index is built. Times are those of the whole answer, without a model.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import logging
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bot.app.bootstrap import build
from bot.home.home import SERVE
from bot.operations.application import Application
from core.domain import Question
from core.models.embedding.encoder import load_encoder
from core.ports import Encoder
from core.settings import load_settings
from tests.benchmarks.index import FLASK, HOME, PAGES

LIVE, OTHER = "1.0", "2.0"
PAUSE = 0.25
"""Seconds between an answer and the next question."""
AT_REST = 120
"""Questions at rest."""
FIRST = 10
"""Questions before those that count."""


async def main() -> None:
    """Ask at rest and during a whole index; print p50, p95 and their ratio."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.while_indexing", description=__doc__)
    options.add_argument("--home", type=Path, default=HOME, help="the bench's home, with the models")
    given = options.parse_args()
    folder = given.home / FLASK
    if not folder.is_dir():
        sys.exit(f"There is no {folder}: run `make bench` first.")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as made:
        await measure(Path(made), folder, given.home / "models")


async def measure(place: Path, folder: Path, models: Path) -> None:
    """Index one release, ask at rest, then ask while the other is indexed."""
    for release in (LIVE, OTHER):
        write(folder, place / release, release)
    (place / "corpora.toml").write_text(_catalogue(place), encoding="utf-8")
    settings = load_settings(
        None, home=place / "home", config=place / "corpora.toml", ollama_host="off", playground=False
    )

    def load(model: str, _: Path) -> Encoder:
        return load_encoder(model, models, spare=1, settings=settings)

    async with build(settings, SERVE, load) as app:
        await app.corpus_manager.reindex(LIVE, pairs=False)
        questions = await _questions(app)
        for _ in range(FIRST):
            await _took(app, next(questions))
        quiet = [await _took(app, next(questions)) for _ in range(AT_REST)]
        began = time.perf_counter()
        index = asyncio.ensure_future(app.corpus_manager.reindex(OTHER, pairs=False))
        beside = []
        while not index.done():
            beside.append(await _took(app, next(questions)))
        (done,) = await index
        seconds = time.perf_counter() - began
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{done.corpus.chunks} passages, {done.embedded} texts embedded in {seconds:.0f} s, meanwhile:")
    print("| ms | questions | p50 | p95 |\n|---|---:|---:|---:|")
    for name, took in (("at rest", quiet), ("during the index", beside)):
        print(f"| {name} | {len(took)} | {statistics.median(took):.0f} | {_p95(took):.0f} |")
    print(f"p95 during the index beside at rest: {_p95(beside) / _p95(quiet):.2f} × (aim: at most 2)")


def write(folder: Path, to: Path, release: str) -> None:
    """Copy pages of a folder; each line of text of the other release says so, so that no text is the same."""
    for path in sorted(file for ending in PAGES for file in folder.glob(ending)):
        text = path.read_text(encoding="utf-8")
        if release == OTHER:
            text = "\n".join(f"{line} too" if line[:1].isalpha() else line for line in text.split("\n"))
        copy = to / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")


def _catalogue(place: Path) -> str:
    include = ", ".join(f'"{pattern}"' for pattern in PAGES)
    releases = "".join(
        f'[[release]]\nname = "{release}"\nlatest = {str(release == LIVE).lower()}\n[[release.source]]\n'
        f'kind = "folder"\npath = "{place / release}"\ninclude = [{include}]\n'
        for release in (LIVE, OTHER)
    )
    return f'[product]\nname = "Flask"\n{releases}'


async def _questions(app: Application) -> Iterator[str]:
    """Return questions without end, no two the same: words of one heading with those of another."""
    rows = await app.corpora.rows(LIVE)
    chunks = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
    headings = sorted({chunk.heading.rpartition(" > ")[2].strip("`¶ ") for chunk in chunks.values()} - {""})
    pairs = list(itertools.permutations(headings, 2))
    random.Random(1).shuffle(pairs)
    return (f"How does {one} go together with {other}?" for one, other in pairs)


async def _took(app: Application, question: str) -> float:
    """Return the milliseconds that an answer takes, after a pause."""
    await asyncio.sleep(PAUSE)
    began = time.perf_counter()
    await app.engine.answer(Question(question, release=LIVE))
    return (time.perf_counter() - began) * 1000


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


if __name__ == "__main__":
    asyncio.run(main())
