"""Stages that read pairs instead of pages: remembered ones, and those made of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.domain import Answer, Citation, ContextChunk, Evidence, QAPair, Queries, numbered
from core.generation.citations import remarked, uncited
from core.languages import _
from core.memory.partitions.partition_index import platform_of
from core.memory.question_graph import PairGraphs
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import Stage, dont_know
from core.ports import Matrix, PregeneratedPair
from core.retrieval.found import Found, merged


class ReadRemembered:
    """Makes the recalled good pairs the evidence, and lets the listener hear them."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._has_model = parts.model is not None

    async def __call__(self, context: QueryContext) -> None:
        """Set what was found; where no model is to write, pages are found and quoted as ever."""
        if self._has_model:
            recalled = enumerate(context.recall.high, start=1)
            context.found = Found(
                tuple(Evidence(number, page_of(pair), near) for number, (pair, near) in recalled)
            )
            context.note_found()
            await context.listener.sources(context.partition, context.found.evidence)


class CiteRemembered:
    """Lets an answer that is written from pairs cite what the pairs cite, and says where that has changed.

    Where the model failed, the pairs are no evidence any more, so that pages are quoted.
    """

    needs: Needs = "model"

    async def __call__(self, context: QueryContext) -> None:
        """Set the draft's citations and their marks: those of a pair are all that it cites."""
        told = {page_of(pair).hash: pair for pair, _near in context.recall.high}
        if context.draft is None:
            context.found = pages_only(context)
            return
        draft = context.draft
        if told.keys().isdisjoint(entry.hash for entry in draft.citations):
            return
        cited: list[Citation] = []
        marks: dict[int, list[int]] = {}
        for entry in draft.citations:
            for one in _cited(entry, told[entry.hash]) if entry.hash in told else (entry,):
                (own,) = numbered([one], cited)
                cited += [own] if own not in cited else []
                marks.setdefault(entry.number, []).append(own.number)
        text = remarked(draft.text, marks)
        if any(entry.hash in told and told[entry.hash].stale for entry in draft.citations):
            told_so = _("This may be outdated: the pages it cites have changed.")
            context.is_stale, context.lasting = True, text
            text = f"{text}\n\n*{told_so}*"
        context.draft = replace(draft, text=text, citations=tuple(cited))


class OrPages:
    """Runs what writes from remembered answers; where that does not know, the pages that are near are named.

    `retrieve` finds them where nothing but pairs was read.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources, write: Stage, retrieve: Stage) -> None:
        self._product = parts.product
        self._write = write
        self._retrieve = retrieve

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Write, or abstain with pages: a remembered question is none."""
        answer = await self._write(context)
        if answer is None or answer.route != "abstain":
            return answer
        context.found = pages_only(context)
        await self._retrieve(context)
        return dont_know(context, self._product)


def pages_only(context: QueryContext) -> Found | None:
    """Return what was found without the remembered pairs; None where nothing is left."""
    pairs = {pair.id for pair, _near in context.recall.high}
    left = tuple(item for item in context.pages.evidence if item.chunk.id not in pairs)
    return replace(context.pages, evidence=left) if left else None


def page_of(pair: QAPair) -> ContextChunk:
    """Return a remembered pair as a page under its question, which says where what it cites has changed."""
    url = pair.citations[0].url if pair.citations else ""
    title = pair.question
    if pair.stale:
        title = _("{title}, its pages have changed").format(title=title)
    return ContextChunk(
        pair.id, pair.id, title, "", url, uncited(pair.answer), release=pair.release.split("+")[0]
    )


def _cited(entry: Citation, pair: QAPair) -> tuple[Citation, ...]:
    """Return what a pair cites; where it cites nothing the pair itself, which is no page that can change."""
    return pair.citations or (replace(entry, path="", hash=""),)


TOP = 2
"""Pairs of a question's context (section 5, parameter setting)."""


