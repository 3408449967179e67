"""What a search found: evidence, how good it is, and where each retriever had it."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.domain import Evidence, Hit, Level
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
    come next, as many again, of which no sign is read: for a model that has room for them.
    """

    evidence: tuple[Evidence, ...] = ()
    signs: Signs = NO_SIGNS
    rarity: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)
    judgement: Judgement = DEFAULT_JUDGEMENT
    named: bool = False
    lifts: dict[str, dict[str, float]] = field(default_factory=dict)
    below: tuple[Evidence, ...] = ()

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
    return Found(evidence, best.signs, rarity, ranks, best.judgement, best.named, lifts)


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
