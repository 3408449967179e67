"""What the four fields of pairs made of documents weigh in their joining, learnt from labelled questions.

QA pre-generation joins question and answer, each by vector and by words, with equal weights; which of them
finds more depends on who made the pairs (*ours*).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from core.domain import Hit
from core.pipeline.research import Research
from core.retrieval.pregenerated import EQUAL, FIELDS, joined
from core.retrieval.search import Searcher
from evaluation.gold import GoldLine, is_hit
from evaluation.tuning.examples import Quality, searches_of

SHARES = (0.0, 0.5, 1.0)
"""Weights of a field that are tried; one field at least has the greatest."""

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fielded:
    """A labelled question: for each search what the fields find, and which of these pages are right."""

    line: GoldLine
    searches: tuple[tuple[Mapping[str, Sequence[Hit]], frozenset[str]], ...]


async def fielded(research: Research, searcher: Searcher, lines: Sequence[GoldLine]) -> list[Fielded]:
    """Let each field search every answerable question."""
    found = []
    for line in lines:
        if not line.answerable:
            continue
        searches = []
        for release, queries, vectors in await searches_of(research, line):
            lists, pages = await searcher.pages_by_field(queries, vectors, release)
            place = line.places.get(release)
            right = (key for key, page in pages.items() if place and is_hit(place, page.path, page.text))
            searches.append((lists, frozenset(right)))
        found.append(Fielded(line, tuple(searches)))
    return found


def quality_of(examples: Sequence[Fielded], weights: Sequence[Weights]) -> Quality:
    """Rank every question by its pairs alone, each by its own weights; a question is as good as
    its worst search.
    """
    return Quality.of([_rank(example, own) for example, own in zip(examples, weights, strict=True)])


def best_weights(examples: Sequence[Fielded]) -> Weights:
    """Return the weights that rank these questions best; equal ones where nothing is better."""
    tried = [
        EQUAL,
        *(dict(zip(FIELDS, some, strict=True)) for some in product(SHARES, repeat=4) if 1.0 in some),
    ]
    return max(tried, key=lambda weights: quality_of(examples, [weights] * len(examples)).score)


def _rank(example: Fielded, weights: Weights) -> int:
    worst = 0
    for lists, right in example.searches:
        order = joined(lists, weights) if lists else []
        rank = next((at for at, key in enumerate(order, start=1) if key in right), 0)
        if not rank:
            return 0
        worst = max(worst, rank)
    return worst
