"""Hybrid CRAG's ladder on CRAG's ten questions, each over the pages that come with it, with no model.

A question's pages are a release of their own, so that none is answered from another's.
"""

from __future__ import annotations

import asyncio
import bz2
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bs4 import BeautifulSoup

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import Question
from core.errors import UsageError
from core.pipeline.context import QueryContext
from core.pipeline.stage import Stage, run
from core.pipeline.stages.calculation import Convert, WorkOut
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.papers import OnlyFresh
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, Refuse, Retrieve
from core.pipeline.stages.understand import Understand
from core.recipes import recipe_of, recipes
from core.recipes.hybrid_crag import KEPT
from core.settings import load_settings
from evaluation.gold import holds_any
from evaluation.papers.tables import MODEL, NONE, Section, Table, printed, share
from evaluation.simulation.stores import Texts

_PRINTED = printed("crag")

PIECE = 1_000
"""Characters of a piece of a page whose text is merely dumped."""
HOLDS: dict[str, str] = _PRINTED["holds"]
"""What a right answer has, by the question's id, where its pages have one; six have none."""
TABLE_2 = _PRINTED["table_2"]
"""Correct, missing, hallucination (per cent) and score, as published (table 2)."""
COLUMNS = (
    "system", "paper: correct", "missing", "hallucination", "score",
    "correct", "missing", "hallucination", "score", "held by the eight read", "in this row",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of CRAG with the HTML of its pages."""

    key: str
    question: str
    pages: tuple[str, ...]

    @property
    def holds(self) -> str:
        """Return what a right answer has, empty where the pages have none."""
        return HOLDS.get(self.key, "")


def read(file: Path) -> tuple[Asked, ...]:
    """Read CRAG's lines; blocking. Raises UsageError for a file that is not CRAG's."""
    try:
        with bz2.open(file, "rt") if file.suffix == ".bz2" else file.open(encoding="utf-8") as lines:
            entries = [json.loads(line) for line in lines]
        found = []
        for entry in entries:
            pages = dict.fromkeys(page["page_result"] for page in entry["search_results"])
            found.append(Asked(entry["interaction_id"], entry["query"], tuple(filter(None, pages))))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} cannot be read ({error!r}); name CRAG's dev_data_10.jsonl.bz2.") from None
    return tuple(found)


def lay_out(asked: Sequence[Asked], folder: Path) -> Path:
    """Write every question's pages to a folder of its own, and the catalogue; return its path; blocking."""
    lines = ['[product]\nname = "CRAG"']
    for number, one in enumerate(asked):
        pages = folder / release_of(number)
        pages.mkdir(parents=True, exist_ok=True)
        for place, html in enumerate(one.pages):
            (pages / f"page{place}.html").write_text(html, "utf-8")
        latest = "latest = true\n" if number == len(asked) - 1 else ""
        lines.append(
            f'[[release]]\nname = "{release_of(number)}"\n{latest}'
            f'[[release.source]]\nkind = "folder"\npath = "{release_of(number)}"'
        )
    config = folder / "corpora.toml"
    config.write_text("\n\n".join(lines) + "\n", "utf-8")
    return config


def release_of(number: int) -> str:
    """Return the name of the release that holds a question's pages."""
    return f"1.{number}"


async def measure(file: Path, folder: Path, texts: Texts, told: str) -> Section:
    """Climb the ladder, and ask the recipes."""
    async with opened(file, folder) as (app, asked):
        tables = (await _ladder(app, asked, texts), await _recipes(app, asked))
    return Section(
        "crag",
        "Hybrid CRAG: table 2, each module added in turn (section 5.2)",
        told,
        tables,
        DIFFERS,
    )


@asynccontextmanager
async def opened(file: Path, folder: Path) -> AsyncIterator[tuple[Application, tuple[Asked, ...]]]:
    """Index the pages in `folder`, where that is not done yet, and open them, with the questions."""
    asked = await asyncio.to_thread(read, file)
    config = await asyncio.to_thread(lay_out, asked, folder / "pages")
    settings = load_settings(None, home=folder / "home", config=config, ollama_host="off", playground=False)
    async with build(settings, "evaluate") as app:
        for release in app.corpus_manager.order():
            if not any(e["name"] == release and e["ready"] for e in await app.corpus_manager.releases()):
                await app.corpus_manager.reindex(release, pairs=False)
        await app.corpus_manager.complete()
        yield app, asked


async def _ladder(app: Application, asked: Sequence[Asked], texts: Texts) -> Table:
    parts = app.research.parts
    retrieve = Retrieve(parts, parts.searcher.by_cosine(KEPT))
    fresh = OnlyFresh(parts, limit=-1.0)  # nothing is: a dynamic question is never answered, as in the paper
    begin, end = (Understand(parts), Refuse(parts)), (Judge(parts), Quote(parts), Cite(parts))
    rows = [await _told(asked, await _dumped(asked, texts), TABLE_2[0], "")]
    rows.append(await _told(asked, await _chunks(app, asked, texts, False), TABLE_2[1], "without tables"))
    ways: dict[int, tuple[tuple[Stage, ...], str]] = {
        2: ((*begin, retrieve, *end), "no model: what is not sure is not quoted"),
        3: ((*begin, retrieve, fresh, *end), "by the SVM"),
        5: ((WorkOut(), *begin, retrieve, fresh, *end[:2], Convert(), end[2]), "by rule"),
    }
    tables = await _chunks(app, asked, texts, True)
    for number, published in enumerate(TABLE_2[2:], start=2):
        if number in ways:
            stages, why = ways[number]
            rows.append(await _told(asked, await _asked(asked, stages), published, why))
        elif number == 4:
            held = share(_held(asked, [some for _, some in tables]))
            before = share(_held(asked, [some for _, some in await _chunks(app, asked, texts, False)]))
            note = f"tables are passages in all rows from the third; held without them: {before}"
            rows.append((*published, *[NONE] * 4, held, note))
        else:
            rows.append((*published, *[NONE] * 5, MODEL if number < 9 else "no mock API of it here"))
    return Table(
        f"Table 2, {len(asked)} questions, of which {len(HOLDS)} have an answer on their pages",
        COLUMNS,
        tuple(rows),
    )


async def _recipes(app: Application, asked: Sequence[Asked]) -> Table:
    """Ask by each recipe as it serves, pages read just now."""
    rows = []
    for name in recipes():
        found = await _asked(asked, recipe_of(name)(app.research.parts))
        rows.append(
            (
                name,
                *scores(asked, [answer for answer, _ in found]),
                share(_held(asked, [some for _, some in found])),
            )
        )
    return Table(
        "The recipes as they serve, no model, no pairs",
        ("recipe", "correct", "missing", "hallucination", "score", "held by what is read"),
        tuple(rows),
    )


Found = tuple[str, tuple[str, ...]]
"""An answer, empty for "I don't know", and the texts that were read for it."""


async def _dumped(asked: Sequence[Asked], texts: Texts) -> list[Found]:
    """Answer with the nearest piece of the pages' text as a parser dumps it."""
    found = []
    for one in asked:
        dumps = [BeautifulSoup(html, "lxml").get_text(" ", strip=True) for html in one.pages]
        pieces = [dump[at : at + PIECE] for dump in dumps for at in range(0, len(dump), PIECE)]
        found.append(await _nearest(texts, one.question, pieces, pieces))
    return found


async def _chunks(app: Application, asked: Sequence[Asked], texts: Texts, with_tables: bool) -> list[Found]:
    """Answer with the nearest of our search chunks."""
    found = []
    for number, one in enumerate(asked):
        rows = await app.corpora.rows(release_of(number))
        if not with_tables:
            rows = tuple(row for row in rows if not _is_table(row.text))
        shown = [row.text for row in rows]
        found.append(await _nearest(texts, one.question, [row.embedded for row in rows], shown))
    return found


def _is_table(text: str) -> bool:
    lines = text.strip().splitlines()
    return sum(line.startswith("|") for line in lines) * 2 > len(lines)


async def _nearest(texts: Texts, question: str, embedded: Sequence[str], shown: Sequence[str]) -> Found:
    if not shown:
        return "", ()
    vector = await texts.one(question)
    order = np.argsort(-(await texts.encode(embedded) @ vector), kind="stable").tolist()[:KEPT]
    return shown[order[0]], tuple(shown[at] for at in order)


async def _asked(asked: Sequence[Asked], stages: Sequence[Stage]) -> list[Found]:
    found = []
    for number, one in enumerate(asked):
        question = Question(one.question, release=release_of(number))
        context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
        answer = await run(stages, context)
        said = "" if answer.route == "abstain" else answer.text
        found.append((said, tuple(item.chunk.text for item in context.pages.evidence)))
    return found


async def _told(
    asked: Sequence[Asked], found: Sequence[Found], published: tuple[str, ...], why: str
) -> tuple[str, ...]:
    told = scores(asked, [answer for answer, _ in found])
    return (*published, *told, share(_held(asked, [some for _, some in found])), why)


def scores(asked: Sequence[Asked], answers: Sequence[str]) -> tuple[str, ...]:
    """Return correct, missing, hallucination and score in per cent, as CRAG counts: silence is missing."""
    right = sum(
        bool(one.holds) and holds_any(text, [one.holds]) for one, text in zip(asked, answers, strict=True)
    )
    missing = sum(not text for text in answers)
    wrong = len(asked) - right - missing
    return tuple(f"{100 * count / len(asked):.1f}" for count in (right, missing, wrong, right - wrong))


def _held(asked: Sequence[Asked], read_: Sequence[Sequence[str]]) -> float:
    """Return the share of questions with an answer on their pages for which a text that was read has it."""
    of = [(one, some) for one, some in zip(asked, read_, strict=True) if one.holds]
    return sum(any(holds_any(text, [one.holds]) for text in some) for one, some in of) / max(1, len(of))


DIFFERS = _PRINTED["differs"]
