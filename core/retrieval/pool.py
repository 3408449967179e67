"""The pages of one search before they are ordered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.retrieval.features import Numbers, PageView


@dataclass(frozen=True, slots=True)
class Pool:
    """Pages with their features, shape (pages, FEATURES), the passages found in each.

    `views` are what was read of them for this question, `brought` the pages that only their pairs brought
    here. What they say is read where it is needed (`Look.chunks`).
    """

    keys: tuple[str, ...]
    views: tuple[PageView, ...]
    table: Numbers
    passages: Mapping[str, tuple[str, ...]]
    brought: frozenset[str] = frozenset()

    def best(self, scores: Numbers, keep: int) -> list[int]:
        """Return the places of the best `keep` pages by their scores, shape (pages,)."""
        return sorted(range(len(self.keys)), key=lambda at: -scores[at])[:keep]
