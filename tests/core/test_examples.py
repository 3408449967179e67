"""Questions for people who do not know what to ask: those of the catalogue, until its pages can be asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.domain import Product, Release
from core.insights.examples import Examples, points_at

ASKED = ("How do I boil water?", "Is the lid still there?", "How long does it take?")
NOTHING: Any = SimpleNamespace()


@pytest.mark.parametrize(("read", "shown"), [((), ASKED[:2]), (("1.0",), ASKED[:2]), (("2.0",), ())])
def test_the_catalogues_questions_are_shown_until_the_latest_release_is_read(
    read: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    product = Product("Kettle", releases=(Release("1.0"), Release("2.0")), questions=ASKED)
    research: Any = SimpleNamespace(corpora=dict.fromkeys(read))
    assert Examples(product, NOTHING, NOTHING, NOTHING, NOTHING, research).untried == shown


@pytest.mark.parametrize(
    ("question", "points"),
    [
        ("How does <@U12> restart the worker?", True),
        ("What does https://intra.example/runbook say of retries?", True),
        ("Can ada@example.org stop a job?", True),
        ("Hey Ada, how do I stop a job?", True),
        ("Why did @bob stop the job?", True),
        ("How do I use `@kettle.job`?", False),
        ("How do I run Flask behind Apache?", False),
        ("What is #1 in the list of ports?", False),
    ],
)
def test_a_question_that_points_at_somebody_is_no_example(question: str, points: bool) -> None:
    assert points_at(question) == points
