"""Stages that only the papers' recipes have: what they read besides, how they reason, what they refuse."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from core import prompts
from core.domain import Answer
from core.generation import triplets
from core.generation.citations import Cleaned
from core.generation.context.fitting import Request
from core.generation.reasoning import reason
from core.generation.references import calculated, known
from core.generation.wikidata import Wikidata
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import changes_often
from core.pipeline.stages.graph_list import KnowledgeGraphs
from core.pipeline.stages.write import Write
from core.ports import LanguageModel, for_questions
from core.query.asking import LEAST_WORDS
from core.query.attributes import few_shot
from core.query.releases.news import asks_news
from core.retrieval.found import Found, merged
from core.text.words import looks_like_question, ruled, words

FRESH = 86_400.0
"""Seconds since its source was read for which a page may tell what changes soon; ours."""


class Calculate:
    """Has the model write arithmetic from the pages and their tables, works it out, and notes the results.

    Not where the reasoning is to be shown: of that only what pages bear is, so the notes would be lost.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._budget = parts.budget

    async def __call__(self, context: QueryContext) -> None:
        """Add the results to the notes."""
        if context.question.why:
            return
        texts = [item.chunk.page for item in context.pages.evidence]
        results = await self._budget.take(
            context.course, "calculate", lambda model: calculated(model, context.answerable, texts)
        )
        context.notes += prompts.calculated(results) if results else ""
        context.lap("calculate")


class AskModel:
    """Notes what the model would answer without any page: an unverified reference, never a citation.

    Not where the reasoning is to be shown, as for `Calculate`.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources) -> None:
        self._budget = parts.budget
        self._product = parts.product.name

    async def __call__(self, context: QueryContext) -> None:
        """Add it to the notes."""
        if context.question.why:
            return
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

    Where there is none, the journey ends with the fixed phrase, why, and the pages to look at; of several
    parts the others are answered. Release notes that are asked for are not judged, nor are a few keywords.
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
        dynamic = await self._dynamic(context)
        if not dynamic:
            return None
        fresh = await self._fresh(context)
        if any(part not in dynamic for part in context.by_part):
            context.by_part = {
                part: self._current(found, fresh) if part in dynamic else found
                for part, found in context.by_part.items()
            }
            context.found = merged(list(context.by_part.values()))
            return None
        found = self._current(context.pages, fresh)
        if found.evidence:
            context.found, context.by_part = found, {}
            return None
        return changes_often(context, self._parts.product)

    async def _dynamic(self, context: QueryContext) -> list[str]:
        """Return the parts of the question that are about what changes soon."""
        base = context.queries.base
        if context.news or context.pages.named or asks_news(ruled(base), self._parts.product):
            return []
        asked = [part for part in context.by_part or (base,) if _is_sentence(part)]
        encoder = for_questions(await self._parts.encoder_of(context.releases[0]))
        told: Sequence[bool] | None = None
        if asked and self._parts.attributes.knows(encoder.name):
            vectors = await encoder.encode([base, *asked])
            told = [self._parts.attributes.is_dynamic(vector) for vector in vectors[1:]]
            context.trace.domain = self._parts.attributes.domain(vectors[0]) or None
        elif asked:
            told = await self._parts.budget.take(
                context.course, "attributes", lambda model: few_shot.are_dynamic(model, asked)
            )
        context.lap("attributes")
        return [part for part, is_dynamic in zip(asked, told or (), strict=False) if is_dynamic]

    async def _fresh(self, context: QueryContext) -> set[str]:
        """Return the ids of the pages whose source was read just now."""
        since, read = self._clock() - self._limit, dict[str, float]()
        lists = (context.pages, *context.by_part.values())
        every = [item.chunk for found in lists for item in found.evidence]
        for release in context.releases:
            ids = list(dict.fromkeys(chunk.id for chunk in every if chunk.release == release))
            read |= await self._parts.searcher.read_at(release, ids)
        return {page for page, at in read.items() if at >= since}

    def _current(self, found: Found, fresh: set[str]) -> Found:
        """Return the fresh pages of what was found; without a model none where that is not enough."""
        left = tuple(item for item in found.evidence if item.chunk.id in fresh)
        usable = left and (self._parts.model is not None or found.is_enough)
        return replace(found, evidence=left) if usable else Found()


def _is_sentence(text: str) -> bool:
    """Return True if a text asks or says something: what changes soon cannot be told of a few keywords."""
    return looks_like_question(text) or len(words(text)) >= LEAST_WORDS


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
