"""Joining ranked lists: reciprocal rank (QA pre-generation) and weighted scores (*ours*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Hit

RRF_OFFSET = 60
"""Added to every rank in reciprocal rank fusion (QA pre-generation, retrieval)."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Share of each retriever in the fusion; see DECISIONS.md for the harness rows behind them."""

    dense: float = 0.3
    lexical: float = 0.7


def reciprocal_rank(lists: Sequence[tuple[float, Sequence[Hit]]]) -> list[Hit]:
    """Join weighted lists by `sum w / (60 + rank)`, ranks from 1, best first."""
    scores: dict[str, float] = {}
    for weight, hits in lists:
        for rank, hit in enumerate(hits, start=1):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + weight / (RRF_OFFSET + rank)
    return _ranked(scores)


def weighted(lists: Sequence[tuple[float, Sequence[Hit]]]) -> list[Hit]:
    """Join weighted lists by their scores, each list stretched to 0..1, best first.

    A list with one hit, or with equal scores, counts 1 for each.
    """
    scores: dict[str, float] = {}
    for weight, hits in lists:
        if not hits:
            continue
        low = min(hit.score for hit in hits)
        span = max(hit.score for hit in hits) - low
        for hit in hits:
            share = (hit.score - low) / span if span > 0 else 1.0
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + weight * share
    return _ranked(scores)


def _ranked(scores: dict[str, float]) -> list[Hit]:
    return [Hit(key, score) for key, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]
