"""Maximal marginal relevance, and QAMR's own retriever: two pages by cosine and two by MMR (its table II)."""

from __future__ import annotations

import numpy as np

from core.domain import Vector
from core.ports import Matrix
from core.retrieval.found import Found
from core.retrieval.look import Look

DIVERSE_FROM = 20
"""Nearest chunks among which MMR chooses; the usual default, QAMR names none."""
BALANCE = 0.5
"""Weight of relevance against novelty; the usual default, QAMR names none."""


async def find(look: Look) -> Found:
    """Choose four pages among those of the nearest chunks."""
    live, near = look.live, (await look.hits()).near[:DIVERSE_FROM]
    kept = await look.vectors_of([live.hash_of[hit.chunk_id] for hit in near])
    held = [(hit, kept[key]) for hit in near if (key := live.hash_of[hit.chunk_id]) in kept]
    chosen = union(look.query, np.stack([vector for _, vector in held])) if held else []
    keys = list(dict.fromkeys(live.context_of[held[row][0].chunk_id] for row in chosen))
    return await look.found(await look.pool(keys))


def mmr(query: Vector, candidates: Matrix, k: int, balance: float = BALANCE) -> list[int]:
    """Choose up to k rows of `candidates`: near to the query, far from those chosen before.

    `query` has shape (d,), `candidates` (n, d), all of unit length. Each step takes the row with the
    greatest `balance * cos(query, row) - (1 - balance) * max cos(chosen, row)`; ties go to the first.
    """
    if not len(candidates):
        return []
    relevance = candidates @ query
    chosen = [int(np.argmax(relevance))]
    nearest = candidates @ candidates[chosen[0]]
    while len(chosen) < min(k, len(candidates)):
        gain = balance * relevance - (1.0 - balance) * nearest
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
        nearest = np.maximum(nearest, candidates @ candidates[chosen[-1]])
    return chosen


def union(query: Vector, candidates: Matrix, each: int = 2, balance: float = BALANCE) -> list[int]:
    """Choose `each` rows by cosine and then `each` more by MMR (QAMR, table II).

    The rows that MMR would choose again are passed over, so that 2 * each different ones come out
    where there are as many.
    """
    if not len(candidates):
        return []
    by_cosine = [int(row) for row in np.argsort(-(candidates @ query), kind="stable")[:each]]
    diverse = [row for row in mmr(query, candidates, 2 * each, balance) if row not in by_cosine]
    return by_cosine + diverse[:each]
