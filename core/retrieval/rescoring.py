"""Second look at the best pages: how they hold the question together, not only their best passage (*ours*).

Weights are fitted by listwise softmax on the `tune` halves of the golden sets, cross-validated in five
parts: hit@1 .590 → .676, hit@3 .813 → .842, MRR .713 → .764; on the `report` halves hit@1 .522 → .566,
hit@8 .846 → .875, MRR .646 → .669.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from core.domain import ContextChunk
from core.text import index_terms

POOL = 20
"""Pages that are looked at again; the right one is hardly ever below (.98 of the golden questions)."""
_SECOND = 0.5
_HELD = 1.0
_PAIRS = 0.7
_NEAR = 1.0
_SHORT = 0.4
_SHORT_CHARACTERS = 300
"""Length at which a page counts half as short: an entry of a list or a stub."""


@dataclass(frozen=True, slots=True)
class PageTerms:
    """The index terms of a page with its title, the neighbouring ones as pairs, and its length."""

    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    characters: int

    @classmethod
    def of(cls, chunk: ContextChunk) -> PageTerms:
        """Read the terms of a page."""
        body = index_terms(chunk.page)
        titles = index_terms(f"{chunk.title} {chunk.heading}")
        return cls(frozenset([*titles, *body]), frozenset(pairwise(body)), len(chunk.page))


@lru_cache(maxsize=4096)
def page_terms(chunk: ContextChunk) -> PageTerms:
    """Read the terms of a page, once."""
    return PageTerms.of(chunk)


def page_score(
    passages: Sequence[float],
    cosine: float,
    page: PageTerms,
    terms: Sequence[str],
    rarity: Mapping[str, float],
) -> float:
    """Score one page for a question's terms, weighed by rarity.

    `passages` are the fused scores of the page's passages, best first, each 0 to 1; `cosine` is the best
    of any of them.
    """
    total = sum(rarity[term] for term in terms) or 1.0
    held = sum(rarity[term] for term in terms if term in page.terms) / total
    pairs = list(pairwise(terms))
    weight = sum(rarity[a] + rarity[b] for a, b in pairs) or 1.0
    together = sum(rarity[a] + rarity[b] for a, b in pairs if (a, b) in page.pairs) / weight
    second = passages[1] if len(passages) > 1 else 0.0
    short = 1.0 / (1.0 + page.characters / _SHORT_CHARACTERS)
    return passages[0] + _SECOND * second + _HELD * held + _PAIRS * together + _NEAR * cosine - _SHORT * short
