"""How freely the model may write (ComRAG §4.4)."""

from __future__ import annotations

from core.generation.temperature import adaptive
from core.pipeline.context import Needs, QueryContext


class Temper:
    """Sets the temperature from how far the scores of the good pairs lie apart.

    With `also_low` the bad pairs' scores count where there are no good ones: the paper takes those of
    whatever pairs are evidence.
    """

    needs: Needs = "model"

    def __init__(self, also_low: bool = False) -> None:
        self._also_low = also_low

    async def __call__(self, context: QueryContext) -> None:
        """Set the temperature."""
        pairs = context.recall.high or (context.recall.low if self._also_low else ())
        context.temperature = adaptive([pair.score for pair, _ in pairs])
