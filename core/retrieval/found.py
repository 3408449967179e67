"""What a search found: evidence, how good it is, and where each retriever had it."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from core.domain import ContextChunk, Evidence, Hit, Level
from core.errors import EncoderError
from core.ports import Reranker
from core.retrieval.confidence import DEFAULT_JUDGEMENT, NO_SIGNS, Judgement, Signs
from core.retrieval.live import Live

log = logging.getLogger(__name__)

KEPT = 8
"""Context chunks after fusion (QA pre-generation, retrieval)."""

TOGETHER = 12
"""Pages that a reranker reads whose scores are weighed: the right one is seldom below."""
WEIGHED = 0.2
"""What the logarithm of a reranker's odds counts beside a page's score. Chosen on 283 questions about four
products: .1 to .3 are alike, and .5 is too much."""
_LEAST = 1e-6
RERANKER, VOTES = "reranker", "votes"
"""Parts of a page's score beside its features (`core.retrieval.features`)."""

AGAIN = 4
"""Pages of the first search that are read again after those of the second; ours."""
HOLE = 2
"""Pages that nobody found between two found ones of one section up to which they are read, too; ours."""

NEAR = 0.1
"""Confidence under which pages have nothing to do with a question. On Flask's golden set none of the 9
answerable questions that found no answer is under .15; of 60 on other things and in small talk
35 are under .1."""


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence, best first, the signs of how good it is, and the rarity of the question's terms.

    `ranks` tells for each context chunk at which rank which retriever found it, `lifts` how far each part of
    its score raised it above the average page, where pages were put in order by those; `named` that pages
    were found by the very name of what is asked for, which is as sure as can be. `below` are the pages that
    come next, as many again, of which no sign is read: for a model that has room for them. `is_blind` tells
    that pages were put in order without their sentences, which their release still learns.
    """

    evidence: tuple[Evidence, ...] = ()
    signs: Signs = NO_SIGNS
    rarity: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)
    judgement: Judgement = DEFAULT_JUDGEMENT
    named: bool = False
    lifts: dict[str, dict[str, float]] = field(default_factory=dict)
    below: tuple[Evidence, ...] = ()
    is_blind: bool = False

    @property
    def confidence(self) -> float:
        """Estimate how likely the evidence answers the question, 0..1."""
        return 1.0 if self.named else self.judgement.confidence(self.signs)

    @property
    def level(self) -> Level:
        """Say what the evidence is: an answer, the closest there is to one, or nothing."""
        return self.judgement.level(self.confidence)

    @property
    def is_enough(self) -> bool:
        """Return True if the evidence is good enough for an answer."""
        return self.level == "sure"

    @property
    def is_close(self) -> bool:
        """Return True if the evidence is worth an answer, be it as the closest there is to one."""
        return self.level != "none"

    @property
    def near(self) -> tuple[Evidence, ...]:
        """Return the evidence to look at where it is no answer; empty where it is about something else."""
        return self.evidence if self.confidence >= NEAR else ()

    def weight(self, term: str) -> float:
        """Return how much a term of the question weighs: its inverse document frequency."""
        return self.rarity.get(term, 0.0)


def merged(lists: Sequence[Found]) -> Found:
    """Join what several searches found: in turns by rank, each chunk once, numbered anew."""
    if len(lists) == 1:
        return lists[0]
    taken: dict[str, Evidence] = {}
    for rank in range(max(len(found.evidence) for found in lists)):
        for found in lists:
            if rank < len(found.evidence):
                taken.setdefault(found.evidence[rank].chunk.id, found.evidence[rank])
    blind = any(found.is_blind for found in lists)
    numbered = enumerate(list(taken.values())[: KEPT * 2], start=1)
    rarity: dict[str, float] = {}
    for found in lists:
        rarity |= found.rarity
    best = max(lists, key=lambda found: found.confidence)
    evidence = tuple(replace(item, number=number) for number, item in numbered)
    ranks: dict[str, dict[str, int]] = {}
    lifts: dict[str, dict[str, float]] = {}
    for found in reversed(lists):
        ranks |= found.ranks
        lifts |= found.lifts
    return Found(evidence, best.signs, rarity, ranks, best.judgement, best.named, lifts, is_blind=blind)


def followed(fresh: Found, again: Found, known: Found) -> Found:
    """Put what a second search alone found before the best of the first one, which led nowhere.

    Of those the ones that the second, `again`, found too come first. How sure the pages are is told by the
    question, not by the guess at its answer that was searched for.
    """
    both = merged([fresh, known])
    new, twice = ({item.chunk.id for item in found.evidence} for found in (fresh, again))
    old = [item for item in known.evidence if item.chunk.id not in new]
    old.sort(key=lambda item: item.chunk.id not in twice)
    order = enumerate((*fresh.evidence, *old[:AGAIN]), start=1)
    evidence = tuple(replace(item, number=number, margin=None) for number, item in order)
    return replace(both, evidence=evidence, signs=known.signs, rarity={**both.rarity, **known.rarity})


def in_reading_order(
    evidence: Sequence[Evidence], sections: Mapping[str, Sequence[ContextChunk]]
) -> list[Evidence]:
    """Put pages of one section together as one reads them, where the best of them stands.

    `sections` are all pages of the section that a page is of, by its id (`Searcher.sections`).
    """
    places = {chunk.id: place for pages in sections.values() for place, chunk in enumerate(pages)}
    best: dict[str, int] = {}
    for rank, item in enumerate(evidence):
        for chunk in sections.get(item.chunk.id, (item.chunk,)):
            best.setdefault(chunk.id, rank)
    return sorted(evidence, key=lambda item: (best[item.chunk.id], places.get(item.chunk.id, 0)))


def between(
    evidence: Sequence[Evidence], sections: Mapping[str, Sequence[ContextChunk]]
) -> tuple[Evidence, ...]:
    """Return the pages, up to two, that stand between two found ones of their section, the best's first.

    They have the score of the page before them: nobody searched for them.
    """
    found = {item.chunk.id: item for item in evidence}
    lacking: dict[str, Evidence] = {}
    for item in evidence:
        section = sections.get(item.chunk.id, ())
        places = [place for place, page in enumerate(section) if page.id in found]
        for at, until in pairwise(places):
            for page in section[at + 1 : until] if until - at <= HOLE + 1 else ():
                lacking.setdefault(
                    page.id, replace(found[section[at].id], chunk=page, matched=(), margin=None)
                )
    return tuple(lacking.values())


def ranks_of(
    evidence: Sequence[Evidence], live: Live, lists: Mapping[str, Sequence[Hit]]
) -> dict[str, dict[str, int]]:
    """Tell for each context chunk the rank of its best passage in every list that has one."""
    ranks: dict[str, dict[str, int]] = {item.chunk.id: {} for item in evidence}
    for name, hits in lists.items():
        for rank, hit in enumerate(hits, start=1):
            found = ranks.get(live.context_of[hit.chunk_id])
            if found is not None:
                found.setdefault(name, rank)
    return ranks


async def reranked(reranker: Reranker | None, question: str, found: Found, keep: int) -> Found:
    """Return the best `keep` of what was found in the order of a reranker, or of the search without one."""
    pool = found.evidence
    if reranker is None or len(pool) < 2:
        return _cut(found, pool, keep)
    passages = [
        f"{e.chunk.title}: {e.chunk.heading}\n" + ("\n".join(e.matched) or e.chunk.page) for e in pool
    ]
    try:
        scores = await reranker.scores(question, passages)
    except EncoderError as error:
        log.warning("what was found stays in the order of the search: %s", error)
        scores = []
    if not scores:
        return _cut(found, pool, keep)
    lifts: dict[str, dict[str, float]] = {}
    if reranker.weighs:
        added = [WEIGHED * _log_odds(score) for score in scores]
        scores = [item.score + more for item, more in zip(pool, added, strict=True)]
        mean = sum(added) / len(added)
        lifts = {
            item.chunk.id: {**found.lifts.get(item.chunk.id, {}), RERANKER: more - mean}
            for item, more in zip(pool, added, strict=True)
        }
    order = sorted(range(len(pool)), key=lambda at: -scores[at])
    evidence = [replace(pool[at], score=scores[at]) for at in order]
    return _cut(replace(found, lifts=lifts), evidence, keep)


def _cut(found: Found, evidence: Sequence[Evidence], keep: int) -> Found:
    """Keep the best pages, and as many of the others below them."""
    numbered = [replace(item, number=n) for n, item in enumerate((*evidence, *found.below), start=1)]
    return replace(found, evidence=tuple(numbered[:keep]), below=tuple(numbered[keep : 2 * keep]))


def _log_odds(probability: float) -> float:
    kept = min(max(probability, _LEAST), 1.0 - _LEAST)
    return math.log(kept / (1.0 - kept))


def each_once(chunks: Mapping[str, ContextChunk], keys: Sequence[str], places: Sequence[int]) -> list[int]:
    """Leave out pages that say under their heading what one before them does, as a changelog that two
    documents include.
    """
    said: set[tuple[str, str]] = set()
    kept = []
    for at in places:
        if page := chunks.get(keys[at]):
            if (page.heading, page.page) not in said:
                kept.append(at)
            said.add((page.heading, page.page))
    return kept
