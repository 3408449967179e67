"""What memory compares of a question stays so, whatever pages call a status, or when a log was written."""

from __future__ import annotations

import numpy as np
import pytest

from core.domain import Document, Product, Question, Release, Section, Turn
from core.pipeline.context import QueryContext
from core.pipeline.stages.quote import answered_before
from core.pipeline.stages.understand import Understand
from tests.core.evaluation.small import house

PRODUCT = Product("Kettle", ("kettle",), (Release("1.0"), Release("2.0", latest=True)))


async def understood(text: str, page: str, *history: Turn) -> QueryContext:
    """Return what a question was taken for where this page is all there is."""
    told = Document("pot.md", "Pot", "https://k/pot", (Section(("Pot",), "", page),))
    made, _ = await house(PRODUCT, {"1.0": [told], "2.0": [told]}, None)
    context = QueryContext(Question(text, history=history))
    await Understand(made.parts)(context)
    return context


@pytest.mark.parametrize(
    ("page", "sought"),
    [
        ("A pot that is full raises `PayloadTooLarge`.", "why does the pot answer 413 Payload Too Large"),
        ("The pot is blue.", "why does the pot answer Request Entity Too Large"),
        ("Of 413 pots one is full.", "why does the pot answer 413"),
    ],
)
async def test_a_status_is_searched_for_by_its_name_and_compared_as_it_was_asked(
    page: str, sought: str
) -> None:
    context = await understood("why does the pot answer 413", page)
    plain = await understood("why does the pot answer 413", "Of 413 pots one is full.")
    named = await understood(sought.replace("413 ", ""), page)
    assert context.topic == "why does the pot answer 413" and context.queries.base == sought
    assert np.array_equal(context.vectors, plain.vectors), "memory finds what it knew of it before"
    assert np.array_equal(context.sought, context.vectors) is (sought == context.topic)
    assert sought.endswith("413") or "413" in sought or np.array_equal(context.sought, named.vectors)


@pytest.mark.parametrize(
    "asked", ["why does the pot answer 413", "10:12:44 [7] ERROR pot (pid:7) answers\nwhy is that"]
)
async def test_a_question_with_a_status_or_a_log_is_the_same_one_for_another_release(asked: str) -> None:
    before = (Turn("user", asked), Turn("assistant", "It is full.", release="2.0"))
    context = await understood(f"{asked} in 1.0", "A pot that is full raises `PayloadTooLarge`.", *before)
    assert context.partition == "1.0" and answered_before(context, PRODUCT) == "2.0"
