"""Labelled questions with the pages that a search looks at: what tuning learns from and is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from core.domain import Queries, Question
from core.learning.fit import Marks
from core.pipeline.research import Research
from core.ports import Matrix
from core.retrieval.features import Numbers
from core.retrieval.found import KEPT, merged
from core.retrieval.search import Searcher
from evaluation.gold import UNANSWERABLE, GoldLine, is_hit


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a question: the pages with their features, and which of them are right."""

    release: str
    keys: tuple[str, ...]
    table: Numbers
    right: Marks


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled question with its searches; one for each release and part."""

    line: GoldLine
    searches: tuple[Search, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """How well questions are ranked: means over them."""

    hit1: float
    hit3: float
    hit8: float
    mrr: float

    @property
    def score(self) -> float:
        """Join three of them to what tuning maximises."""
        return (self.hit3 + self.hit8 + self.mrr) / 3.0

    def __str__(self) -> str:
        return f"hit@1 {self.hit1:.3f}, hit@3 {self.hit3:.3f}, hit@8 {self.hit8:.3f}, MRR {self.mrr:.3f}"

    @classmethod
    def of(cls, ranks: Sequence[int]) -> Quality:
        """Return the quality of questions whose right page came at these ranks, from 1; 0: not found."""
        n = len(ranks) or 1
        return cls(
            sum(rank == 1 for rank in ranks) / n,
            sum(0 < rank <= 3 for rank in ranks) / n,
            sum(0 < rank <= 8 for rank in ranks) / n,
            sum(1.0 / rank for rank in ranks if rank) / n,
        )


def quality(examples: Sequence[Example], weights: Sequence[Numbers]) -> Quality:
    """Rank every question, each by its own weights."""
    return Quality.of([_rank(example, row) for example, row in zip(examples, weights, strict=True)])


async def examples_of(research: Research, searcher: Searcher, lines: Sequence[GoldLine]) -> list[Example]:
    """Search every answerable question and mark the right pages."""
    found = []
    for line in lines:
        if not line.answerable:
            continue
        searches = []
        for release, queries, vectors in await searches_of(research, line):
            if look := searcher.look(queries, vectors, release):
                pool = await look.pool()
                place = line.places.get(release)
                marks = [bool(place and is_hit(place, c.path, c.text)) for c in await look.chunks(pool)]
                searches.append(Search(release, pool.keys, pool.table, np.array(marks, bool)))
        found.append(Example(line, tuple(searches)))
    return found


async def signs_of(
    research: Research, searcher: Searcher, lines: Sequence[GoldLine]
) -> list[tuple[dict[str, float], bool]]:
    """Return the signs of each question's evidence, and whether it has an answer."""
    found = []
    for line in lines:
        if line.answerable or line.type == UNANSWERABLE:
            asked = await searches_of(research, line)
            lists = [await searcher.search(queries, vectors, release) for release, queries, vectors in asked]
            if lists:
                found.append((asdict(merged(lists).signs), line.answerable))
    return found


async def searches_of(research: Research, line: GoldLine) -> list[tuple[str, Queries, Matrix]]:
    """Return the searches of a question: for each release and part."""
    asked = await research.understand(Question(line.question, history=line.history, release=line.ask_release))
    if asked.resolution.unknown:
        return []
    forms = [(asked.queries, asked.vectors[:1])]
    if asked.parts:
        alone = replace(asked.queries, versionless="", carried=())
        forms = [
            (replace(alone, base=part, filtered=part), asked.vectors[at : at + 1])
            for at, part in enumerate(asked.parts, start=1)
        ]
    return [(release, queries, vectors) for release in asked.releases for queries, vectors in forms]


def _rank(example: Example, weights: Numbers) -> int:
    """Return the rank of the first right page, in the order in which several searches are shown."""
    orders: list[list[tuple[str, str, bool]]] = []
    for search in example.searches:
        best = np.argsort(-(search.table @ weights), kind="stable")[:KEPT]
        orders.append([(search.keys[at], search.release, bool(search.right[at])) for at in best])
    taken: dict[str, tuple[str, bool]] = {}
    for place in range(max((len(order) for order in orders), default=0)):
        for order in orders:
            if place < len(order):
                key, release, right = order[place]
                taken.setdefault(key, (release, right))
    return _first(example.line, list(taken.values())[: KEPT * 2])


def _first(line: GoldLine, found: Sequence[tuple[str, bool]]) -> int:
    worst = 0
    for wanted in line.places:
        pool = found if len(line.places) == 1 else [one for one in found if one[0] == wanted]
        rank = next((at for at, (of, right) in enumerate(pool, start=1) if right and of == wanted), 0)
        if not rank:
            return 0
        worst = max(worst, rank)
    return worst
