"""The pairs that stand centrally in the question graph, in place of pages (GraphContextGen, retriever)."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Evidence, QAPair
from core.memory.pair_graph import PairGraphs
from core.memory.partitions.partition_key import platform_of
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stages.reading.pairs import written
from core.pipeline.stages.reading.remembered import page_of
from core.ports import PregeneratedPair
from core.retrieval.found import Found, merged

TOP = 2
"""Pairs of a question's context (section 5, parameter setting)."""


class RankPairs:
    """Takes the top pairs of each release as the evidence: remembered ones themselves, of others the page.

    Remembered ones are for a model alone. Where there is no pair at all, nothing is found.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, top: int = TOP) -> None:
        self._graphs = PairGraphs(parts.memory, parts.searcher)
        self._searcher = parts.searcher
        self._memory_too = parts.model is not None
        self._top = top

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
        question = context.question
        hears = self._memory_too and not {"memory", "model"} & context.withheld
        scope = replace(question.scope, platform=platform_of(question.channel or question.asker))
        ranked = await self._graphs.nearest(context.vectors[0], release, scope if hears else None, self._top)
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
