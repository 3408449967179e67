"""How far the evidence can be trusted to answer: signs of it, and a probability from them (*ours*).

All signs are shares or cosines, so that they mean the same in a small corpus and in a large one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain import Evidence, Hit
from core.text import index_terms

ENOUGH = 0.38
"""Least confidence for an answer: 5 % of the answerable golden questions of the `tune` half fall below."""
_LOOKED_AT = 3
"""Chunks whose words are compared with the question's."""
_NEAREST = 10
"""Hits of either retriever that are compared with each other."""
_EVERYWHERE = 2.0
"""Inverse document frequency below which a word is in more than an eighth of all chunks."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells how good evidence is.

    `cosine` is the best of any search chunk; `coverage` the share of the question's terms, weighed by
    rarity, that the best three chunks hold on average; `words` the best BM25 score for each unit of
    the terms' rarity; `agreement` the share of the ten nearest by meaning that are among the ten best
    by words; `extension` 1 where a name like `flask-login`, made from the product's, is unknown.
    """

    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    agreement: float = 0.0
    extension: float = 0.0


def confidence(signs: Signs) -> float:
    """Estimate the probability that the evidence answers the question, by logistic regression.

    Coefficients are fitted on the `tune` halves of the golden sets (core/evaluation/calibration.py).
    """
    logit = (
        -7.01
        + 8.65 * signs.cosine
        + 3.75 * signs.coverage
        + 1.98 * signs.words
        + 1.25 * signs.agreement
        - 4.25 * signs.extension
    )
    return 1.0 / (1.0 + math.exp(-logit))


def assess(
    terms: Sequence[str],
    rarity: Mapping[str, float],
    dense: Sequence[Hit],
    lexical: Sequence[Hit],
    evidence: Sequence[Evidence],
    chunks: int,
) -> Signs:
    """Read the signs; pure, well under a millisecond.

    `lexical` are the hits for exactly these terms, `evidence` is best first, `chunks` the number of
    search chunks in the corpus.
    """
    cosine = dense[0].score if dense else 0.0
    total = sum(rarity[term] for term in terms)
    if not total or not evidence:
        return Signs(cosine)
    held = []
    for item in evidence[:_LOOKED_AT]:
        present = set(index_terms(f"{item.chunk.title} {item.chunk.heading} {item.chunk.page}"))
        held.append(sum(rarity[term] for term in terms if term in present) / total)
    near = {hit.chunk_id for hit in dense[:_NEAREST]} & {hit.chunk_id for hit in lexical[:_NEAREST]}
    return Signs(
        cosine,
        sum(held) / len(held),
        lexical[0].score / total if lexical else 0.0,
        len(near) / _NEAREST,
        float(any(_is_extension(term, rarity, chunks) for term in terms)),
    )


def _is_extension(term: str, rarity: Mapping[str, float], chunks: int) -> bool:
    """Tell whether a term is an unknown name that is put together with a word from all over the corpus."""
    once = math.log1p((chunks - 0.5) / 1.5)
    parts = term.split("-")
    return (
        len(parts) > 1
        and all(parts)
        and rarity[term] > once + 1e-9
        and any(rarity.get(part, _EVERYWHERE) < _EVERYWHERE for part in parts)
    )
