"""From what was found to what an answer is written from: context reduction and selection (QAMR 3, 4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.domain import Citation, Evidence, Recall
from core.generation.answer import Request
from core.generation.composite import Part, quote_parts
from core.generation.context import by_rule as context
from core.generation.context import reduction, selection
from core.generation.quotes.listing import listed
from core.generation.quotes.quote import quote
from core.generation.temperature import adaptive
from core.languages import name_of
from core.pipeline.context import QueryContext
from core.pipeline.model_budget import ModelBudget
from core.retrieval.found import Found
from core.text.words import query_terms

_GROUPS = 3
"""Releases and parts for each of which the model selects as many chunks as for a single question."""


class ContextSelector:
    """Reduces and selects, by the model where it may, else by rule; quotes where no model writes."""

    def __init__(self, product: str, steps: ModelBudget | None = None, keep: int = context.KEPT) -> None:
        self._product = product
        self._steps = steps or ModelBudget()
        self._keep = keep

    async def request(self, asked: QueryContext, recall: Recall, found: Found) -> Request:
        """Reduce what was found, select from what is left, and say what an answer is to be written from."""
        chosen: Sequence[Evidence] = found.evidence
        if found.named:  # all of them bear on the question; their neighbours are other releases' notes
            texts: Mapping[int, str] = {item.number: item.chunk.page for item in chosen}
        else:
            texts = await self.reduce(asked, found)
            asked.lap("reduce")
            chosen = await self.select(asked, found, texts)
            asked.lap("select")
        asked.trace["read"] = [item.number for item in chosen]
        return Request(
            question=asked.answerable,
            product=self._product,
            releases=asked.releases,
            evidence=tuple(chosen),
            high=tuple(pair for pair, _ in recall.high),
            low=tuple(pair for pair, _ in recall.low),
            history=asked.question.history,
            parts=tuple(part for part in asked.parts if part not in asked.open),
            texts=texts,
            temperature=adaptive([pair.score for pair, _ in recall.high]),
            language=name_of(asked.question.language) if asked.question.language else "",
            original=asked.question.text if asked.is_translated else "",
        )

    async def reduce(self, asked: QueryContext, found: Found) -> Mapping[int, str]:
        """Keep of each chunk what bears on the question: number to text, chunks without any left out."""
        evidence = found.evidence
        texts = await self._steps.take(
            asked.course,
            "reduce",
            lambda model: reduction.reduce(model, asked.answerable, self._product, asked.releases, evidence),
        )
        return texts or context.reduce(evidence, asked.terms, found.weight)

    async def select(
        self, asked: QueryContext, found: Found, texts: Mapping[int, str] | None = None
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

    def quoted(
        self, asked: QueryContext, found: Found, rejected: Collection[str] = ()
    ) -> tuple[str, tuple[Citation, ...], tuple[str, ...]]:
        """Quote the pages, each part and each compared release on its own, none of the `rejected` hashes.

        Returns Markdown, its citations, and the parts on which there is nothing.
        """
        found = without(found, rejected)
        if found.named:
            kind = asked.news.kind if asked.news else ""
            return *listed(found.evidence, kind, self._product, asked.partition, not asked.news), ()
        if asked.found:
            parts = [
                of_release
                for part, of_it in asked.found.items()
                if part not in asked.open
                for of_release in _by_release(part, without(of_it, rejected), asked.releases)
            ]
            text, citations, missed = quote_parts(parts, self._product, asked.partition)
            return text, citations, (*asked.open, *missed)
        if len(asked.releases) > 1:
            parts = [
                Part("", asked.terms, [e for e in found.evidence if e.chunk.release == release], found.weight)
                for release in asked.releases
            ]
            return *quote_parts(parts, self._product, asked.partition)[:2], ()
        return *quote(asked.terms, found.evidence, found.weight, self._product, asked.partition), ()


def _by_release(part: str, found: Found, releases: Sequence[str]) -> list[Part]:
    """Cut what was found on a part by the releases it was found in."""
    groups = [tuple(e for e in found.evidence if e.chunk.release == release) for release in releases]
    told = [group for group in groups if group] or [found.evidence]
    terms = query_terms(part)
    return [Part(part, terms, group, found.weight) for group in told]


def without(found: Found, hashes: Collection[str]) -> Found:
    """Leave out the pages of these hashes."""
    return replace(found, evidence=tuple(e for e in found.evidence if e.chunk.hash not in hashes))
