"""The answer in the pages' own words, where no model wrote one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain import Answer, Citation, Evidence
from core.generation.composite import Part, quote_parts
from core.generation.quotes.listing import fate, listed
from core.generation.quotes.quote import introduction, quote
from core.pipeline.answers import dont_know
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.resources import Resources
from core.retrieval.found import Found
from core.retrieval.release_notes.search import later, numbers
from core.text.words import query_terms

SURE = 0.5
"""Share of the question's weight that quotes must hold to stand there without a word of doubt; ours."""


class Quote:
    """Quotes pages where nothing is drafted; what was voted down for this very question is left out."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product
        self._memory = parts.memory
        self._searcher = parts.searcher
        self._has_model = parts.model is not None

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Draft the answer, or abstain where nothing can be quoted."""
        if context.draft is not None:
            return None
        delta = self._memory.thresholds.delta
        rejected = {c.hash for pair, near in context.recall.low if near >= delta for c in pair.citations}
        sections = await self._sections(context.pages.evidence)
        told = quoted(context, self._product.name, rejected, sections)
        context.lap("quote")
        if not told.citations:
            return dont_know(context, self._product)
        cited = {entry.hash for entry in told.citations}
        context.takes([item for item in context.pages.evidence if item.chunk.hash in cited])
        context.found = _without(context.pages, rejected)
        failure = context.failed if self._has_model and "model" not in context.withheld else None
        sure = told.held >= SURE
        above = introduction(self._product.name, context.partition, failure, sure)
        text = "\n\n".join(part for part in (above, told.text) if part)
        confidence = context.pages.confidence * (1.0 if sure else told.held)
        if context.trace.found:
            context.trace.found = replace(context.trace.found, confidence=confidence)
        context.draft = Draft("quote", text, told.citations, told.missed, confidence=confidence)
        return None

    async def _sections(self, evidence: Sequence[Evidence]) -> dict[str, str]:
        """Return the whole section of each page that is only a part of one, by the page's id."""
        places = list(dict.fromkeys((item.chunk.path, item.chunk.heading) for item in evidence))
        pages = await self._searcher.pages_like(places)
        whole: dict[str, str] = {}
        for item in evidence:
            chunk = item.chunk
            parts = pages.get((chunk.path, chunk.heading), {}).get(chunk.release, ())
            if len(parts) > 1 and chunk.page in parts:
                whole[chunk.id] = "\n\n".join(parts)
        return whole


@dataclass(frozen=True, slots=True)
class Told:
    """What was quoted, and the parts of the question on which there is nothing."""

    text: str
    citations: tuple[Citation, ...]
    missed: tuple[str, ...] = ()
    held: float = 1.0
    """Share of the question's weight that the quotes hold."""


def quoted(
    context: QueryContext,
    product: str,
    rejected: Collection[str] = (),
    sections: Mapping[str, str] | None = None,
) -> Told:
    """Quote the pages, each part and each compared release on its own, none of the `rejected` hashes."""
    found = _without(context.pages, rejected)
    if context.gone and not rejected:
        until = numbers(context.partition)
        names = dict.fromkeys(one.name for one in context.gone)
        ended = {one.name for one in context.gone if one.fate not in ("", "deprecated")}
        over = {
            one.name
            for one in context.gone
            if one.fate not in ("", "deprecated") and not (until and later(one.version, until))
        }
        return Told(*fate(context.gone, product, context.partition, [n for n in names if n in ended - over]))
    if found.named:
        kind = context.news.kind if context.news else ""
        return Told(*listed(found.evidence, kind, product, context.partition, not context.news))
    if context.by_part:
        parts = [
            of_release
            for part, of_it in context.by_part.items()
            if part not in context.open
            for of_release in _by_release(part, _without(of_it, rejected), context.releases)
        ]
        text, citations, missed = quote_parts(parts, product, context.partition, sections)
        return Told(text, citations, (*context.open, *missed))
    if len(context.releases) > 1:
        parts = [
            Part("", context.terms, [e for e in found.evidence if e.chunk.release == release], found.weight)
            for release in context.releases
        ]
        return Told(*quote_parts(parts, product, context.partition, sections)[:2])
    one = quote(context.terms, found.evidence, found.weight, product, context.partition, sections=sections)
    return Told(one.text, one.citations, held=one.held)


def _by_release(part: str, found: Found, releases: Sequence[str]) -> list[Part]:
    """Cut what was found on a part by the releases it was found in."""
    groups = [tuple(e for e in found.evidence if e.chunk.release == release) for release in releases]
    told = [group for group in groups if group] or [found.evidence]
    terms = query_terms(part)
    return [Part(part, terms, group, found.weight) for group in told]


def _without(found: Found, hashes: Collection[str]) -> Found:
    """Leave out the pages of these hashes."""
    return replace(found, evidence=tuple(e for e in found.evidence if e.chunk.hash not in hashes))
