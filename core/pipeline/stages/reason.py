"""The answer by reasoning over everything that was gathered (Hybrid CRAG, sections 4.6 and 4.7)."""

from __future__ import annotations

from core.generation.citations import Cleaned
from core.generation.context.fitting import Request
from core.generation.reasoning import reason
from core.pipeline.context import QueryContext
from core.pipeline.stages.write import Write
from core.ports import LanguageModel


class Reason(Write):
    """Has the model reason as structured output; else it does as `Write` does."""

    async def _by(self, model: LanguageModel, request: Request, context: QueryContext) -> Cleaned:
        """Have it written, and trace the reasoning and whether the question has a false premise."""
        reasoned = await reason(model, request, context.notes)
        context.trace.reasoning = reasoned.reasoning or None
        context.trace.false_premise = reasoned.false_premise
        return reasoned.written
