"""The answer in the pages' own words, where no model wrote one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from core.domain import Answer, Citation
from core.generation.composite import Part, quote_parts
from core.generation.quotes.listing import listed
from core.generation.quotes.quote import quote
from core.pipeline.answers import dont_know
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.resources import Resources
from core.retrieval.found import Found
from core.text.words import query_terms


class Quote:
    """Quotes pages where nothing is drafted; what was voted down for this very question is left out."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product
        self._memory = parts.memory

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Draft the answer, or abstain where nothing can be quoted."""
        if context.draft is not None:
            return None
        delta = self._memory.thresholds.delta
        rejected = {c.hash for pair, near in context.recall.low if near >= delta for c in pair.citations}
        text, citations, missed = quoted(context, self._product.name, rejected)
        context.lap("quote")
        if not citations:
            return dont_know(context, self._product)
        cited = {entry.hash for entry in citations}
        context.takes([item for item in context.pages.evidence if item.chunk.hash in cited])
        context.found = _without(context.pages, rejected)
        context.draft = Draft("quote", text, citations, missed)
        return None


def quoted(
    context: QueryContext, product: str, rejected: Collection[str] = ()
) -> tuple[str, tuple[Citation, ...], tuple[str, ...]]:
    """Quote the pages, each part and each compared release on its own, none of the `rejected` hashes.

    Returns Markdown, its citations, and the parts on which there is nothing.
    """
    found = _without(context.pages, rejected)
    if found.named:
        kind = context.news.kind if context.news else ""
        return *listed(found.evidence, kind, product, context.partition, not context.news), ()
    if context.by_part:
        parts = [
            of_release
            for part, of_it in context.by_part.items()
            if part not in context.open
            for of_release in _by_release(part, _without(of_it, rejected), context.releases)
        ]
        text, citations, missed = quote_parts(parts, product, context.partition)
        return text, citations, (*context.open, *missed)
    if len(context.releases) > 1:
        parts = [
            Part("", context.terms, [e for e in found.evidence if e.chunk.release == release], found.weight)
            for release in context.releases
        ]
        return *quote_parts(parts, product, context.partition)[:2], ()
    return *quote(context.terms, found.evidence, found.weight, product, context.partition), ()


def _by_release(part: str, found: Found, releases: Sequence[str]) -> list[Part]:
    """Cut what was found on a part by the releases it was found in."""
    groups = [tuple(e for e in found.evidence if e.chunk.release == release) for release in releases]
    told = [group for group in groups if group] or [found.evidence]
    terms = query_terms(part)
    return [Part(part, terms, group, found.weight) for group in told]


def _without(found: Found, hashes: Collection[str]) -> Found:
    """Leave out the pages of these hashes."""
    return replace(found, evidence=tuple(e for e in found.evidence if e.chunk.hash not in hashes))
