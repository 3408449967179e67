"""The pages of one search before they are ordered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.domain import ContextChunk, Evidence
from core.retrieval.features import Numbers


@dataclass(frozen=True, slots=True)
class Pool:
    """Pages with their features, shape (pages, FEATURES), the passages found in each.

    `brought` are the pages that only their pairs brought here.
    """

    keys: tuple[str, ...]
    chunks: tuple[ContextChunk, ...]
    table: Numbers
    passages: Mapping[str, tuple[str, ...]]
    brought: frozenset[str] = frozenset()

    def ordered(self, scores: Numbers, keep: int) -> tuple[Evidence, ...]:
        """Return the best `keep` pages by their scores, shape (pages,), numbered from 1."""
        order = sorted(range(len(self.keys)), key=lambda at: -scores[at])[:keep]
        return tuple(
            Evidence(
                number,
                self.chunks[at],
                float(scores[at]),
                self.passages[self.keys[at]],
            )
            for number, at in enumerate(order, start=1)
        )
