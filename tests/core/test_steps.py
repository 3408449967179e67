"""Which steps the model takes, for how long, and what happens once it fails."""

from __future__ import annotations

import asyncio

import pytest

from core.errors import (
    ModelBusy,
    ModelError,
    ModelInterrupted,
    ModelMalformed,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
)
from core.models.breaker import Breaker
from core.pipeline.resources import MOST, RESTED, SLOW, ModelBudget, ModelCalls
from core.ports import LanguageModel, Prompt
from tests.fakes import FakeModel

PROMPT = (Prompt("user", "?"),)


async def ask(model: LanguageModel) -> dict[str, object]:
    return await model.structured(PROMPT, {}, max_tokens=10)


async def test_the_model_takes_the_steps_it_is_given() -> None:
    model, course = FakeModel(lambda prompts: {"a": 1}), ModelCalls()
    steps = ModelBudget(model, only=("understand", "select"))
    assert await steps.take(course, "understand", ask) == {"a": 1}
    assert await steps.take(course, "reduce", ask) is None
    assert await steps.take(course, "select", ask) == {"a": 1}
    assert course.taken == {"understand": "fake:1b", "select": "fake:1b"} and len(model.calls) == 2
    assert await ModelBudget(None).take(ModelCalls(), "reduce", ask) is None
    assert await ModelBudget(model, only=()).take(ModelCalls(), "reduce", ask) is None


@pytest.mark.parametrize("error", [ModelUnavailable, ModelBusy, ModelMissing])
async def test_a_model_out_of_reach_is_not_asked_again_for_this_question(error: type[ModelError]) -> None:
    model, course = FakeModel(lambda prompts: error("gone")), ModelCalls()
    steps = ModelBudget(model)
    assert await steps.take(course, "understand", ask) is None
    assert isinstance(course.failure, error)
    assert await steps.take(course, "reduce", ask) is None
    assert len(model.calls) == 1 and course.taken == {"understand": "rules: gone"}
    await steps.take(ModelCalls(), "understand", ask)
    assert len(model.calls) == 2


@pytest.mark.parametrize("error", [ModelMalformed, ModelInterrupted, ModelRefused])
async def test_one_bad_output_does_not_end_the_others(error: type[ModelError]) -> None:
    replies: list[object] = [error("bad"), {"a": 1}]
    model, course = FakeModel(lambda prompts: replies.pop(0)), ModelCalls()  # type: ignore[arg-type, return-value]
    steps = ModelBudget(model)
    assert await steps.take(course, "reduce", ask) is None and course.failure is None
    assert await steps.take(course, "select", ask) == {"a": 1}


async def test_an_open_breaker_starts_no_step() -> None:
    inner, now = FakeModel(lambda prompts: ModelUnavailable("down")), [0.0]
    steps = ModelBudget(Breaker(inner, failures=2, rest=30.0, clock=lambda: now[0]))
    for _ in range(2):
        await steps.take(ModelCalls(), "understand", ask)
    assert len(inner.calls) == 2
    course = ModelCalls()
    assert await steps.take(course, "understand", ask) is None
    assert await steps.take(course, "reduce", ask) is None
    assert len(inner.calls) == 2 and course.failure
    now[0] = 31.0
    await steps.take(ModelCalls(), "understand", ask)
    assert len(inner.calls) == 3


async def test_a_slow_model_is_left_alone_for_a_while() -> None:
    now = [0.0]
    asked = 0

    async def slow(model: LanguageModel) -> str:
        nonlocal asked
        asked += 1
        await asyncio.sleep(5)
        return "too late"

    steps = ModelBudget(FakeModel(lambda prompts: {}), seconds=0.02, clock=lambda: now[0])
    course = ModelCalls()
    assert await steps.take(course, "reduce", slow) is None
    assert "longer than" in course.taken["reduce"] and course.failure is None
    for _ in range(SLOW):  # one slow step is none yet
        assert await steps.take(ModelCalls(), "reduce", slow) is None
    assert asked == SLOW
    now[0] = RESTED + 1
    await steps.take(ModelCalls(), "reduce", slow)
    assert asked == SLOW + 1


