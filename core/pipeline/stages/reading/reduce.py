"""Context reduction: of each page what bears on the question (QAMR step 3)."""

from __future__ import annotations

from collections.abc import Mapping

from core.generation.context import by_rule, reduction
from core.pipeline.context import Needs, QueryContext
from core.pipeline.stage import Resources


class Reduce:
    """Reduces pages, by the model where it may, else by rule."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product.name
        self._budget = parts.budget

    async def __call__(self, context: QueryContext) -> None:
        """Set the texts that are left, by the page's number; pages without any are left out."""
        if context.pages.named:  # all of them bear on the question
            context.texts = {item.number: item.chunk.page for item in context.pages.evidence}
            return
        context.texts = await self.reduced(context)
        context.lap("reduce")

    async def reduced(self, context: QueryContext) -> Mapping[int, str]:
        """Return what is left of each page."""
        evidence = context.pages.evidence
        texts = await self._budget.take(
            context.course,
            "reduce",
            lambda model: reduction.reduce(
                model, context.answerable, self._product, context.releases, evidence
            ),
        )
        return texts or by_rule.reduce(evidence, context.terms, context.pages.weight)
