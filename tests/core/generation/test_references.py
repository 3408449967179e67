"""What is gathered beside pages: calculations, and what a model knows by itself."""

from __future__ import annotations

import pytest

from core.errors import ModelMalformed
from core.generation.references import SAMPLES, calculated, known, room_for
from core.prompts import DONT_KNOW
from tests.fakes import FakeModel


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
