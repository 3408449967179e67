"""Signatures above quoted parameters, and other ways in which a quote is written."""

from __future__ import annotations

import pytest

from core.generation.quotes.blocks import Block
from core.generation.quotes.quote import quote
from core.generation.quotes.sections import Whole
from core.generation.quotes.stretches import Stretch
from core.generation.quotes.titles import headings, last_heading
from core.generation.quotes.writing import Piece, signed
from tests.core.generation.samples import evidence

SHORT = '`Pool(*, linger=15, sep=",)", size: tuple[int, int] = (1, 2), name=None)`'
LONG = f"`Pool(first, {', '.join(f'other_{n}={n}' for n in range(30))}, linger=15, *, sep=',')`"
ITEM = "- `linger` (float): seconds for which it is kept."


LIST = "\n".join(f"- `name_{n}`: what is said of it, in so many words that it is long." for n in range(20))


def piece(*blocks: Block) -> Piece:
    return Piece(evidence(1, LIST, title="Reference", heading="Pool"), (Stretch(blocks),))


@pytest.mark.parametrize(
    ("item", "signature", "shown"),
    [
        (ITEM, SHORT, SHORT),
        (ITEM, LONG, "`Pool(…, linger=15, …)`"),
        ("- `size`: of the pool.", SHORT, SHORT),
        ("- `linger`: kept so long, 15 by default.", SHORT, ""),
        ("- `name`: of the pool.", SHORT, ""),  # None tells nothing
        ("- `size`: of the pool.", LONG, ""),
        ("- It lingers.", SHORT, ""),
        ("- `linger`: kept.", "`Pool()` keeps `linger=15`.", ""),
    ],
)
def test_the_signature_tells_the_default_that_a_parameter_does_not(
    item: str, signature: str, shown: str
) -> None:
    whole = Whole(f"{signature}\n\nParameters:\n\n{item}\n{LIST}")
    assert signed(piece(Block("item", item)), whole).signature == shown
    quoted = piece(Block("paragraph", signature), Block("item", item))
    assert signed(quoted, whole).signature == "", "it is quoted anyway"


def test_the_signature_stands_above_what_is_quoted() -> None:
    part = evidence(1, f"{ITEM}\n{LIST}", title="Reference", heading="Pool")
    whole = Whole(f"{LONG}\n\nKeeps what was opened.\n\nParameters:\n\n{ITEM}\n{LIST}")
    text = quote(["linger"], [part], lambda term: 1.0, "Tool", "3.1", sections={part.chunk.id: whole}).text
    assert text.startswith(
        f"**Reference › Pool**\n> `Pool(…, linger=15, …)`\n\n> Keeps what was opened.\n\n> {ITEM}\n"
    )


def test_a_heading_may_hold_other_signs_than_the_one_between_headings() -> None:
    assert headings("Guide", "Guide > Standalone modules / conftest.py files") == (
        "Guide › Standalone modules / conftest.py files"
    )
    assert last_heading("Guide", "A > read | write") == "read | write"


def test_an_item_with_code_is_quoted_as_the_others() -> None:
    page = "- `append`: it is so:\n\n  ```\n  tests/\n    a.py\n  ```\n\n  Then they run.\n- `other`"
    text = quote(["append"], [evidence(1, page)], lambda term: 1.0, "Tool", "3.1").text
    assert "> - `append`: it is so:\n\n```\ntests/\n  a.py\n```\n\n> Then they run. [1]" in text


@pytest.mark.parametrize(
    ("heading", "is_alike", "shown"),
    [
        ("Plots > Facets > Simple", False, "Plots › Simple"),
        ("Plots > Facets > Simple", True, "Plots › Facets › Simple"),
        ("Plots > Facets > Simple Example", False, "Plots › Facets › Simple Example"),
        ("Plots > Simple", True, "Plots › Simple"),
        ("Plots > Version 2.0 > Fixes", True, "Plots › Version 2.0 › Fixes"),
    ],
)
def test_the_heading_around_one_that_others_have_too_is_shown(
    heading: str, is_alike: bool, shown: str
) -> None:
    assert headings("Plots", heading, is_alike=is_alike) == shown
