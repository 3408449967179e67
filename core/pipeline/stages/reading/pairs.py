"""Pairs made of documents, handed to the model in place of their pages (QA pre-generation)."""

from __future__ import annotations

from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.ports import PregeneratedPair


class ReadPairs:
    """Hands over the eight pairs nearest to the question, each under the number of its page, which is cited.

    Where none of their pages was found, the pages are read as they are.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._searcher = parts.searcher

    async def __call__(self, context: QueryContext) -> None:
        """Set texts and chosen pages, those of the nearest pairs first."""
        told: dict[str, list[str]] = {}
        for release in context.releases:
            for pair in await self._searcher.nearest_pairs(context.queries, context.vectors, release):
                told.setdefault(pair.context_id, []).append(written(pair))
        by_page = {item.chunk.id: item for item in context.pages.evidence}
        chosen = [by_page[page] for page in told if page in by_page]
        if chosen:
            context.chosen = chosen
            context.texts = {item.number: "\n\n".join(told[item.chunk.id]) for item in chosen}
        context.trace.read = [item.number for item in chosen or context.pages.evidence]


def written(pair: PregeneratedPair) -> str:
    """Write a pair as the model reads it: question, detailed answer, and what its document is about."""
    parts = (pair.question, pair.full_answer or pair.answer, pair.summary)
    return "\n".join(part for part in parts if part)
