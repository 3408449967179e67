"""From what was found to what an answer is written from: context reduction and selection (QAMR 3, 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain import Evidence
from core.generation import context, reduction, selection
from core.research import Asked
from core.retrieval.search import Found
from core.steps import Steps

_GROUPS = 3
"""Releases and parts for each of which the model selects as many chunks as for a single question."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The chunks to answer from, best first, and what is left of each, by number."""

    evidence: tuple[Evidence, ...]
    texts: Mapping[int, str]


class Reader:
    """Reduces and selects: by the model where it may, else by rule."""

    def __init__(self, product: str, steps: Steps | None = None, keep: int = context.KEPT) -> None:
        self._product = product
        self._steps = steps or Steps()
        self._keep = keep

    async def read(self, asked: Asked, found: Found) -> Reading:
        """Reduce what was found, then select from what is left."""
        texts = await self.reduce(asked, found)
        asked.lap("reduce")
        chosen = await self.select(asked, found, texts)
        asked.lap("select")
        asked.trace["read"] = [item.number for item in chosen]
        return Reading(tuple(chosen), texts)

    async def reduce(self, asked: Asked, found: Found) -> Mapping[int, str]:
        """Keep of each chunk what bears on the question: number to text, chunks without any left out."""
        evidence = found.evidence
        texts = await self._steps.take(
            asked.course,
            "reduce",
            lambda model: reduction.reduce(model, asked.answerable, self._product, asked.releases, evidence),
        )
        return texts or context.reduce(evidence, asked.terms, lambda term: found.rarity.get(term, 0.0))

    async def select(
        self, asked: Asked, found: Found, texts: Mapping[int, str] | None = None
    ) -> Sequence[Evidence]:
        """Choose chunks, best first; where releases are compared or parts asked, of each at least one.

        Without the model all that reduction left are taken: three chosen by rule lose an eighth of the
        right pages, and save a second of reading.
        """
        left = [item for item in found.evidence if texts is None or texts.get(item.number)]
        keep = self._keep * max(1, min(len(asked.groups), _GROUPS))
        chosen = await self._steps.take(
            asked.course,
            "select",
            lambda model: selection.select(
                model, asked.answerable, self._product, asked.releases, left, texts, keep
            ),
        )
        if not chosen:
            return left
        missed = [group for group in asked.groups if not any(item.chunk.id in group for item in chosen)]
        first = [next((item for item in left if item.chunk.id in group), None) for group in missed]
        return [*chosen, *{item.number: item for item in first if item}.values()]
