"""What a calculator answers without the documentation, and what it adds to an answer from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from core.domain import Answer
from core.generation import phrases
from core.generation.calculations.figures import converted
from core.generation.calculations.plain import plain
from core.pipeline.context import Needs, QueryContext
from core.pipeline.stage import answer_of
from core.text.words import one_line

_MAY = re.compile(r"\d|\bhow many\b", re.IGNORECASE)
"""What every calculation has; few questions do, and only for these the rules are read."""
_UNIT = re.compile(
    r"(?:second|minute|hour|day|week|month|year|byte|bit)s?\b|\b(?:ms|min|mins|[kmgt]i?b)\b", re.IGNORECASE
)
"""The same of a question for a figure in another unit."""


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


class WorkOut:
    """Ends with the result of a question that is nothing but a calculation: no page, no model, no memory.

    Nothing is worked out that nobody asked the bot. Days are those of `clock`, in UTC.
    """

    needs: Needs = ""

    def __init__(self, clock: Callable[[], datetime] = _now) -> None:
        self._clock = clock

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Answer, or leave it to the documentation."""
        if context.question.unasked:
            return None
        text = context.question.text.strip()
        if not _MAY.search(text):
            return None
        today = self._clock().replace(hour=0, minute=0, second=0, microsecond=0)
        found = plain(text, today)
        context.lap("calculation")
        if found is None:
            return None
        said = phrases.calculation(one_line(found.working), found.result, found.facts)
        return replace(answer_of(context, "calculation", said, confidence=1.0), level="sure")


class Convert:
    """Adds to an answer the figure that it cites in the unit that the question asks for."""

    needs: Needs = ""

    async def __call__(self, context: QueryContext) -> None:
        """Add a line to the draft, or nothing."""
        draft = context.draft
        if draft is None or not _UNIT.search(context.queries.base):
            return
        if not (found := converted(context.queries.base, draft.text)):
            return
        figure, result = found
        line = phrases.converted(figure.text, result, figure.source)
        context.draft = replace(draft, text=f"{draft.text}\n\n{line}")
        context.lap("convert")
