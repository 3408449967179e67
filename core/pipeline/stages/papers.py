"""Stages that only the papers' recipes have: what they read besides, how they reason, what they refuse."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from core import prompts
from core.domain import Answer, Citation, ContextChunk, Evidence, QAPair
from core.generation import triplets
from core.generation.citations import Cleaned, uncited
from core.generation.context.fitting import Request
from core.generation.reasoning import reason
from core.generation.references import calculated, known
from core.generation.wikidata import Wikidata
from core.memory.partitions.partition_index import platform_of
from core.memory.question_graph import PairGraphs
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import changes_often
from core.pipeline.stages.graph_list import KnowledgeGraphs
from core.pipeline.stages.write import Write
from core.ports import LanguageModel, PregeneratedPair, for_questions
from core.query.attributes import few_shot
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
    """Lets an answer that is written from pairs cite what the pairs cite.

    Where the model failed, the pairs are no evidence any more, so that pages are quoted.
    """

    needs: Needs = "model"

    async def __call__(self, context: QueryContext) -> None:
        """Set the citations of the draft."""
        told = {page_of(pair).hash: pair for pair, _ in context.recall.high}
        if context.draft is None:
            left = tuple(item for item in context.pages.evidence if item.chunk.hash not in told)
            context.found = replace(context.pages, evidence=left) if left else None
            return
        cited = tuple(
            _cited(entry, told[entry.hash]) if entry.hash in told else entry
            for entry in context.draft.citations
        )
        context.draft = replace(context.draft, citations=cited)


def page_of(pair: QAPair) -> ContextChunk:
    """Return a remembered pair as a page under its question."""
    url = pair.citations[0].url if pair.citations else ""
    return ContextChunk(
        pair.id, pair.id, pair.question, "", url, uncited(pair.answer), release=pair.release.split("+")[0]
    )


def _cited(entry: Citation, pair: QAPair) -> Citation:
    """Return the first citation of a pair under the number of the one that names the pair."""
    if not pair.citations:
        return replace(entry, path="", hash="")
    return replace(pair.citations[0], number=entry.number)


FRESH = 86_400.0
"""Seconds since its source was read for which a page may tell what changes soon; ours."""
TOP = 2
"""Pairs of a question's context (section 5, parameter setting)."""


class RankPairs:
    """Takes the best pairs of each release as the evidence: remembered ones themselves, of others the page.

    The best are the top two of the question graph; with `by_fields` the eight nearest by four fields (QA
    pre-generation), remembered ones not among them. Remembered ones are for a model alone. Where there is no
    pair at all, nothing is found.
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
        lists = [await self._of_release(context, release, texts) for release in context.releases]
        if not texts:
            return
        context.found = merged(lists)
        context.texts = {item.number: "\n\n".join(texts[item.chunk.id]) for item in context.found.evidence}
        context.trace.read = [item.number for item in context.found.evidence]
        context.note_found()

    async def _of_release(self, context: QueryContext, release: str, texts: dict[str, list[str]]) -> Found:
        """Return the pages of a release's top pairs in their order, and note what each pair says by page."""
        ranked = await self._ranked(context, release)
        made = [pair for pair, _ in ranked if isinstance(pair, PregeneratedPair)]
        good = [(pair, rank) for pair, rank in ranked if isinstance(pair, QAPair)]
        context.recall = replace(context.recall, high=(*context.recall.high, *good))
        pages = list(dict.fromkeys(pair.context_id for pair in made))
        found = (
            await self._searcher.search(context.queries, context.vectors, release, pages=pages)
            if pages
            else Found()
        )
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
            texts.setdefault(item.chunk.id, []).append(text)
        numbered = enumerate(evidence.values(), start=1)
        return replace(found, evidence=tuple(replace(item, number=number) for number, item in numbered))

    async def _ranked(
        self, context: QueryContext, release: str
    ) -> Sequence[tuple[QAPair | PregeneratedPair, float]]:
        """Return the best pairs of a release with their rank, best first."""
        if self._graphs is None:
            made = await self._searcher.nearest_pairs(context.queries, context.vectors, release)
            return [(pair, 1.0 / place) for place, pair in enumerate(made, start=1)]
        question = context.question
        hears = self._memory_too and not {"memory", "model"} & context.withheld
        scope = replace(question.scope, platform=platform_of(question.channel or question.asker))
        return await self._graphs.nearest(context.vectors[0], release, scope if hears else None, TOP)


def written(pair: PregeneratedPair) -> str:
    """Write a pair as the model reads it: question, detailed answer, and what its document is about."""
    parts = (pair.question, pair.full_answer or pair.answer, pair.summary)
    return "\n".join(part for part in parts if part)


