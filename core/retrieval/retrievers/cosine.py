"""The nearest pages by cosine alone (ComRAG section 4.1)."""

from __future__ import annotations

from core.retrieval.found import Found
from core.retrieval.look import Look


async def find(look: Look) -> Found:
    """Return the pages of the nearest chunks, in their order."""
    near = (await look.hits()).near
    keys = list(dict.fromkeys(look.live.context_of[hit.chunk_id] for hit in near))
    return await look.found(await look.pool(keys[: look.wanted]))
