"""What people voted good or bad of questions like this one (ComRAG §4, algorithm 1)."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Recall
from core.languages import _
from core.memory.partitions.partition_key import platform_of
from core.memory.reuse_check import same_question
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources


class RecallPairs:
    """Asks community memory for the route, and for the pairs that go with it.

    `by_paper` decides by algorithm 1 alone, whatever memory is set to, on what algorithm 2 keeps.
    """

    needs: Needs = "memory"

    def __init__(self, parts: Resources, by_paper: bool = False) -> None:
        self._by_paper = by_paper
        self._memory = parts.memory
        self._budget = parts.budget
        self._agrees = parts.agrees

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
        if self._agrees and not self._by_paper and recall.route == "reuse":
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
        refused = _("The model, which has to agree, does not take the two questions for the same.")
        silent = _("The model, which has to agree, did not say.")
        return replace(recall, route="reference", guard=refused if same is False else silent)
