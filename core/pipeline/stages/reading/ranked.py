"""Pairs as the evidence in place of pages: central ones (GraphContextGen), near ones (QA pre-generation)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.domain import Evidence, QAPair
from core.memory.pair_graph import PairGraphs
from core.memory.partitions.partition_index import platform_of
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stages.reading.remembered import page_of
from core.ports import PregeneratedPair
from core.retrieval.found import Found, merged

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
