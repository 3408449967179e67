"""The one shape of a step from a question to its answer, and the walk through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain import Answer, Route
from core.pipeline.answers import drafted
from core.pipeline.context import Needs, QueryContext


class Stage(Protocol):
    """One step of a recipe. It knows the question's context, and no other stage."""

    @property
    def needs(self) -> Needs:
        """Name what the stage cannot do without; a journey that withholds it passes the stage over."""
        ...

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Add to the context, or end the journey with an answer."""
        ...


class OnRoute:
    """Runs stages only where memory chose this route."""

    needs: Needs = ""

    def __init__(self, route: Route, *stages: Stage) -> None:
        self._route = route
        self._stages = stages

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Run them, or do nothing."""
        return await walk(self._stages, context) if context.recall.route == self._route else None


async def walk(stages: Sequence[Stage], context: QueryContext) -> Answer | None:
    """Take a question through the stages; return the first answer, None where none of them ended it."""
    for stage in stages:
        if stage.needs not in context.withheld and (answer := await stage(context)) is not None:
            return answer
    return None


async def run(stages: Sequence[Stage], context: QueryContext) -> Answer:
    """Take a question through the stages; return the first answer, else what they drafted; trace the times.

    Raises ValueError for stages that did neither.
    """
    answer = await walk(stages, context) or drafted(context)
    context.trace.ms = round(sum(context.timings.values()), 1)
    context.trace.timings = dict(context.timings)
    return answer
