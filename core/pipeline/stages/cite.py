"""What every answer gets last: releases that say something else, further pages, what the pages lack."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain import Evidence
from core.generation.phrases import nothing_on
from core.generation.quotes.glimpse import glimpse_of
from core.generation.quotes.quote import without_introduction
from core.generation.quotes.titles import headings_of
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.release_notes import is_notes
from core.pipeline.resources import Resources
from core.retrieval.confidence import section_of
from core.text.said import Said, statements
from core.text.words import identifiers, quantities, whole_word

FURTHER = 3
"""Further pages at most."""
LIKELY = 0.02
"""Share of the ranking's odds from which a section is worth a link."""
OFFERED = 4
"""Other releases that an answer names at most."""


class Cite:
    """Finishes a draft: names the releases whose page differs, and says what the pages lack."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product
        self._searcher = parts.searcher

    async def __call__(self, context: QueryContext) -> None:
        """Add offers and open parts to the draft."""
        if context.draft is not None:
            context.draft = await self._finished(context, context.draft)

    async def _finished(self, context: QueryContext, draft: Draft) -> Draft:
        cited = draft.citations[0].hash if draft.citations else ""
        first = next((item for item in context.pages.evidence if item.chunk.hash == cited), None)
        told = without_introduction(draft.text) if draft.route == "quote" else draft.text
        offers = await self._offers(context, told, first) if first else ()
        context.trace.offers = offers
        context.lap("offers")
        name, translated = self._product.name, context.is_translated
        lacking = nothing_on(draft.missed, name, context.partition, translated=translated)
        text = "\n\n".join(part for part in (draft.text, lacking) if part)
        return replace(draft, text=text, offers=offers)

    async def _offers(self, context: QueryContext, answer: str, evidence: Evidence) -> tuple[str, ...]:
        """Name the releases, newest first, in which the page that an answer rests on says something else.

        Only where nobody named a release: who did knows which one they want.
        """
        if context.resolution.origin not in ("latest", "channel") or len(context.releases) > 1:
            return ()
        place = (evidence.chunk.path, evidence.chunk.heading)
        pages = (await self._searcher.pages_like([place]))[place]
        newest = [entry.name for entry in reversed(self._product.releases)]
        others = [name for name in newest if name in self._searcher.corpora and name not in context.releases]
        section = (await self._searcher.sections([evidence]))[evidence.chunk.id]
        page, name = "\n\n".join(one.page for one in section), self._product.name
        if is_notes(evidence):  # an older release cannot have notes on what came after it
            others = [other for other in others if pages.get(other)]
        said = {other: await self._searcher.sayings.of(other) for other in others}
        taken = Taken.of(answer, page, name) if others else None
        found = [other for other in others if taken and taken.lacks(pages.get(other, ()), said[other])]
        return tuple(found[:OFFERED])


@dataclass(frozen=True, slots=True)
class Taken:
    """What an answer takes from a page: what is `said` there, and the `names` and numbers it has from it.

    What is said are sentences and lines of code: what it quotes, else what has one of its names or numbers.
    """

    said: Sequence[str]
    names: Collection[str]
    product: str = ""

    @classmethod
    def of(cls, answer: str, page: str, product: str = "") -> Taken:
        """Compare an answer with the page that it rests on."""
        here, told = statements(page, product), set(statements(answer, product))
        names = _facts(answer) & _facts(page)
        quoted = [one for one in here if one in told]
        return cls(quoted or [one for one in here if _held(names, one)], names, product)

    def lacks(self, others: Sequence[str], said: Said) -> bool:
        """Return True if another release does not say the same.

        `others` are its pages under the same path and heading, `said` is all that it says anywhere: a page
        may have another name there. What is lacking is a difference where a name or number in it is not in
        its pages of the same place, or there are none.
        """
        lacking = said.lacking(self.said)
        if not others:
            return bool(lacking) or not self.said
        if lacking:  # `said` is worked out once and may be older
            there = {one for other in others for one in statements(other, self.product)}
            lacking = [one for one in lacking if one not in there]
        return bool(lacking) and not _held(self.names, "\n".join(lacking)) <= _facts("\n\n".join(others))


def _held(names: Collection[str], text: str) -> set[str]:
    return {name for name in names if whole_word(name).search(text)}


def _facts(text: str) -> set[str]:
    return {name.lower() for name in identifiers(text)} | {digits for digits, _ in quantities(text)}


def further(evidence: Sequence[Evidence], cited: Collection[str]) -> tuple[Evidence, ...]:
    """Return sections that may hold more than the quoted ones, best first: those of other pages before a
    second one of the same page.

    `cited` are the hashes of what is quoted. The ranking's scores are those of a softmax over pages, so they
    tell how likely each is. Pages that are made of what people said are left out.
    """
    best = max((item.score for item in evidence), default=0.0)
    likely = [math.exp(max(item.score - best, -50.0)) for item in evidence]
    told = {section_of(item) for item in evidence if item.chunk.hash in cited}
    found: dict[tuple[str, str, str], Evidence] = {}
    for item, odds in zip(evidence, likely, strict=True):
        worth = odds >= LIKELY * sum(likely) and not item.chunk.people and item.chunk.url
        if worth and section_of(item) not in told:
            found.setdefault(section_of(item), item)
    seen: set[tuple[str, str]] = set()
    again: list[Evidence] = []
    for item in found.values():
        page = item.chunk.release, item.chunk.path
        again += [item] * (page in seen)
        seen.add(page)
    firsts = [item for item in found.values() if item not in again]
    return tuple([*firsts, *again][:FURTHER])


def links(pages: Sequence[Evidence], weights: Mapping[str, float], said: str) -> list[dict[str, str]]:
    """Return sections as they are linked below an answer (`Trace.further`).

    Each comes with the sentence that tells what is in it, by the `weights` of the question's terms, unless
    the answer `said` that already.
    """
    linked = []
    for item in pages:
        chunk = item.chunk
        page = {"title": headings_of(chunk), "url": chunk.url, "path": chunk.path}
        sentence = glimpse_of(chunk, weights)
        linked.append({**page, "text": sentence} if sentence and sentence not in said else page)
    return linked
