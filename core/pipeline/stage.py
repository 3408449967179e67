"""The one shape of a step from a question to its answer, and the walk through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain import Answer
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


async def run(stages: Sequence[Stage], context: QueryContext) -> Answer:
    """Take a question through the stages; return the first answer, else what they drafted; trace the times.

    Raises ValueError for stages that did neither.
    """
    answer: Answer | None = None
    for stage in stages:
        if stage.needs not in context.withheld and (answer := await stage(context)) is not None:
            break
    answer = answer or drafted(context)
    context.trace.ms = round(sum(context.timings.values()), 1)
    context.trace.timings = dict(context.timings)
    return answer
