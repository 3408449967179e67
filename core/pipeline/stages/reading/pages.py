"""What of the pages the model reads: what bears on the question, and the best (QAMR steps 3, 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain import Evidence
from core.generation.context import by_rule, reduction, selection
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources


class Reduce:
    """Reduces pages, by the model where it may, else by rule."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product.name
        self._budget = parts.budget

    async def __call__(self, context: QueryContext) -> None:
        """Set the texts that are left, by the page's number; pages without any are left out."""
        if context.pages.named:  # all of them bear on the question
            context.texts = {item.number: item.chunk.page for item in context.pages.evidence}
            return
        context.texts = await self.reduced(context)
        context.lap("reduce")

    async def reduced(self, context: QueryContext) -> Mapping[int, str]:
        """Return what is left of each page."""
        evidence = context.pages.evidence
        texts = await self._budget.take(
            context.course,
            "reduce",
            lambda model: reduction.reduce(
                model, context.answerable, self._product, context.releases, evidence
            ),
        )
        return texts or by_rule.reduce(evidence, context.terms, context.pages.weight)


_GROUPS = 3
"""Releases and parts for each of which the model selects as many pages as for a single question."""


class Select:
    """Selects pages by the model where it may; else all that reduction left are taken.

    Three chosen by rule lose an eighth of the right pages, and save a second of reading; `always` has them
    chosen nevertheless.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources, keep: int | None = None, always: bool = False) -> None:
        self._always = always
        self._product = parts.product.name
        self._budget = parts.budget
        self._keep = keep or parts.keep

    async def __call__(self, context: QueryContext) -> None:
        """Set the chosen pages, best first."""
        if context.pages.named:  # their neighbours are other releases' notes
            context.chosen = context.pages.evidence
        else:
            context.chosen = await self.selected(context)
            context.lap("select")
        context.trace.read = [item.number for item in context.chosen]

    async def selected(self, context: QueryContext) -> Sequence[Evidence]:
        """Return pages; where releases are compared or parts asked, of each at least one."""
        texts = context.texts
        left = [item for item in context.pages.evidence if texts is None or texts.get(item.number)]
        keep = self._keep * max(1, min(len(context.groups), _GROUPS))
        chosen = await self._budget.take(
            context.course,
            "select",
            lambda model: selection.select(
                model, context.answerable, self._product, context.releases, left, texts, keep
            ),
        )
        if not chosen and self._always:
            return by_rule.select(left, context.terms, context.pages.weight, texts, keep)
        if not chosen:
            return left
        missed = [group for group in context.groups if not any(item.chunk.id in group for item in chosen)]
        first = [next((item for item in left if item.chunk.id in group), None) for group in missed]
        return [*chosen, *{item.number: item for item in first if item}.values()]
