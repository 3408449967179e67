"""Sentences made of triplets, added to what the model reads (GraphContextGen, context enhancer)."""

from __future__ import annotations

from core.generation import triplets
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources


class AddTriplets:
    """Adds what pages state by their structure, and what the model reads; both ends stand in the context."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._budget = parts.budget

    async def __call__(self, context: QueryContext) -> None:
        """Lengthen the texts, each by the sentences of its own page; the model's go where both ends stand."""
        evidence = context.pages.evidence
        texts = dict(context.texts or {item.number: item.chunk.page for item in evidence})
        whole = "\n".join(texts.values())
        taken = triplets.within(await self._by_model(context, list(texts.values())), whole)
        seen: set[triplets.Triplet] = set()
        for item in evidence:
            own = triplets.within(triplets.by_rule(item.chunk.page, item.chunk.heading), whole)
            here = [one for one in (*own, *triplets.within(taken, texts[item.number])) if one not in seen]
            seen |= set(here)
            texts[item.number] = "\n".join([texts[item.number], *(one.sentence for one in here)])
        rest = [one.sentence for one in taken if one not in seen]
        if rest and evidence:
            last = evidence[-1].number
            texts[last] = "\n".join([texts[last], *rest])
        context.texts = texts
        context.lap("triplets")

    async def _by_model(self, context: QueryContext, texts: list[str]) -> list[triplets.Triplet]:
        found = await self._budget.take(
            context.course, "triplets", lambda model: triplets.by_model(model, texts)
        )
        return found or []
