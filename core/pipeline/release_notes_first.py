"""Puts first what release notes tell of names that a question is about: their end, and when they came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from core.domain import Evidence, Product
from core.pipeline.context import QueryContext
from core.query.releases.mentions import mentions
from core.query.releases.news import arrived, asks_of_end, gone, lacking, premised
from core.retrieval.found import KEPT, Found, merged
from core.retrieval.release_notes.gone import successors
from core.retrieval.release_notes.requirements import used
from core.retrieval.search import Searcher
from core.text.words import ruled, whole_word

TOLD = 4
"""Pages of release notes that come first where a name is gone."""


class NotesFirst:
    """Puts pages first that tell the end or the beginning of names."""

    def __init__(self, product: Product, searcher: Searcher) -> None:
        self._product = product
        self._searcher = searcher

    async def first(self, context: QueryContext, found: Found) -> Found:
        """Return what was found, with such pages before it."""
        found = await self._came(context, await self._gone(context, found))
        return found if context.gone or context.came else await self._dropped(context, found)

    async def _gone(self, context: QueryContext, found: Found) -> Found:
        """Put the notes first that tell what became of names which the question believes to be gone.

        So are those that tell that a name ended which the question believes to be there; then what takes its
        place is searched for, too. Where nothing is told of the names, notes older than the best are left
        out.
        """
        if context.news or len(context.releases) != 1:
            return found
        asked, notes, release = ruled(context.queries.base), self._searcher.release_notes, context.releases[0]
        if not found.named:
            names = gone(asked, self._product)
            context.gone = await notes.gone(names, release)
            if not context.gone and found.evidence and asks_of_end(asked) and not context.parts:
                context.gone = await notes.marked(names, found.evidence[0].chunk, context.terms, release)
        if not context.gone and not context.parts and not context.question.unasked:
            context.gone = await notes.ended(premised(asked, self._product), release)
            context.false_premise = bool(context.gone)
            context.trace.false_premise = context.false_premise or None
            found = await self._instead(context, found) if context.gone else found
        pages: dict[str, Evidence] = {}
        for told in context.gone:
            lines = (*(pages[told.page.id].matched if told.page.id in pages else ()), told.line)
            pages[told.page.id] = Evidence(0, told.page, 0.0, lines)
        if not pages:
            is_doubted = asks_of_end(asked) or bool(lacking(asked))
            return notes.newer(found, release) if is_doubted and not found.named else found
        return _before(found, pages)

    async def _came(self, context: QueryContext, found: Found) -> Found:
        """Put the notes first that tell in which version the names came that are asked for, or missed.

        Then come pages of a release that has them.
        """
        if context.news or context.gone or context.parts or len(context.releases) != 1:
            return found
        asked, notes, release = ruled(context.queries.base), self._searcher.release_notes, context.releases[0]
        context.came = await notes.came(arrived(asked, self._product), release, only_later=False)
        if not context.came:
            lacked = lacking(asked) or premised(asked, self._product)
            context.came = await notes.came(lacked, release, only_later=True)
        if not context.came:
            return found
        has_it = notes.release_with(context.came[0].version)
        form = replace(context.queries, base=" ".join(one.name for one in context.came), versionless="")
        form = replace(form, filtered=form.base, carried=())
        pages = await self._searcher.search(form, context.vectors, has_it) if has_it else found
        told = {one.page.id: Evidence(0, one.page, 0.0, (one.line,)) for one in context.came}
        return _before(merged([pages, found]), told)

    async def _dropped(self, context: QueryContext, found: Found) -> Found:
        """Put the notes first that tell that a version of other software is supported no more."""
        if context.news or context.parts or len(context.releases) != 1:
            return found
        asked = ruled(context.question.text)
        name, number = used(asked, (self._product.name, *self._product.aliases))
        told_of = " ".join((number, *(one.spelled for one in mentions(asked, self._product))))
        if any(other not in told_of for other in re.findall(r"(?<![\d.])\d{1,6}(?:\.\d{1,6})+", asked)):
            return found  # "python 3.6 with 3.8": which release is meant is not certain
        notes = self._searcher.release_notes
        told = await notes.dropping(name, number, context.releases[0]) if name else None
        context.dropped = told
        return _before(found, {told.page.id: Evidence(0, told.page, 0.0, (told.line,))}) if told else found

    async def _instead(self, context: QueryContext, found: Found) -> Found:
        """Search once more with the names in the place of those that ended, where notes tell any."""
        names = successors(context.gone)
        if not names:
            return found
        said = context.queries.base
        for one in context.gone:
            said = whole_word(one.name).sub(lambda _match: " ".join(names), said)
        form = replace(context.queries, base=said, filtered=said, versionless="", carried=())
        return merged([await self._searcher.search(form, context.vectors, context.releases[0]), found])


def _before(found: Found, pages: Mapping[str, Evidence]) -> Found:
    """Put pages before what was found, each once."""
    rest = [item for item in found.evidence if item.chunk.id not in pages]
    best = [*list(pages.values())[:TOLD], *rest][:KEPT]
    numbered = (replace(item, number=n, score=1.0 / n) for n, item in enumerate(best, start=1))
    return replace(found, evidence=tuple(numbered), named=True)
