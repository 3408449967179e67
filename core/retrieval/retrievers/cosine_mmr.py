"""QAMR's own retriever: two pages by cosine and two by maximal marginal relevance (its table II)."""

from __future__ import annotations

import numpy as np

from core.retrieval.found import Found
from core.retrieval.look import Look
from core.retrieval.mmr import DIVERSE_FROM, union


async def find(look: Look) -> Found:
    """Choose four pages among those of the nearest chunks."""
    live, near = look.live, (await look.hits()).near[:DIVERSE_FROM]
    kept = await look.vectors_of([live.hash_of[hit.chunk_id] for hit in near])
    held = [(hit, kept[key]) for hit in near if (key := live.hash_of[hit.chunk_id]) in kept]
    chosen = union(look.query, np.stack([vector for _, vector in held])) if held else []
    keys = list(dict.fromkeys(live.context_of[held[row][0].chunk_id] for row in chosen))
    return await look.found(await look.pool(keys))
