"""Remembered pairs as what an answer is written from, without any page (ComRAG section 4.3, second path)."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Citation, ContextChunk, Evidence, QAPair
from core.generation.citations import uncited
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.retrieval.found import Found


class ReadRemembered:
    """Makes the recalled good pairs the evidence, and lets the listener hear them."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._has_model = parts.model is not None

    async def __call__(self, context: QueryContext) -> None:
        """Set what was found; where no model is to write, pages are found and quoted as ever."""
        if self._has_model:
            recalled = enumerate(context.recall.high, start=1)
            context.found = Found(
                tuple(Evidence(number, page_of(pair), near) for number, (pair, near) in recalled)
            )
            context.note_found()
            await context.listener.sources(context.partition, context.found.evidence)


class CiteRemembered:
    """Lets an answer that is written from pairs cite what the pairs cite.

    Where the model failed, the pairs are no evidence any more, so that pages are quoted.
    """

    needs: Needs = "model"

    async def __call__(self, context: QueryContext) -> None:
        """Set the citations of the draft."""
        told = {page_of(pair).hash: pair for pair, _ in context.recall.high}
        if context.draft is None:
            left = tuple(item for item in context.pages.evidence if item.chunk.hash not in told)
            context.found = replace(context.pages, evidence=left) if left else None
            return
        cited = tuple(
            _cited(entry, told[entry.hash]) if entry.hash in told else entry
            for entry in context.draft.citations
        )
        context.draft = replace(context.draft, citations=cited)


def page_of(pair: QAPair) -> ContextChunk:
    """Return a remembered pair as a page under its question."""
    url = pair.citations[0].url if pair.citations else ""
    return ContextChunk(
        pair.id, pair.id, pair.question, "", url, uncited(pair.answer), release=pair.release.split("+")[0]
    )


def _cited(entry: Citation, pair: QAPair) -> Citation:
    """Return the first citation of a pair under the number of the one that names the pair."""
    if not pair.citations:
        return replace(entry, path="", hash="")
    return replace(pair.citations[0], number=entry.number)
