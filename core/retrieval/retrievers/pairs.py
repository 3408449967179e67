"""The pairs made of documents alone, as QA pre-generation finds pages."""

from __future__ import annotations

from core.retrieval.found import Found
from core.retrieval.look import Look


async def find(look: Look) -> Found:
    """Return the pages that their pairs lead to, in the pairs' order."""
    return await look.found(await look.pool((await look.hits()).made))
