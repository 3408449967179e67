"""Lists of things (what depends on X, which settings concern Y), from what a release's pages state."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from core.domain import Answer, Citation, Evidence
from core.generation.citations import citation
from core.generation.knowledge import Asked, KnowledgeGraph, Stated, asked
from core.languages import _
from core.memory.scoring import SUPPORTED
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import drafted
from core.ports import Corpus
from core.retrieval.found import Found
from core.retrieval.search import Searcher

MOST = 20
"""Things that a list shows."""
LEAST = 2
"""Things on a subject from which there is a list; for a single one a page is a better answer."""


class KnowledgeGraphs:
    """The graph of each release, read from its pages when it is first asked, and again when they change."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._known: dict[str, tuple[Corpus, KnowledgeGraph]] = {}
        self._reading = asyncio.Lock()

    async def of(self, release: str) -> KnowledgeGraph:
        """Return the graph of a release; an empty one where it is not live."""
        async with self._reading:
            corpus = self._searcher.corpora.get(release)
            if corpus is None:
                return KnowledgeGraph()
            known = self._known.get(release)
            if known is None or known[0] != corpus:
                pages = await self._searcher.pages_of(release)
                known = self._known[release] = (corpus, await asyncio.to_thread(KnowledgeGraph.of, pages))
            return known[1]


class AskGraph:
    """Ends with a list where one is asked for and the pages of the one release in question state it."""

    needs: Needs = ""

    def __init__(self, parts: Resources, graphs: KnowledgeGraphs) -> None:
        self._product = parts.product.name
        self._graphs = graphs

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Answer from the graph, or leave it."""
        if context.news or context.question.unasked or len(context.releases) != 1 or context.parts:
            return None
        wanted = asked(context.queries.base, context.releases[0])
        if wanted is None:
            return None
        found = (await self._graphs.of(context.releases[0])).lists(wanted)
        context.lap("knowledge graph")
        if len(found) < (LEAST if wanted.form == "concerns" else 1):
            return None
        shown = found[:MOST]
        pages = {entry.page.id: entry.page for entry in shown}
        context.found = Found(
            tuple(Evidence(number, page, 1.0) for number, page in enumerate(pages.values(), start=1)),
            named=True,
        )
        context.trace.read = [item.number for item in context.found.evidence]
        context.note_found()
        context.takes(context.found.evidence)
        text, cited = written(wanted, shown, context.found.evidence, f"{self._product} {context.releases[0]}")
        if len(found) > MOST:
            text += "\n- …"
        context.draft = Draft("quote", text, tuple(cited))
        context.prior = SUPPORTED
        return drafted(context)


def written(
    wanted: Asked, entries: Sequence[Stated], evidence: Sequence[Evidence], release: str
) -> tuple[str, list[Citation]]:
    """Write a list: what was asked for, then each thing with what is said of it and its page's number."""
    said = {
        "concerns": _("The {release} documentation says of these that they concern {subject}:"),
        "depends": _("The {release} documentation says of these that they depend on {subject}:"),
        "needs": _("The {release} documentation says that {subject} depends on these:"),
    }[wanted.form]
    subject = wanted.subject if wanted.form == "concerns" else f"`{wanted.subject.strip('`')}`"
    numbers = {item.chunk.id: item.number for item in evidence}
    cited = [citation(item, item.number) for item in evidence]
    lines = [said.format(release=release, subject=subject), ""]
    for entry in entries:
        triplet, number = entry.triplet, numbers[entry.page.id]
        name = triplet.tail if wanted.form == "needs" else triplet.head
        told = f": {triplet.tail}" if wanted.form == "concerns" and triplet.relation == "is" else ""
        lines.append(f"- `{name}`{told} [{number}]")
    return "\n".join(lines), cited
