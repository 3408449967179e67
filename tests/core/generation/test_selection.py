"""Context selection by the model: a ranking of what reduction left."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from core.domain import Evidence
from core.errors import ModelMalformed, ModelRefused
from core.generation.context.selection import select
from core.ports import Prompt
from tests.core.generation.samples import evidence
from tests.fakes import FakeModel

ITEMS = [evidence(n, f"Page {n} about sessions.") for n in range(1, 9)]


def ranking(*numbers: object) -> FakeModel:
    return FakeModel(lambda prompts: {"reasoning": "", "ranking": list(numbers)})


async def selected(model: FakeModel, items: Sequence[Evidence] = ITEMS, **given: object) -> list[int]:
    chosen = await select(model, "How long?", "Flask", ["3.1"], items, **given)  # type: ignore[arg-type]
    return [item.number for item in chosen]


async def test_one_call_keeps_the_three_best() -> None:
    model = ranking(7, 2, 5, 1)
    assert await selected(model) == [7, 2, 5]
    (call,) = model.calls
    assert len(re.findall("<passage number", call.prompts[-1].content)) == 8


async def test_what_does_not_help_is_left_out_even_where_there_is_room() -> None:
    assert await selected(ranking(7)) == [7]
    assert await selected(ranking()) == []


async def test_numbers_that_do_not_exist_or_come_twice_are_passed_over() -> None:
    assert await selected(ranking(99, 3, 3, 0, 1)) == [3, 1]


@pytest.mark.parametrize("output", [{"ranking": [99]}, {"ranking": "1"}, {}])
async def test_a_ranking_of_nothing_that_exists_is_malformed(output: dict[str, object]) -> None:
    with pytest.raises(ModelMalformed):
        await selected(FakeModel(lambda prompts: output))


async def test_where_all_are_kept_nobody_is_asked() -> None:
    model = ranking(1)
    assert await selected(model, ITEMS[:3]) == [1, 2, 3]
    assert await selected(model, texts={2: "two", 9: "nine"}) == [2]
    assert await selected(model, keep=8) == list(range(1, 9))
    assert await selected(model, []) == []
    assert model.calls == []


async def test_reduced_texts_are_what_is_ranked() -> None:
    model = ranking(4, 1)
    assert await selected(model, texts={1: "short", 4: "shorter", 6: "shortest"}, keep=2) == [4, 1]
    content = model.calls[0].prompts[-1].content
    assert "shorter" in content and "about sessions" not in content


async def test_what_does_not_fit_is_ranked_in_several_calls_and_taken_in_turns() -> None:
    items = [evidence(n, f"Page {n}. " + "It goes on and on. " * 60) for n in range(1, 7)]

    def backwards(prompts: Sequence[Prompt]) -> dict[str, object]:
        numbers = [int(n) for n in re.findall(r'<passage number="(\d+)"', prompts[-1].content)]
        return {"reasoning": "", "ranking": numbers[::-1]}

    model = FakeModel(backwards)
    model.context_tokens = 2100
    runs = await selected(model, items, keep=4)
    sizes = [len(re.findall("<passage number", call.prompts[-1].content)) for call in model.calls]
    assert len(sizes) >= 2 and sum(sizes) == 6
    assert runs[0] == sizes[0] and runs[1] == sizes[0] + sizes[1]
    for call in model.calls:
        assert sum(model.count_tokens(p.content) for p in call.prompts) + 200 <= 2100


async def test_a_passage_larger_than_the_context_is_shortened() -> None:
    items = [evidence(n, f"Page {n}. " + "It goes on and on. " * 900) for n in range(1, 5)]
    model = ranking(1, 2, 3, 4)
    model.context_tokens = 2100
    assert await selected(model, items, keep=2) == [1, 2]


async def test_a_context_without_room_is_refused() -> None:
    model = ranking(1)
    model.context_tokens = 600
    with pytest.raises(ModelRefused):
        await selected(model)
