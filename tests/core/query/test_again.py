"""The same question for another release."""

from __future__ import annotations

import pytest

from core.domain import Product, Release
from core.query.releases.resolve import for_release

KETTLE = Product("Kettle", ("kettle",), (Release("1.5"), Release("2.0", latest=True)))


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("Which port does the dashboard use?", "Which port does the dashboard use?"),
        ("Which port does the dashboard use in 2.0?", "Which port does the dashboard use in 1.5?"),
        ("In Kettle v2.0, which port is it?", "In Kettle 1.5, which port is it?"),
        ("Which port is it in 3.7?", "Which port is it in 1.5?"),
        ("Python 3.12 with kettle 2.0: which port?", "Python 3.12 with kettle 1.5: which port?"),
    ],
)
def test_the_release_it_names_is_replaced_and_nothing_else(text: str, again: str) -> None:
    assert for_release(text, KETTLE, "1.5") == again
