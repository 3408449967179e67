"""How freely the model may write (ComRAG §4.4)."""

from __future__ import annotations

from core.generation.temperature import adaptive
from core.pipeline.context import Needs, QueryContext

STRONG = 0.8
"""Confidence from which the pages say it, and the model has only to say it again; ours, as is `CLOSE`."""
CLOSE = 0.3
"""Temperature there; not 0, at which small models fall into loops (the cards of Qwen)."""


class Temper:
    """Sets the temperature from how far the scores of the good pairs lie apart.

    Where fewer than two are there, strong pages set it low. With `also_low` it is as in the paper: the bad
    pairs' scores count where there are no good ones, and pages do not.
    """

    needs: Needs = "model"

    def __init__(self, also_low: bool = False) -> None:
        self._also_low = also_low

    async def __call__(self, context: QueryContext) -> None:
        """Set the temperature."""
        pairs = context.recall.high or (context.recall.low if self._also_low else ())
        if not self._also_low and len(pairs) < 2 and context.pages.confidence >= STRONG:
            context.temperature = CLOSE
            return
        context.temperature = adaptive([pair.score for pair, _ in pairs])
