"""References beside the pages, gathered by the model (Hybrid CRAG, sections 4.3 and 4.4)."""

from __future__ import annotations

from core import prompts
from core.generation.references import calculated, known
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources


class Calculate:
    """Has the model write arithmetic from the pages and their tables, works it out, and notes the results."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._budget = parts.budget

    async def __call__(self, context: QueryContext) -> None:
        """Add the results to the notes."""
        texts = [item.chunk.page for item in context.pages.evidence]
        results = await self._budget.take(
            context.course, "calculate", lambda model: calculated(model, context.answerable, texts)
        )
        context.notes += prompts.calculated(results) if results else ""
        context.lap("calculate")


class AskModel:
    """Notes what the model would answer without any page: an unverified reference, never a citation."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._budget = parts.budget
        self._product = parts.product.name

    async def __call__(self, context: QueryContext) -> None:
        """Add it to the notes."""
        said = await self._budget.take(
            context.course, "knowledge", lambda model: known(model, context.answerable, self._product)
        )
        context.notes += prompts.known(said) if said else ""
        context.lap("knowledge")
