"""What nobody asked the bot: it speaks only where it is sure."""

from __future__ import annotations

from core.domain import Answer
from core.pipeline.answers import dont_know
from core.pipeline.context import Needs, QueryContext
from core.pipeline.stage import Resources, Stage
from core.retrieval.unasked import is_sure


class OnlyIfSure:
    """Ends with an abstention where nobody asked and neither pages nor memory are sure.

    `retrieve` searches, and is not needed for a question to the bot.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, retrieve: Stage) -> None:
        self._product = parts.product
        self._memory = parts.memory
        self._retrieve = retrieve

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Search for what nobody asked, and abstain where that is not sure."""
        if not context.question.unasked:
            return None
        await self._retrieve(context)
        return None if self._is_sure(context) else dont_know(context, self._product)

    def _is_sure(self, context: QueryContext) -> bool:
        """Return True if pages are sure, or a good answer to the very question is known."""
        if "model" in context.withheld:
            return False
        recall = context.recall
        if recall.route == "reuse" and recall.high[0][1] >= self._memory.thresholds.delta:
            return True
        return is_sure(context.pages, context.open)
