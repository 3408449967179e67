"""A remembered answer said again, without a model call (ComRAG §4, algorithm 1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from core.domain import Answer, QAPair, Trace
from core.generation import phrases
from core.generation.quotes.quote import without_introduction
from core.pipeline.answers import answer_of
from core.pipeline.context import Needs, QueryContext
from core.pipeline.stage import Resources

Foreign = Literal["never", "fallback", "always"]


class Reuse:
    """Ends with the answer to the same question.

    `foreign` is for an answer that is in another language: never said, said where pages are not enough or
    the model wrote nothing (`fallback`, and nothing else is said here), or always.
    """

    needs: Needs = "memory"

    def __init__(self, parts: Resources, foreign: Foreign = "never") -> None:
        self._store = parts.store
        self._foreign = foreign

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Say again what is remembered, where it is to be."""
        recall = context.recall
        if self._foreign == "fallback":
            stuck = context.draft is None and (context.trace.model_error or not context.pages.is_enough)
            return await self._again(context, recall.foreign) if recall.foreign and stuck else None
        if recall.route == "reuse":
            return await self._again(context, recall.high[0])
        if recall.foreign and self._foreign == "always":
            return await self._again(context, recall.foreign)
        return None

    async def _again(self, context: QueryContext, near: tuple[QAPair, float]) -> Answer:
        """Return a remembered answer; one in another language says so first."""
        pair, similarity = near
        context.trace.origin = pair.origin
        context.taken = replace(context.taken, pairs=frozenset({pair.id}))
        text = without_introduction(pair.answer)
        if pair.language != context.language:
            text = f"{phrases.in_another_language(pair.language)}\n\n{text}"
        context.found = None
        answer = answer_of(context, "reuse", text, pair.citations, pair.score)
        answer = replace(answer, pair_id=pair.id, similarity=similarity)
        first = await self._store.answer(f"a{pair.id[1:]}")
        if first and context.resolution.origin in ("latest", "channel"):
            answer = replace(answer, offers=tuple(Trace.of(first["trace"]).offers or ()))
        return answer
