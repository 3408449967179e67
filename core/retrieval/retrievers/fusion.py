"""Vectors and words, fused; a second look at the best forty pages puts them in order (*ours*)."""

from __future__ import annotations

from core.retrieval.found import Found
from core.retrieval.look import Look


async def find(look: Look) -> Found:
    """Order the pages that both retrievers found by what a second look sees in them, and by votes."""
    pool = await look.read_closely(await look.pool())
    votes = await look.lifted(pool)
    return await look.found(pool, look.ranking.scores(pool.table) + votes, votes)