async def test_waiting_for_another_asker_is_no_slowness() -> None:
    release = asyncio.Event()

    class Busy(FakeModel):
        async def structured(self, *args: object, **kwargs: object) -> dict[str, object]:
            await release.wait()
            return {"a": 1}

    model = Breaker(Busy(lambda prompts: {}))
    release.set()
    await ask(model)  # now it is warm, and its steps are short
    release.clear()
    steps = ModelBudget(model, seconds=0.3)
    first = asyncio.create_task(ask(model))
    course = ModelCalls()
    await asyncio.sleep(0)
    second = asyncio.create_task(steps.take(course, "understand", ask))
    await asyncio.sleep(0.5)  # longer than a step may take
    release.set()
    assert await first == {"a": 1} and await second == {"a": 1}
    assert course.taken == {"understand": "fake:1b"} and course.seconds < 0.3


async def test_a_model_that_is_loaded_first_is_not_slow() -> None:
    class Loading(FakeModel):
        async def structured(self, *args: object, **kwargs: object) -> dict[str, object]:
            await asyncio.sleep(0.1)
            return {"a": 1}

    model, course = Breaker(Loading(lambda prompts: {})), ModelCalls()
    steps = ModelBudget(model, seconds=0.02)
    assert await steps.take(course, "understand", ask) == {"a": 1}
    assert course.seconds == 0.0, "the next steps have all of their time"
    assert await steps.take(course, "reduce", ask) is None, "now it is warm"


async def test_translation_is_taken_where_other_steps_are_not() -> None:
    model, course = FakeModel(lambda prompts: {"a": 1}), ModelCalls()
    steps = ModelBudget(model, only=("translate",))
    assert await steps.take(course, "understand", ask) is None
    assert await steps.take(course, "translate", ask) == {"a": 1}
    assert course.taken == {"understand": "fake:1b"}


async def test_the_steps_of_a_question_share_their_time() -> None:
    now = [0.0]

    async def takes(model: LanguageModel) -> str:
        now[0] += 9.0
        return "done"

    steps, course = (
        ModelBudget(FakeModel(lambda prompts: {}), seconds=15.0, clock=lambda: now[0]),
        ModelCalls(),
    )
    assert await steps.take(course, "understand", takes) == "done"
    assert await steps.take(course, "reduce", takes) == "done"
    assert await steps.take(course, "select", takes) is None
    assert course.seconds == 18.0


async def test_a_cancelled_question_is_cancelled() -> None:
    async def forever(model: LanguageModel) -> None:
        await asyncio.sleep(60)

    task = asyncio.ensure_future(
        ModelBudget(FakeModel(lambda prompts: {})).take(ModelCalls(), "reduce", forever)
    )
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_more_than_three_steps_before_the_answer() -> None:
    model, course = FakeModel(lambda prompts: {"a": 1}), ModelCalls()
    steps = ModelBudget(model, only=("understand", "guard", "reduce", "select"))
    for step in ("understand", "guard", "reduce"):
        assert await steps.take(course, step, ask) == {"a": 1}
    assert await steps.take(course, "select", ask) is None
    assert len(model.calls) == MOST and "select" not in course.taken


async def test_a_recipe_says_how_many_steps_there_may_be() -> None:
    model, course = FakeModel(lambda prompts: {"a": 1}), ModelCalls()
    steps = ModelBudget(model).letting(("understand", "guard", "reduce", "select"), 15.0, most=4).by(model)
    for step in ("understand", "guard", "reduce", "select"):
        assert await steps.take(course, step, ask) == {"a": 1}


async def test_the_same_steps_by_another_model() -> None:
    first, second = FakeModel(lambda prompts: {"a": 1}), FakeModel(lambda prompts: {"a": 2})
    steps = ModelBudget(first, only=("reduce",)).by(second)
    assert await steps.take(ModelCalls(), "reduce", ask) == {"a": 2}
    assert await steps.take(ModelCalls(), "select", ask) is None and not first.calls
