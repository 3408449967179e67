"""Whether another release says something else where an answer comes from."""

from __future__ import annotations

import pytest

from core.generation.offers import differs

PAGE = "Set `MAX_SIZE` to change the limit. The default is 16 MB. It is read at the start."


@pytest.mark.parametrize(
    ("answer", "others", "different"),
    [
        ("The default is 16 MB [1].", (PAGE,), False),
        ("The default is 16 MB [1].", ("Something else.", PAGE), False),
        ("The default is 16 MB [1].", (), True),
        ("The default is 16 MB [1].", (PAGE.replace("16", "8"),), True),
        ("Set `MAX_SIZE` [1].", (PAGE.replace("MAX_SIZE", "LIMIT"),), True),
        ("Set `MAX_SIZE` [1].", (PAGE.replace("16", "8"),), False),  # what differs was not taken
        ("Set `MAX_SIZE` to 16 MB [1].", ("Set `MAX_SIZE`.", "At first 16 MB."), False),  # one long section
        ("It was written in 1984 [1].", (PAGE.replace("read", "taken"),), False),  # not from the page
    ],
)
def test_what_was_taken_from_the_page_decides(answer: str, others: tuple[str, ...], different: bool) -> None:
    assert differs(answer, PAGE, others) is different
