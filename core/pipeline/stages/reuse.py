"""What memory says to a question: a remembered answer is recalled, and said again where it may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from core.domain import Answer, QAPair, Recall, Trace
from core.generation import phrases
from core.generation.quotes.quote import without_introduction
from core.languages import _
from core.memory.partitions.partition_index import platform_of
from core.memory.recall import same_question
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import answer_of


class RecallPairs:
    """Asks community memory for the route, and for the pairs that go with it.

    `by_paper` decides by algorithm 1 alone, whatever memory is set to, on what algorithm 2 keeps.
    """

    needs: Needs = "memory"

    def __init__(self, parts: Resources, by_paper: bool = False) -> None:
        self._by_paper = by_paper
        self._memory = parts.memory
        self._budget = parts.budget
        self._guard_by_model = parts.guard_by_model

    async def __call__(self, context: QueryContext) -> None:
        """Set the recall; where the model has to agree to a reuse, its no makes it a reference."""
        question = context.question
        scope = replace(question.scope, platform=platform_of(question.channel or question.asker))
        recall = await self._memory.recall(
            context.vectors[0],
            context.topic,
            context.partition,
            scope,
            context.language,
            bool(context.untranslated),
            self._by_paper,
        )
        if self._guard_by_model and not self._by_paper and recall.route == "reuse":
            recall = await self._agreed(context, recall)
        context.recall = recall
        context.note_recalled()

    async def _agreed(self, context: QueryContext, recall: Recall) -> Recall:
        """Let the model agree to a reuse; without its yes the pair is for reference."""
        remembered = recall.high[0][0].topic
        same = await self._budget.take(
            context.course, "guard", lambda model: same_question(model, context.topic, remembered)
        )
        if same:
            return recall
        refused = _("The model has to agree, but thinks the two questions differ.")
        silent = _("The model has to agree, but did not answer.")
        return replace(recall, route="reference", guard=refused if same is False else silent)


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
