"""Whether what was found is good enough for an answer."""

from __future__ import annotations

from core.domain import Answer
from core.pipeline.answers import dont_know
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources


class Judge:
    """Ends with the fixed phrase where pages are not enough; else tells the listener which are read.

    Pages may be weak where people answered nearly the same question: what a helper accepted may stand on
    none. `is_strict` off leaves it to the model to say that it does not know: only where nothing was found
    is it not asked. What is drafted already is not judged.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, is_strict: bool = True) -> None:
        self._product = parts.product
        self._can_write = parts.model is not None
        self._memory = parts.memory
        self._is_strict = is_strict

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain, or let the listener hear the pages."""
        if context.draft is not None:
            return None
        enough = context.pages.is_enough if self._is_strict else bool(context.pages.evidence)
        if not enough and not self._is_said(context):
            return dont_know(context, self._product)
        await context.listener.sources(context.partition, context.pages.evidence if enough else ())
        return None

    def _is_said(self, context: QueryContext) -> bool:
        """Return True if people answered nearly the same question, and a model can tell whether it fits."""
        limits = self._memory.thresholds
        near = [close for pair, close in context.recall.high if not pair.stale]
        needed = (limits.tau + limits.delta) / 2
        return self._can_write and "model" not in context.withheld and max(near, default=0.0) >= needed
