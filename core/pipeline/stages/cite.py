"""What an answer says beside itself, and how well its pages support it before anybody votes."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Evidence
from core.generation.composite import nothing_on
from core.generation.offers import differs
from core.generation.quotes.quote import without_introduction
from core.memory.scoring.score import SUPPORTED, support
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
        lacking = nothing_on(draft.missed, self._product.name, context.partition)
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
        found = [name for name in others if differs(answer, evidence.chunk.page, pages.get(name, ()))]
        return tuple(found[:OFFERED])


class Ground:
    """Scores a draft that memory will keep; a quote is its evidence."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._parts = parts

    async def __call__(self, context: QueryContext) -> None:
        """Set the prior."""
        is_kept = context.question.scope.remembered and not context.is_draft and not context.repeats
        if is_kept and context.draft is not None:
            context.prior = await self._scored(context, context.draft)

    async def _scored(self, context: QueryContext, draft: Draft) -> float:
        if draft.route == "quote":
            return SUPPORTED
        cited = {entry.hash for entry in draft.citations}
        # of many pages the first are looked at: let it be those that the answer rests on
        evidence = sorted(context.pages.evidence, key=lambda item: item.chunk.hash not in cited)
        if self._parts.scorer is None:
            return support(draft.text, evidence)
        encoder = await self._parts.encoder_of(context.releases[0])
        context.trace.support = await self._parts.scorer.score(draft.text, evidence, encoder)
        return float(context.trace.support["prior"])
