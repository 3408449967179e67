"""How freely the model may write (ComRAG §4.4)."""

from __future__ import annotations

from core.generation.temperature import adaptive
from core.pipeline.context import Needs, QueryContext


class Temper:
    """Sets the temperature from how far the scores of the good pairs lie apart."""

    needs: Needs = "model"

    async def __call__(self, context: QueryContext) -> None:
        """Set the temperature."""
        context.temperature = adaptive([pair.score for pair, _ in context.recall.high])
