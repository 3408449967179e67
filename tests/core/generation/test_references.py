"""What is gathered beside pages: calculations, and what a model knows by itself."""

from __future__ import annotations

import pytest

from core.errors import ModelMalformed
from core.generation.references import SAMPLES, calculated, known, room_for
from core.prompts import DONT_KNOW
from tests.fakes import FakeModel, Reply


@pytest.mark.parametrize(
    ("expressions", "results"),
    [
        (["3 * 8"], ["3 * 8 = 24"]),
        (["(1200 - 300) / 12", "3 * 8", "3 * 8"], ["(1200 - 300) / 12 = 75", "3 * 8 = 24"]),
        (["24"], []),
        (["__import__('os').system('true')", "9**9**9", "2 +", "", None, "1/0"], []),
        ([f"{n} + 1" for n in range(9)], [f"{n} + 1 = {n + 1}" for n in range(SAMPLES)]),
        ("3 * 8", []),
    ],
)
async def test_only_arithmetic_is_worked_out(expressions: object, results: list[str]) -> None:
    model = FakeModel(lambda prompts: {"expressions": expressions})
    assert await calculated(model, "How long in all?", ["8 times, every 3 s"]) == results
    assert "8 times, every 3 s" in model.calls[0].prompts[1].content


@pytest.mark.parametrize(
    ("samples", "results", "calls"),
    [
        ([{"expressions": []}], [], 1),
        ([{"expressions": ["3 * 8"]}, "no JSON"], ["3 * 8 = 24"], 2),
        ([{"expressions": ["3 * 8"]}, ModelMalformed("No.")], ["3 * 8 = 24"], 2),
        ([{"expressions": ["3 * 8"]}, '```json\n["2 + 1"]\n```', {}], ["3 * 8 = 24", "2 + 1 = 3"], 3),
        ([{"expressions": ["3 * 8"]}, "{" * 9000], ["3 * 8 = 24"], 2),
        (
            [{"expressions": [f"{n} * 8"]} for n in range(9)],
            [f"{n} * 8 = {n * 8}" for n in range(SAMPLES)],
            SAMPLES,
        ),
        (
            [{"expressions": ["3 * 8"]}, 'So: {"expressions": ["2 + 1"]} ok?', {}],
            ["3 * 8 = 24", "2 + 1 = 3"],
            3,
        ),
    ],
)
async def test_it_is_sampled_until_a_sample_adds_nothing(
    samples: list[Reply], results: list[str], calls: int
) -> None:
    left = list(samples)
    model = FakeModel(lambda prompts: left.pop(0))
    assert await calculated(model, "How long in all?", []) == results
    assert [call.temperature for call in model.calls] == [0.0, *[0.7] * (calls - 1)]


@pytest.mark.parametrize("answer", [DONT_KNOW, "I don't know that.", "", None])
async def test_what_the_model_does_not_know_is_nothing(answer: object) -> None:
    model = FakeModel(lambda prompts: {"reasoning": "", "false_premise": False, "answer": answer})
    assert await known(model, "Why?", "Kettle") == ""


async def test_what_it_knows_is_one_line() -> None:
    model = FakeModel(lambda prompts: {"reasoning": "", "false_premise": False, "answer": "45\nminutes"})
    assert await known(model, "How long?", "Kettle") == "45 minutes"
    with pytest.raises(ModelMalformed):
        await known(FakeModel(lambda prompts: ModelMalformed("No JSON.")), "How long?", "Kettle")


def test_texts_take_half_of_the_context_at_most() -> None:
    model = FakeModel(lambda prompts: "")
    model.context_tokens = 200
    texts = ["x" * 150, "y" * 120, "z" * 90]
    assert room_for(model, texts) == texts[:2] and room_for(model, ["x" * 400]) == []
