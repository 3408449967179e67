"""`make bench`: indexing, against the encoder alone on the same texts in the same run.

    python -m tests.benchmarks.index [FOLDER]            pages of FOLDER (rst, Markdown, HTML) by MiniLM
    python -m tests.benchmarks.index --passages 100000   peak memory, generated pages, a stand-in encoder

Of the first: passages a second end to end, a second run on unchanged pages, one changed page.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import logging
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.ingestion.indexer import Indexed
from core.ingestion.reading import Progress
from core.models.embedding.encoder import load_encoder
from core.ports import Encoder, Matrix
from core.settings import Settings, load_settings
from tests.benchmarks.memory import THINGS, VERBS

HOME = Path(".threadlore/bench")
FLASK = Path("sources", "sdist", "flask-3.1.0", "docs")
"""What `python -m tests.benchmarks.questions` unpacked in its home."""
RELEASE = "1.0"
SECTIONS = 10
"""Passages of a generated page."""
CHANGED = "\n\nThis sentence was added, and nothing else.\n"
PAGES = ("**/*.rst", "**/*.md", "**/*.html")


class Laps:
    """Seconds that a reindex spent in each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._since = "", time.perf_counter()

    def __call__(self, progress: Progress) -> None:
        """Hear of progress."""
        if progress.stage != self._stage:
            now = time.perf_counter()
            if self._stage:
                self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
            self._stage, self._since = progress.stage, now

    def text(self) -> str:
        """Return the stages with their seconds."""
        return ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self.seconds.items())


class Twice:
    """An encoder that encodes every batch once more, and counts the seconds of that: its own rate.

    Both come right after one another, so that other work on the machine slows them alike.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.dimensions = encoder.name, encoder.dimensions
        self.max_tokens, self.count_tokens = encoder.max_tokens, encoder.count_tokens
        self.texts, self.alone = 0, 0.0

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Encode twice; return the first."""
        found = await self._encoder.encode(texts)
        self._encoder.forget()
        began = time.perf_counter()
        await self._encoder.encode(texts)
        self.alone += time.perf_counter() - began
        self.texts += len(texts)
        return found

    def forget(self) -> None:
        """Drop what is remembered."""
        self._encoder.forget()

    def close(self) -> None:
        """Close the encoder."""
        self._encoder.close()


class StandIn:
    """An encoder that costs next to nothing: a vector of random numbers for each text."""

    name = "stand-in@256"
    dimensions = 384
    max_tokens = 256

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return unit vectors, the same for the same text."""
        rows = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = hashlib.blake2b(text.encode(), digest_size=8).digest()
            row[:] = np.random.default_rng(int.from_bytes(seed, "big")).standard_normal(self.dimensions)
            row /= np.linalg.norm(row)
        return rows

    def count_tokens(self, text: str) -> int:
        """Count the words."""
        return len(text.split()) + 2

    def forget(self) -> None:
        """Remember nothing between calls."""

    def close(self) -> None:
        """Hold nothing."""


async def main() -> None:
    """Measure speed, or with --passages peak memory."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.index", description=__doc__)
    options.add_argument("folder", type=Path, nargs="?", help="Flask's documentation in the bench's home")
    options.add_argument("--home", type=Path, default=HOME, help="the bench's home, with the models")
    options.add_argument("--passages", type=int, default=0)
    given = options.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        if given.passages:
            await peak(place, given.passages)
            return
        folder = given.folder or given.home / FLASK
        if not folder.is_dir():
            sys.exit(f"There is no {folder}: name a folder of pages, or run `make bench` first.")
        await speed(place, folder, given.home / "models")


