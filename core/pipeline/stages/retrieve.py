"""Pages of every release and every part of the question; the best of each come first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.domain import Evidence, Recall
from core.pipeline.context import Forms, Needs, QueryContext
from core.pipeline.resources import Resources
from core.query.releases.mentions import mentions
from core.query.releases.news import dated, gone
from core.retrieval.found import KEPT, Found, merged
from core.retrieval.search import Searcher
from core.text.words import ruled

TOLD = 4
"""Pages of release notes that come first where a name is gone."""


class Retrieve:
    """Searches documents once; `searcher` says how, the wired one where none is given.

    `forms` says by what: the topic, part by part where there are several, or each query form (QAMR step 2).
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, searcher: Searcher | None = None, forms: Forms = "topic") -> None:
        self._product = parts.product
        self._memory = parts.memory
        self._searcher = searcher or parts.searcher
        self._search = self._pages if forms == "topic" else self._by_forms

    async def __call__(self, context: QueryContext) -> None:
        """Set what was found, unless that is there already or an answer is drafted."""
        if context.found is None and context.draft is None:
            context.found = await self._release_notes(context) or await self._search(context)
            context.found = await self._gone(context, context.found)
            context.note_found()

    async def _release_notes(self, context: QueryContext) -> Found | None:
        """Return the release notes that are asked for, where all of them are there."""
        if context.news is None:
            return None
        notes, kind = self._searcher.release_notes, context.news.kind
        told = [await notes.of(span, kind) for span in context.news.spans]
        return merged(told) if all(found.named for found in told) else None

    async def _gone(self, context: QueryContext, found: Found) -> Found:
        """Put the notes first that tell what became of names which the question believes to be gone."""
        if context.news or found.named or len(context.releases) != 1:
            return found
        names = gone(ruled(context.queries.base), self._product)
        context.gone = await self._searcher.release_notes.gone(names, context.releases[0])
        pages: dict[str, Evidence] = {}
        for told in context.gone:
            lines = (*(pages[told.page.id].matched if told.page.id in pages else ()), told.line)
            pages[told.page.id] = Evidence(0, told.page, 0.0, lines)
        if not pages:
            return found
        rest = [item for item in found.evidence if item.chunk.id not in pages]
        best = [*list(pages.values())[:TOLD], *rest][:KEPT]
        numbered = (replace(item, number=n, score=1.0 / n) for n, item in enumerate(best, start=1))
        return replace(found, evidence=tuple(numbered), named=True)

    async def _pages(self, context: QueryContext) -> Found:
        """Search each release for the question, or for those of its parts that are about it."""
        lists: list[Found] = []
        by_part: dict[str, list[Found]] = {part: [] for part in context.parts}
        voted = opinions(context.recall, self._memory.thresholds.tau)
        for release in context.releases:
            if not context.parts:
                found = await self._searcher.search(context.queries, context.vectors, release, voted=voted)
                lists.append(found)
            for place, part in enumerate(context.parts, start=1):
                if release in self._releases_of(part, context.releases):
                    form = replace(context.queries, base=part, filtered=part, versionless="", carried=())
                    vector = context.vectors[place : place + 1]
                    lists.append(await self._searcher.search(form, vector, release))
                    by_part[part].append(lists[-1])
        context.by_part = {part: merged(found) for part, found in by_part.items()}
        if len(lists) > 1:
            context.groups = tuple(frozenset(item.chunk.id for item in found.evidence) for found in lists)
        found = merged(lists)
        when = dated(ruled(context.queries.base), self._product)
        if when and len(lists) == 1:
            found = await self._searcher.release_notes.dated(when, context.releases[0], found)
        return found

    async def _by_forms(self, context: QueryContext) -> Found:
        """Search each release for every query form; the union, each page once."""
        lists: list[Found] = []
        for release in context.releases:
            for row, text in enumerate(context.forms, start=1):
                form = replace(context.queries, base=text, filtered=text, versionless="", carried=())
                lists.append(await self._searcher.search(form, context.vectors[row : row + 1], release))
        return merged(lists)

    def _releases_of(self, part: str, releases: tuple[str, ...]) -> tuple[str, ...]:
        """Return the compared releases that a part names, all of them where it names none."""
        named = {found.release for found in mentions(part, self._product)}
        return tuple(release for release in releases if release in named) or releases


def opinions(recall: Recall, tau: float) -> Mapping[str, float]:
    """Return what people think of pages by the hash, -1..1, for what they were cited on near questions.

    A pair counts by its score and by how far it is from τ: one that is only just near says next to nothing.
    """
    found: dict[str, float] = {}
    for pair, near in (*recall.high, *recall.low):
        said = (2.0 * pair.score - 1.0) * max(0.0, near - tau) / (1.0 - tau)
        for key in {citation.hash for citation in pair.citations if citation.hash}:
            found[key] = min(1.0, max(-1.0, found.get(key, 0.0) + said))
    return found
