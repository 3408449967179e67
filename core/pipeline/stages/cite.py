"""What every answer gets last: the releases that say something else, and what the pages lack."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Evidence
from core.generation.composite import nothing_on
from core.generation.offers import differs
from core.generation.quotes.quote import without_introduction
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.resources import Resources

OFFERED = 4
"""Other releases that an answer names at most."""


class Cite:
    """Finishes a draft: names the releases whose page differs, and says what the pages lack."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product
        self._searcher = parts.searcher

    async def __call__(self, context: QueryContext) -> None:
        """Add offers and open parts to the draft."""
        if context.draft is not None:
            context.draft = await self._finished(context, context.draft)

    async def _finished(self, context: QueryContext, draft: Draft) -> Draft:
        cited = draft.citations[0].hash
        first = next((item for item in context.pages.evidence if item.chunk.hash == cited), None)
        told = without_introduction(draft.text) if draft.route == "quote" else draft.text
        offers = await self._offers(context, told, first) if first else ()
        context.trace.offers = offers
        context.lap("offers")
        name, translated = self._product.name, context.is_translated
        lacking = nothing_on(draft.missed, name, context.partition, translated=translated)
        text = "\n\n".join(part for part in (draft.text, lacking) if part)
        return replace(draft, text=text, offers=offers)

    async def _offers(self, context: QueryContext, answer: str, evidence: Evidence) -> tuple[str, ...]:
        """Name the releases, newest first, in which the page that an answer rests on says something else.

        Only where nobody named a release: who did knows which one they want.
        """
        if context.resolution.origin not in ("latest", "channel") or len(context.releases) > 1:
            return ()
        place = (evidence.chunk.path, evidence.chunk.heading)
        pages = (await self._searcher.pages_like([place]))[place]
        newest = [entry.name for entry in reversed(self._product.releases)]
        others = [name for name in newest if name in self._searcher.corpora and name not in context.releases]
        section = (await self._searcher.sections([evidence]))[evidence.chunk.id]
        page, said = "\n\n".join(one.page for one in section), self._searcher.said
        name = self._product.name
        found = [other for other in others if differs(answer, page, pages.get(other, ()), said(other), name)]
        return tuple(found[:OFFERED])