class Calculate:
    """Has the model write arithmetic from the pages and their tables, works it out, and notes the results."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._budget = parts.budget

    async def __call__(self, context: QueryContext) -> None:
        """Add the results to the notes."""
        texts = [item.chunk.page for item in context.pages.evidence]
        results = await self._budget.take(
            context.course, "calculate", lambda model: calculated(model, context.answerable, texts)
        )
        context.notes += prompts.calculated(results) if results else ""
        context.lap("calculate")


class AskModel:
    """Notes what the model would answer without any page: an unverified reference, never a citation."""

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._budget = parts.budget
        self._product = parts.product.name

    async def __call__(self, context: QueryContext) -> None:
        """Add it to the notes."""
        said = await self._budget.take(
            context.course, "knowledge", lambda model: known(model, context.answerable, self._product)
        )
        context.notes += prompts.known(said) if said else ""
        context.lap("knowledge")


class AddTriplets:
    """Adds what pages state by their structure, what others of the release do, and what models read.

    Models are the one that writes and, where it is set, REBEL. Both ends stand in the context. With
    `wikidata` that is asked about the things that question and context name, where the question is public.
    """

    needs: Needs = "model"

    def __init__(
        self, parts: Resources, graphs: KnowledgeGraphs | None = None, *, wikidata: Wikidata | None = None
    ) -> None:
        self._budget = parts.budget
        self._rebel = parts.rebel
        self._graphs = graphs
        self._wikidata = wikidata

    async def __call__(self, context: QueryContext) -> None:
        """Lengthen the texts, each by the sentences of its own page; models' go where both ends stand."""
        evidence = context.pages.evidence
        texts = dict(context.texts or {item.number: item.chunk.page for item in evidence})
        whole = "\n".join(texts.values())
        taken = triplets.within(await self._by_models(context, list(texts.values())), whole)
        for release in context.releases if self._graphs else ():
            linked = (await self._graphs.of(release)).linked(whole)  # type: ignore[union-attr]
            taken = triplets.within([*taken, *linked], whole)
        if self._wikidata and context.question.scope.kind == "public":
            stated = [
                one for item in evidence for one in triplets.by_rule(item.chunk.page, item.chunk.heading)
            ]
            names = triplets.named([*taken, *triplets.within(stated, whole)], context.queries.base)
            taken = triplets.within([*taken, *await self._wikidata.about(names)], whole)
        seen: set[triplets.Triplet] = set()
        for item in evidence:
            own = triplets.within(triplets.by_rule(item.chunk.page, item.chunk.heading), whole)
            here = [one for one in (*own, *triplets.within(taken, texts[item.number])) if one not in seen]
            seen |= set(here)
            texts[item.number] = "\n".join([texts[item.number], *(one.sentence for one in here)])
        rest = [one.sentence for one in taken if one not in seen]
        if rest and evidence:
            last = evidence[-1].number
            texts[last] = "\n".join([texts[last], *rest])
        context.texts = texts
        context.lap("triplets")

    async def _by_models(self, context: QueryContext, texts: list[str]) -> list[triplets.Triplet]:
        """Return what both models read, at once, as they run on different machines or cores."""

        async def by_rebel() -> list[triplets.Triplet]:
            return await triplets.by_seq2seq(self._rebel, texts) if self._rebel else []

        by_model = self._budget.take(
            context.course, "triplets", lambda model: triplets.by_model(model, texts)
        )
        told, written = await asyncio.gather(by_model, by_rebel())
        return [*(told or ()), *written]


class OnlyFresh:
    """Leaves a question about what changes soon to pages whose source was read within `limit` seconds.

    Where there is none, the journey ends with the fixed phrase, why, and the pages to look at.
    """

    needs: Needs = ""

    def __init__(
        self, parts: Resources, limit: float = FRESH, clock: Callable[[], float] = time.time
    ) -> None:
        self._parts = parts
        self._limit = limit
        self._clock = clock

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Leave out pages that are not fresh, abstain, or do nothing for a question that is static."""
        encoder = for_questions(await self._parts.encoder_of(context.releases[0]))
        base = context.queries.base
        if self._parts.attributes.knows(encoder.name):
            (vector,) = await encoder.encode([base])
            dynamic: bool | None = self._parts.attributes.is_dynamic(vector)
            context.trace.domain = self._parts.attributes.domain(vector) or None
        else:
            dynamic = await self._parts.budget.take(
                context.course, "attributes", lambda model: few_shot.is_dynamic(model, base)
            )
        context.lap("attributes")
        if not dynamic:
            return None
        since, read = self._clock() - self._limit, dict[str, float]()
        for release in context.releases:
            ids = [item.chunk.id for item in context.pages.evidence if item.chunk.release == release]
            read |= await self._parts.searcher.read_at(release, ids)
        fresh = tuple(item for item in context.pages.evidence if read.get(item.chunk.id, 0.0) >= since)
        if fresh and (self._parts.model is not None or context.pages.is_enough):
            context.found = replace(context.pages, evidence=fresh)
            context.by_part = {}
            return None
        return changes_often(context, self._parts.product)


class Reason(Write):
    """Has the model reason as structured output; else it does as `Write` does."""

    async def _by(self, model: LanguageModel, request: Request, context: QueryContext) -> Cleaned:
        """Have it written, and trace the reasoning and whether the question has a false premise."""
        if context.question.why:  # what is shown passes the checks of any answer
            return await super()._by(model, request, context)
        reasoned = await reason(model, request, context.notes)
        context.trace.reasoning = reasoned.reasoning or None
        context.trace.false_premise = reasoned.false_premise or context.false_premise
        return reasoned.written
