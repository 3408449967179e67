"""Whether what was found is good enough for an answer."""

from __future__ import annotations

from core.domain import Answer
from core.pipeline.answers import dont_know
from core.pipeline.context import Needs, QueryContext
from core.pipeline.stage import Resources


class Judge:
    """Ends with the fixed phrase where pages are not enough; else tells the listener which are read.

    `is_strict` off leaves it to the model to say that it does not know: only where nothing was found is it
    not asked. What is drafted already is not judged.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, is_strict: bool = True) -> None:
        self._product = parts.product
        self._is_strict = is_strict

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain, or let the listener hear the pages."""
        if context.draft is not None:
            return None
        if not (context.pages.is_enough if self._is_strict else context.pages.evidence):
            return dont_know(context, self._product)
        await context.listener.sources(context.partition, context.pages.evidence)
        return None
