"""Whether what was found is good enough for an answer."""

from __future__ import annotations

from core.domain import Answer
from core.pipeline.answers import dont_know
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources


class Judge:
    """Ends with the fixed phrase where pages are not enough; else tells the listener which are read."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain, or let the listener hear the pages."""
        if not context.pages.is_enough:
            return dont_know(context, self._product)
        await context.listener.sources(context.partition, context.pages.evidence)
        return None
