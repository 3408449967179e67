"""`make bench`: indexing, against the encoder alone on the same texts in the same run.

    python -m bot.bench_index [FOLDER]            pages of FOLDER (reStructuredText, Markdown, HTML) by MiniLM
    python -m bot.bench_index --passages 100000   peak memory, with generated pages and a stand-in encoder

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

from bot.bench_memory import THINGS, VERBS
from bot.bootstrap import Threadlore, build
from core.ingestion.indexer import EMBEDDED_AT_ONCE, Indexed
from core.ingestion.reading import Progress
from core.models.encoder import load_encoder
from core.ports import Encoder, Matrix
from core.settings import Settings, load_settings
from core.windows import window_texts

HOME = Path(os.environ.get("THREADLORE_BENCH_HOME", ".threadlore/bench"))
FLASK = HOME / "sources" / "sdist" / "flask-3.1.0"
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
    options = argparse.ArgumentParser(prog="python -m bot.bench_index", description=__doc__)
    options.add_argument("folder", type=Path, nargs="?", default=FLASK)
    options.add_argument("--passages", type=int, default=0)
    given = options.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        if given.passages:
            await peak(place, given.passages)
        elif given.folder.is_dir():
            await speed(place, given.folder)
        else:
            print(f"There is no {given.folder}: name a folder of pages, or run `python -m bot.bench` first.")
            sys.exit(1)


async def speed(place: Path, folder: Path) -> None:
    """Index a folder in a fresh home; print rates and ratios."""
    pages = place / "pages"
    shutil.copytree(folder, pages, symlinks=True)
    settings = _settings(place)
    print(f"{_busy()}")
    async with build(settings, "bench", lambda model, _: load_encoder(model, HOME / "models")) as app:
        encoder = await app.library.encoders.current()
        await encoder.encode(["warm"] * 64)
        laps = Laps()
        first, seconds = await _timed(app, laps)
        texts = await _embedded(app)
        alone = await _alone(encoder, texts)
        chunks = first.corpus.chunks
        print(
            f"{first.corpus.documents} pages, {chunks} passages and {len(texts) - chunks} windows of them:\n"
            f"  end to end              {seconds:7.1f} s  {len(texts) / seconds:6.1f} texts/s  "
            f"{chunks / seconds:6.1f} passages/s ({laps.text()})\n"
            f"  encoder alone           {alone:7.1f} s  {len(texts) / alone:6.1f} texts/s\n"
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
            f"  one page changed        {took:7.2f} s  {len(one.reading.changed)} page read anew, "
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


async def _timed(app: Threadlore, laps: Laps) -> tuple[Indexed, float]:
    began = time.perf_counter()
    (done,) = await app.library.reindex(RELEASE, laps, pairs=False)
    return done, time.perf_counter() - began


async def _embedded(app: Threadlore) -> list[str]:
    """Return all texts that the index embedded, each once, in the order in which it did."""
    rows = await app.corpora.rows(RELEASE)
    passages = {row.text_hash: row.embedded for row in rows}
    pages = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
    windows = {key: text for page in pages.values() for key, text in window_texts(page).items()}
    rest = {key: text for key, text in windows.items() if key not in passages}
    return [passages[key] for key in sorted(passages)] + [rest[key] for key in sorted(rest)]


async def _alone(encoder: Encoder, texts: Sequence[str]) -> float:
    began = time.perf_counter()
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        await encoder.encode(texts[start : start + EMBEDDED_AT_ONCE])
    return time.perf_counter() - began


def _busy() -> str:
    return f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    asyncio.run(main())
