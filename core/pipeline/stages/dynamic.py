"""Questions whose answer changes too soon for documents (Hybrid CRAG, section 4.2)."""

from __future__ import annotations

from core.domain import Answer
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import dont_know
from core.query.attributes import is_dynamic


class RefuseDynamic:
    """Ends with the fixed phrase where the question is about what changes soon."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._parts = parts

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain, or leave it."""
        encoder = await self._parts.encoder_of(context.releases[0])
        (vector,) = await encoder.encode([context.queries.base])
        context.lap("attributes")
        return dont_know(context, self._parts.product) if is_dynamic(vector, encoder.name) else None
