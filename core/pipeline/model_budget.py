"""The steps that the model takes before it answers: how long they may take, and when rules take them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

from core.errors import ModelBusy, ModelError, ModelMissing, ModelUnavailable
from core.ports import LanguageModel

log = logging.getLogger(__name__)
_T = TypeVar("_T")

STEPS = ("understand", "reduce", "select", "guard", "triplets", "attributes", "calculate", "knowledge")
"""What the model can do before it answers: QAMR's steps 1, 3 and 4, agree to a reuse, and what
GraphContextGen and Hybrid CRAG add."""
MOST = 3
"""Steps that the model takes for one question before it answers, so that there are four calls in a row."""
SECONDS = 15.0
"""Longest wait before an answer begins; docs/decisions/retrieval.md, S-04."""
RESTED = 600.0
"""Seconds for which rules take the steps after the model took too long."""
_GONE = (ModelUnavailable, ModelBusy, ModelMissing)
"""What says that the next call would fail as well."""


@dataclass(slots=True)
class ModelCalls:
    """How the steps of one question went: seconds they took, who took each, and why the model is out."""

    seconds: float = 0.0
    taken: dict[str, str] = field(default_factory=dict)
    failure: ModelError | None = None


class ModelBudget:
    """Lets the model take the steps in `only`, within `seconds` a question; none without a model."""

    def __init__(
        self,
        model: LanguageModel | None = None,
        *,
        only: Collection[str] = STEPS,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._only = frozenset(only)
        self._seconds = seconds
        self._clock = clock
        self._rested = 0.0

    def by(self, model: LanguageModel) -> ModelBudget:
        """Return the same steps taken by another model, such as one whose calls are counted."""
        return ModelBudget(model, only=self._only, seconds=self._seconds, clock=self._clock)

    def letting(self, only: Collection[str], seconds: float) -> ModelBudget:
        """Return a budget of the same model for these steps, within `seconds` a question."""
        return ModelBudget(self._model, only=only, seconds=seconds, clock=self._clock)

    async def take(
        self, course: ModelCalls, step: str, call: Callable[[LanguageModel], Awaitable[_T]]
    ) -> _T | None:
        """Let the model take a step; None where rules must: no model, no time left, or it fails.

        A model that takes too long is left alone for a while, as waiting for it again would be waste.
        """
        model, began = self._model, self._clock()
        left = self._seconds - course.seconds
        over = len(course.taken) >= MOST or course.failure or left <= 0 or began < self._rested
        if model is None or step not in self._only or over:
            return None
        result: _T | None = None
        course.taken[step] = model.name
        try:
            async with asyncio.timeout(left):
                result = await call(model)
        except TimeoutError:
            self._rested = self._clock() + RESTED
            course.taken[step] = f"rules, as {model.name} took longer than {left:.0f} s"
            log.warning("%s is too slow to %s; rules do it for %.0f s", model.name, step, RESTED)
        except ModelError as error:
            course.failure = error if isinstance(error, _GONE) else None
            course.taken[step] = f"rules: {error}"
            log.info("rules %s, as the model did not: %s", step, error)
        course.seconds += self._clock() - began
        return result
