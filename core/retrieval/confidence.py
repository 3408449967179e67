"""How likely the evidence answers the question: signs that cost nothing, and a logistic regression."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain import Evidence, Hit
from core.retrieval.rescoring import page_terms

AGREED = 10
"""First hits of each retriever that are compared."""
COMMON_RARITY = 2.0
"""A term below this inverse document frequency is a very common one: the product's name."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells good evidence from bad, each about 0..1.

    `cosine` is the best cosine of the dense query; `coverage` the share of the question's terms, weighed
    by rarity, that the three best chunks hold on average; `words` the best BM25 score against the sum of
    the terms' rarities; `agreement` the share of common chunks among the first hits of both retrievers;
    `extension` is 1 where the question names an unknown relative of the product (`flask-login`).
    """

    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    agreement: float = 0.0
    extension: float = 0.0


NO_SIGNS = Signs()
"""The signs of having found nothing."""


def confidence(signs: Signs) -> float:
    """Join the signs to a probability by logistic regression.

    Fitted with L2 on the `tune` halves of both golden sets; the bias takes .83 of the questions for
    answerable, as they are there. See docs/evaluation.md for its reliability.
    """
    logit = (
        -5.41
        + 8.65 * signs.cosine
        + 3.75 * signs.coverage
        + 1.98 * signs.words
        + 1.25 * signs.agreement
        - 4.25 * signs.extension
    )
    return 1.0 / (1.0 + math.exp(-logit))


def signs(
    terms: Sequence[str],
    rarity: Mapping[str, float],
    dense: Sequence[Hit],
    lexical: Sequence[Hit],
    evidence: Sequence[Evidence],
    chunks: int,
) -> Signs:
    """Read the signs off one search; `chunks` is the size of the corpus."""
    cosine = dense[0].score if dense else 0.0
    total = sum(rarity[term] for term in terms)
    if not total or not evidence:
        return Signs(cosine)
    held = []
    for item in evidence[:3]:
        present = page_terms(item.chunk).terms
        held.append(sum(rarity[term] for term in terms if term in present) / total)
    near = {hit.chunk_id for hit in dense[:AGREED]} & {hit.chunk_id for hit in lexical[:AGREED]}
    unknown = math.log1p((chunks - 0.5) / 1.5) + 1e-9  # rarer than a term that occurs once
    extension = any(
        "-" in term.strip("-")
        and rarity[term] > unknown
        and any(rarity.get(part, unknown) < COMMON_RARITY for part in term.split("-"))
        for term in terms
    )
    return Signs(
        cosine,
        sum(held) / len(held),
        lexical[0].score / total if lexical else 0.0,
        len(near) / AGREED,
        float(extension),
    )
