"""Two things whose difference is asked for ("g vs session"): the sections that say what each of them is."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from core.domain import Evidence
from core.generation.quotes.compared import pair, together
from core.generation.quotes.quote import quote
from core.generation.quotes.sections import Whole
from core.generation.quotes.titles import headings
from core.pipeline.context import QueryContext
from core.pipeline.release_notes import Told, is_notes
from core.pipeline.resources import Resources
from core.ports import Matrix, for_questions
from core.query.releases.mentions import mentions
from core.retrieval.confidence import section_of
from core.text.words import last_of, query_terms, sentences, words

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


class TwoThings:
    """Looks each of two things up by its name, and quotes the sections of both (decision G-76).

    `sections` reads the whole sections of pages, with the vectors of what is asked.
    """

    def __init__(
        self,
        parts: Resources,
        sections: Callable[[Sequence[Evidence], Matrix], Awaitable[dict[str, Whole]]],
    ) -> None:
        self._product = parts.product
        self._searcher = parts.searcher
        self._encoder_of = parts.encoder_of
        self._sections = sections

    async def __call__(
        self, context: QueryContext, two: Sequence[str], rejected: Collection[str], told: Told
    ) -> Told:
        """Return quotes of both; what is `told` where that compares them, or where one has no section.

        Pages whose hashes are `rejected` are not quoted. Releases are compared elsewhere.
        """
        elsewhere = context.news or context.by_part or context.pages.named or len(context.releases) != 1
        if elsewhere or any(mentions(one, self._product) for one in two):
            return told
        release, product = context.releases[0], self._product.name
        names = [last_of(one.partition("=")[0]) for one in two]
        if names[0].lower() == names[1].lower():
            return told
        vectors = await for_questions(await self._encoder_of(release)).encode(names)
        found = []
        for place, name in enumerate(names):
            form = replace(context.queries, base=name, filtered=name, versionless="", carried=())
            found.append(await self._searcher.search(form, vectors[place : place + 1], release))
        here = context.pages.evidence
        pages = [[e for e in (*some.evidence, *here) if e.chunk.hash not in rejected] for some in found]
        chosen = pair(two, pages)
        if _compares(context, told, names, chosen or ()):
            return told
        if chosen is None:
            return await self._of_both(context, names, rejected, told)
        quotes = []
        for place, item in enumerate(chosen):
            whole = await self._sections([item], vectors[place : place + 1])
            terms, asked = query_terms(names[place]), f"what is {names[place]}"
            weight = found[place].weight
            quotes.append(quote(terms, [item], weight, product, release, 1, whole, question=asked))
        if not all(quoted.pieces for quoted in quotes):
            return told
        ids = {item.chunk.id for item in chosen}
        others = (item for item in here if item.chunk.id not in ids)
        context.found = replace(context.pages, evidence=(*chosen, *others))
        text, citations = together([quoted.pieces[0] for quoted in quotes], product, release)
        return Told(text, citations, held=max(told.held, min(quoted.held for quoted in quotes)))

    async def _of_both(
        self, context: QueryContext, names: Sequence[str], rejected: Collection[str], told: Told
    ) -> Told:
        """Quote the best page whose prose speaks of both at once; what is `told` where none does."""
        asked, terms = " ".join(names), query_terms(" ".join(names))
        vectors = await for_questions(await self._encoder_of(context.releases[0])).encode([asked])
        form = replace(context.queries, base=asked, filtered=asked, versionless="", carried=())
        found = await self._searcher.search(form, vectors, context.releases[0])
        known = [e for e in found.evidence if e.chunk.hash not in rejected and not is_notes(e)]
        both = [item for item in known if _says(item, names)]
        both = sorted(both, key=lambda item: -_says(item, names))[:1]
        whole = await self._sections(both, vectors)
        product, release = self._product.name, context.releases[0]
        one = quote(terms, both, found.weight, product, release, 1, whole, question=asked)
        if not one.pieces:
            return told
        cited = {entry.hash for entry in one.citations}
        here = [item for item in context.pages.evidence if item.chunk.hash not in cited]
        context.found = replace(
            context.pages, evidence=(*(item for item in both if item.chunk.hash in cited), *here)
        )
        return Told(one.text, one.citations, held=one.held)


def _compares(context: QueryContext, told: Told, names: Sequence[str], own: Sequence[Evidence]) -> bool:
    """Return True if what is quoted first sets two things side by side: over it, or in one of its sentences.

    The `own` section of neither does, nor do release notes. Names count whole: `stream_with_context` says
    nothing of `stream`.
    """
    quoted = {citation.hash for citation in told.citations[:1]}
    first = next((item for item in context.pages.evidence if item.chunk.hash in quoted), None)
    if first is None or any(section_of(first) == section_of(item) for item in own):
        return False
    said = [headings(first.chunk.title, first.chunk.heading)]
    said += [] if is_notes(first) else sentences(_FENCED.sub("", told.text))
    asked = _whole(" ".join(names))
    return any(asked <= _whole(one) for one in said)


def _says(item: Evidence, names: Sequence[str]) -> int:
    """Count how often a page, without its code, names the one of these that it names least.

    0 unless a paragraph or list has all of them, each in words that tell it from others.
    """
    wanted = _whole(" ".join(names))
    prose = _FENCED.sub("", item.chunk.page)
    if not all(map(_whole, names)) or not any(wanted <= _whole(part) for part in prose.split("\n\n")):
        return 0
    said = [frozenset(query_terms(word)) for word in words(prose)]
    return min(said.count(one) for one in wanted)


def _whole(text: str) -> set[frozenset[str]]:
    """Return the words of a text but stop words, each as the terms that it is found by."""
    return {found for word in words(text) if (found := frozenset(query_terms(word)))}