async def speed(place: Path, folder: Path, models: Path) -> None:
    """Index a folder in a fresh home; print rates and ratios."""
    pages = place / "pages"
    shutil.copytree(folder, pages, symlinks=True)
    settings = _settings(place)
    print(f"{_busy()}")
    made: list[Twice] = []

    def load(model: str, _: Path) -> Encoder:
        made.append(Twice(load_encoder(model, models)))
        return made[0]

    async with build(settings, "bench", load) as app:
        await made[0].encode(["warm"] * 64)
        made[0].texts, made[0].alone = 0, 0.0
        laps = Laps()
        first, whole = await _timed(app, laps)
        texts, alone, chunks = made[0].texts, made[0].alone, first.corpus.chunks
        seconds = whole - alone
        print(
            f"{first.corpus.documents} pages, {chunks} passages, {texts - first.embedded} windows of them:\n"
            f"  end to end              {seconds:7.1f} s  {texts / seconds:6.1f} texts/s  "
            f"{chunks / seconds:6.1f} passages/s (reading {laps.seconds.get('reading', 0.0):.1f} s, indexing "
            f"{laps.seconds.get('indexing', 0.0):.1f} s)\n"
            f"  encoder alone           {alone:7.1f} s  {texts / alone:6.1f} texts/s\n"
            f"  share of the encoder's own rate: {alone / seconds:.3f} (aim: at least .9)"
        )
        again, unchanged = await _timed(app, Laps())
        assert not again.reading.differs
        print(
            f"  unchanged, again        {unchanged:7.2f} s  {unchanged / seconds:.2%} of the first "
            f"(aim: at most 2 %)"
        )
        changed = sorted(file for ending in PAGES for file in pages.glob(ending))[0]
        changed.write_text(changed.read_text(encoding="utf-8") + CHANGED, encoding="utf-8")
        one, took = await _timed(app, Laps())
        print(
            f"  one page changed        {took:7.2f} s  {len(one.reading.changed)} page read again, "
            f"{one.embedded} passages embedded of {one.corpus.chunks}"
        )
    print(_busy())


async def peak(place: Path, passages: int) -> None:
    """Index generated pages with the stand-in encoder; print time and peak memory."""
    pages = place / "pages"
    await asyncio.to_thread(generate, pages, passages)
    async with build(_settings(place), "bench", lambda model, _: StandIn()) as app:
        before, laps = _peak_mb(), Laps()
        first, seconds = await _timed(app, laps)
        print(
            f"{first.corpus.documents} pages, {first.corpus.chunks} passages, stand-in encoder: "
            f"{seconds:.0f} s ({laps.text()})\n"
            f"  peak memory {_peak_mb():.0f} MB, {before:.0f} MB before it began"
        )
        again, unchanged = await _timed(app, Laps())
        assert not again.reading.differs
        print(f"  unchanged, again: {unchanged:.1f} s ({unchanged / seconds:.2%}), peak {_peak_mb():.0f} MB")


def generate(folder: Path, passages: int) -> None:
    """Write Markdown pages that are cut into so many passages."""
    folder.mkdir(parents=True)
    subjects = itertools.cycle(itertools.product(VERBS, THINGS, THINGS))
    for number in range(-(-passages // SECTIONS)):
        parts = [f"# Page {number}"]
        for verb, thing, other in itertools.islice(subjects, SECTIONS):
            parts.append(
                f"## {verb.title()} the {thing} of a {other} {number}\n\n"
                f"Open the {other} and {verb} its {thing}. Set `{thing}_{other}` to {number} if it should "
                f"happen by itself. A {thing} without a {other} is left as it is, and the log tells so."
            )
        (folder / f"page{number}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _settings(place: Path) -> Settings:
    include = ", ".join(f'"{pattern}"' for pattern in PAGES)
    (place / "corpora.toml").write_text(
        f'[product]\nname = "Bench"\n[[release]]\nname = "{RELEASE}"\nlatest = true\n[[release.source]]\n'
        f'kind = "folder"\npath = "{place / "pages"}"\ninclude = [{include}]\n',
        encoding="utf-8",
    )
    return load_settings(home=place / "home", config=place / "corpora.toml", ollama_host="off")


async def _timed(app: Application, laps: Laps) -> tuple[Indexed, float]:
    began = time.perf_counter()
    (done,) = await app.corpus_manager.reindex(RELEASE, laps, pairs=False)
    return done, time.perf_counter() - began


def _busy() -> str:
    return f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    asyncio.run(main())
