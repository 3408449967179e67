"""Where the words of a cited page are found again."""

from __future__ import annotations

from typing import Protocol


class PassageStore(Protocol):
    """Finds pages of live corpora by what they say."""

    async def text(self, release: str, page_hash: str) -> str:
        """Return the page with that hash (`ContextChunk.hash`) of a release; empty where it is gone."""
