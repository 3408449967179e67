"""Sections put together from their pages."""

from __future__ import annotations

import pytest

from core.domain import Section
from core.generation.quotes.blocks import rejoined
from core.ingestion.chunking import cut_pages

CODE = "\n".join(f"line_{n} = {n}" for n in range(60))


@pytest.mark.parametrize("language", ["", "python"])
def test_code_that_was_cut_is_one_block_again(language: str) -> None:
    text = f"Before.\n\n```{language}\n{CODE}\n```\n\nAfter.\n\n```{language}\nend\n```"
    pages = [page.text for page in cut_pages(Section(("A",), "", text), 300)]
    assert len(pages) > 3 and "\n\n".join(pages) != text
    assert rejoined(pages, 300) == text


@pytest.mark.parametrize(
    "pages",
    [
        ["```\na\n```", "```\nb\n```"],  # short ones stood there as two
        [f"```python\n{CODE}\n```", f"```sh\n{CODE}\n```"],
        [f"```\n{CODE}\n```", f"More.\n\n```\n{CODE}\n```"],
        [f"````\n{CODE}\n````", f"```\n{CODE}\n```"],
        ["A.", "B."],
        ["A."],
        [],
    ],
)
def test_what_was_two_stays_two(pages: list[str]) -> None:
    assert rejoined(pages, 300) == "\n\n".join(pages)
