"""How well an answer is supported by its pages: its score before anybody votes (ComRAG §4)."""

from __future__ import annotations

from core.memory.scoring.score import SUPPORTED, support
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.stage import Resources


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
        evidence = context.pages.evidence
        if self._parts.scorer is None:
            return support(draft.text, evidence)
        encoder = await self._parts.encoder_of(context.releases[0])
        context.trace.support = await self._parts.scorer.score(draft.text, evidence, encoder)
        return float(context.trace.support["prior"])
