"""Whether a question is answered at all: its releases, how sure one is, and what was found."""

from __future__ import annotations

from core.domain import Answer
from core.generation import phrases
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import Stage, abstention, dont_know, nearly
from core.retrieval.unasked import is_sure


class Judge:
    """Ends with the fixed phrase where pages are not enough; else tells the listener which are read.

    Pages may be weak where people answered nearly the same question: what a helper accepted may stand on
    none. `is_strict` off leaves it to the model to say that it does not know: only where nothing was found
    is it not asked. What is drafted already is not judged.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, is_strict: bool = True) -> None:
        self._product = parts.product
        self._can_write = parts.model is not None
        self._memory = parts.memory
        self._is_strict = is_strict

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain, or let the listener hear the pages."""
        if context.draft is not None:
            return None
        enough = context.pages.is_close if self._is_strict else bool(context.pages.evidence)
        if not enough and not self._is_said(context):
            return nearly(context) or dont_know(context, self._product)
        await context.listener.sources(context.partition, context.pages.evidence if enough else ())
        return None

    def _is_said(self, context: QueryContext) -> bool:
        """Return True if people answered nearly the same question, and a model can tell whether it fits."""
        limits = self._memory.thresholds
        near = [close for pair, close in context.recall.high if not pair.stale]
        said = context.recall.nearly or max(near, default=0.0) >= (limits.tau + limits.delta) / 2
        return self._can_write and "model" not in context.withheld and bool(said)


class Refuse:
    """Ends with the releases there are where none of the named ones answers; never from another one."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product
        self._searcher = parts.searcher

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain where a release is unknown or not ready."""
        if context.resolution.unknown:
            return abstention(context, phrases.unknown_release(self._product, context.resolution))
        ready = self._searcher.corpora
        late = [release for release in context.releases if release not in ready]
        return abstention(context, phrases.not_ready(self._product, late[0], list(ready))) if late else None


class OnlyIfSure:
    """Ends with an abstention where nobody asked and neither pages nor memory are sure.

    `retrieve` searches, and is not needed for a question to the bot.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, retrieve: Stage) -> None:
        self._product = parts.product
        self._memory = parts.memory
        self._retrieve = retrieve

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Search for what nobody asked, and abstain where that is not sure."""
        if not context.question.unasked:
            return None
        await self._retrieve(context)
        return None if self._is_sure(context) else dont_know(context, self._product)

    def _is_sure(self, context: QueryContext) -> bool:
        """Return True if pages are sure, or a good answer to the very question is known."""
        if "model" in context.withheld:
            return False
        recall = context.recall
        if recall.route == "reuse" and recall.high[0][1] >= self._memory.thresholds.delta:
            return True
        return is_sure(context.pages, context.open)
