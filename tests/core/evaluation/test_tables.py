"""Tables of reports: their marks, and their figures."""

from __future__ import annotations

import pytest

from evaluation.tables import cell, grid


def test_the_first_column_is_words_and_the_others_are_numbers() -> None:
    assert grid(("a", "b"), [("x", "1"), ("y", "2")]) == "| a | b |\n|---|---:|\n| x | 1 |\n| y | 2 |"
    assert grid(("a", "b"), [], margin=" ") == "| a | b |\n| --- | ---: |"
    assert grid(("a", "b"), [], ["---:", "---"]) == "| a | b |\n|---:|---|"


@pytest.mark.parametrize(
    ("value", "written"),
    [(None, "–"), (3, "3"), ("few", "few"), (0.12345, "0.123"), (12.3, "12"), (0.0, "0.000")],
)
def test_a_figure(value: object, written: str) -> None:
    assert cell(value) == written
