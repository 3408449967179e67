"""`make bench`: time of the path without the model; every question is asked once, as people ask.

    python -m evaluation.benchmarks.questions                    Flask's releases, MiniLM
    python -m evaluation.benchmarks.questions --passages 10000   Flask's sections shuffled, vectors of words

Questions are the golden ones and others made of headings. Warm: the files are in the page cache, as they are
right after indexing. Cold: they are put out of it before each question, as after an idle hour.
`THREADLORE_BENCH_HOME` names the home that is kept; dealt corpora lie beside it, and are indexed once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import Queries, Question, Vector
from core.models.embedding.encoder import PACKAGED, load_encoder
from core.ports import Encoder, Matrix
from core.settings import Settings, load_settings
from core.text.words import index_terms, query_terms

HOME = Path(os.environ.get("THREADLORE_BENCH_HOME", ".threadlore/bench"))
GOLD = Path(__file__).parents[2] / "tests" / "golden" / "flask.jsonl"
PATH = ("understand", "embed", "recall", "retrieve", "quote", "offers")
"""Steps of the path without the model; saving the answer is not one of them."""
WARM, LOOKS, COLD = 300, 100, 40
"""Questions asked for each row at most."""
FIRST = 10
"""Questions before those that count: what a process loads once is not a question's."""
SECTIONS, PARAGRAPHS = 10, (1, 6)
"""Sections of a dealt page, and from and to how many paragraphs one has."""
RELEASE = "1.0"
Rows = dict[str, list[float]]


async def main() -> None:
    """Index where that is not done yet, ask, print p50 and p95 of each step."""
    options = argparse.ArgumentParser(prog="python -m evaluation.benchmarks.questions", description=__doc__)
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
    if not (place / "pages").is_dir():
        deal(place / "pages", texts, given.passages)
    async with build(
        _dealt_settings(place), "bench", lambda _model, _folder: ByWords(HOME / "models")
    ) as app:
        await _indexed(app)
        await measure(app)


async def measure(app: Application) -> None:
    """Ask each question once, warm and then cold, and look a second time for others."""
    asked = await _asked(app)
    warm, cold, looks = asked[: FIRST + WARM], asked[FIRST + WARM :][:COLD], asked[FIRST + WARM + COLD :]
    chunks = {name: corpus.chunks for name, corpus in app.searcher.corpora.items()}
    print(f"passages {chunks}; {len(asked)} different questions, each asked once; ms, p50 and p95")
    rows = await _answered(app, warm, lambda: None)
    rows["second look"] = await _second_looks(app, looks[:LOOKS])
    _print(f"warm, {len(rows['path without model'])} answers quoted", rows)
    _print(
        f"cold, {len(cold)} questions, each after its files left the page cache",
        await _answered(app, cold, lambda: forget_files(app.settings.home)),
    )


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


def deal(folder: Path, sections: Sequence[tuple[str, str]], passages: int) -> None:
    """Write Markdown pages of so many sections, each with a heading and paragraphs of others."""
    folder.mkdir(parents=True)
    chance = random.Random(passages)
    headings = [heading.rpartition(" > ")[2] for heading, _ in sections if heading]
    paragraphs = [part for _, page in sections for part in page.split("\n\n") if "```" not in part]
    for number in range(-(-passages // SECTIONS)):
        parts = [f"# {chance.choice(headings)} {number}"]
        for _ in range(SECTIONS):
            parts.append(f"## {chance.choice(headings)}, {chance.choice(headings)}")
            parts += chance.choices(paragraphs, k=chance.randint(*PARAGRAPHS))
        (folder / f"page{number}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _dealt_settings(place: Path) -> Settings:
    (place / "corpora.toml").write_text(
        f'[product]\nname = "Flask"\n[[release]]\nname = "{RELEASE}"\nlatest = true\n[[release.source]]\n'
        f'kind = "folder"\npath = "{(place / "pages").resolve()}"\ninclude = ["**/*.md"]\n',
        encoding="utf-8",
    )
    return load_settings(home=place / "home", config=place / "corpora.toml", ollama_host="")


class ByWords:
    """An encoder for large corpora: a text's vector is the sum of its terms'.

    A question is embedded by the model, too, which is what that takes; what comes of it is left out.
    """

    name = "by-words@256"
    dimensions = 384
    max_tokens = 256

    def __init__(self, models: Path) -> None:
        self._model: Encoder = load_encoder(PACKAGED, models)
        self.count_tokens = self._model.count_tokens

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return unit vectors; few texts are taken for a question."""
        if len(texts) <= 4:
            await self._model.encode(texts)
        rows = [_by_words(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dimensions)

    def forget(self) -> None:
        """Drop what the model remembers."""
        self._model.forget()

    def close(self) -> None:
        """Close the model."""
        self._model.close()


@lru_cache(maxsize=1 << 16)
def _of_term(term: str) -> Vector:
    vector = np.random.default_rng(list(term.encode())).standard_normal(ByWords.dimensions)
    return vector.astype(np.float32)


def _by_words(text: str) -> Vector:
    terms = query_terms(text) or index_terms(text) or [text]
    total: Vector = np.sum([_of_term(term) for term in terms], axis=0)
    return total / np.linalg.norm(total)


def _print(title: str, rows: Rows) -> None:
    print(f"{title}:")
    for name, values in sorted(rows.items(), key=lambda row: row[0] in PATH):
        first, last = (_quantile(values, percent) for percent in (50, 95))
        print(f"  {'  ' * (name in PATH)}{name:<20} p50 {first:8.2f}   p95 {last:8.2f}")
    each = zip(rows["path without model"], rows["embedding alone"], strict=True)
    ratio = statistics.median(whole / alone for whole, alone in each)
    print(f"  ratio of the path to embedding alone: {ratio:.2f} (aim: at most 2)")


def _quantile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    asyncio.run(main())