class RankPairs:
    """Takes the best pairs of each release as the evidence: remembered ones themselves, of others the page.

    Of a question with several parts they are those of each part. The best are the top two of the question
    graph; with `by_fields` the eight nearest by four fields (QA pre-generation), remembered ones not among
    them. Remembered ones are for a model alone. Where there is no pair at all, nothing is found.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, by_fields: bool = False) -> None:
        self._graphs = None if by_fields else PairGraphs(parts.memory, parts.searcher)
        self._searcher = parts.searcher
        self._memory_too = parts.model is not None

    async def __call__(self, context: QueryContext) -> None:
        """Set what was found and the texts of the pairs, unless something was found already."""
        if context.found is not None or context.draft is not None:
            return
        texts: dict[str, list[str]] = {}
        asked = list(enumerate(context.parts, start=1)) or [(0, "")]
        lists = {
            part: [await self._of_release(context, release, texts, place) for release in context.releases]
            for place, part in asked
        }
        if self._graphs is None and context.parts:
            context.by_part = {part: merged(found) for part, found in lists.items()}
        if not texts:
            return
        context.found = merged([one for found in lists.values() for one in found])
        context.texts = {item.number: "\n\n".join(texts[item.chunk.id]) for item in context.found.evidence}
        context.trace.read = [item.number for item in context.found.evidence]
        context.note_found()

    async def _of_release(
        self, context: QueryContext, release: str, texts: dict[str, list[str]], place: int
    ) -> Found:
        """Return the pages of a release's top pairs in their order, and note what each pair says by page.

        The pairs are those of the question, or of the part whose vector stands at `place`.
        """
        queries, vectors = context.queries, context.sought
        if place:
            part = context.parts[place - 1]
            queries = replace(queries, base=part, filtered=part, versionless="", carried=())
            vectors = vectors[place : place + 1]
        ranked = await self._ranked(context, release, queries, vectors)
        made = [pair for pair, _rank in ranked if isinstance(pair, PregeneratedPair)]
        good = [(pair, rank) for pair, rank in ranked if isinstance(pair, QAPair)]
        known = {pair.id for pair, _rank in context.recall.high}
        fresh = [(pair, rank) for pair, rank in good if pair.id not in known]
        context.recall = replace(context.recall, high=(*context.recall.high, *fresh))
        pages = list(dict.fromkeys(pair.context_id for pair in made))
        found = await self._searcher.search(queries, vectors, release, pages=pages) if pages else Found()
        by_id = {item.chunk.id: item for item in found.evidence}
        evidence: dict[str, Evidence] = {}
        for pair, rank in ranked:
            if isinstance(pair, QAPair):
                item, text = Evidence(0, page_of(pair), rank), f"{pair.question}\n{page_of(pair).page}"
            elif pair.context_id in by_id:
                item, text = by_id[pair.context_id], written(pair)
            else:
                continue
            evidence.setdefault(item.chunk.id, item)
            told = texts.setdefault(item.chunk.id, [])
            told += [text] if text not in told else []
        numbered = enumerate(evidence.values(), start=1)
        return replace(found, evidence=tuple(replace(item, number=number) for number, item in numbered))

    async def _ranked(
        self, context: QueryContext, release: str, queries: Queries, vectors: Matrix
    ) -> Sequence[tuple[QAPair | PregeneratedPair, float]]:
        """Return the best pairs of a release with their rank, best first."""
        if self._graphs is None:
            made = await self._searcher.nearest_pairs(queries, vectors, release)
            return [(pair, 1.0 / place) for place, pair in enumerate(made, start=1)]
        question = context.question
        hears = self._memory_too and not {"memory", "model"} & context.withheld
        scope = replace(question.scope, platform=platform_of(question.channel or question.asker))
        return await self._graphs.nearest(vectors[0], release, scope if hears else None, TOP)


def written(pair: PregeneratedPair) -> str:
    """Write a pair as the model reads it: question, detailed answer, and what its document is about."""
    parts = (pair.question, pair.full_answer or pair.answer, pair.summary)
    return "\n".join(part for part in parts if part)
