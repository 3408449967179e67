"""A counter of tokens that pages can turn against who counts; it imports little, as a worker does."""

from __future__ import annotations

import os
from dataclasses import dataclass

from core.models.embedding.local import TokenCounter

LOOPS, EATS, CRASHES = "This page loops.", "This page eats.", "This page crashes."


@dataclass(frozen=True)
class Hostile:
    """Counts tokens, unless a page's text says to do worse."""

    count: TokenCounter

    def __call__(self, text: str) -> int:
        while LOOPS in text:
            pass
        taken = []
        while EATS in text:
            taken.append(bytearray(10_000_000))
        if CRASHES in text:
            os.abort()
        return self.count(text)
