"""What two releases say at the same place."""

from __future__ import annotations

import pytest

from core.generation.phrases import both
from core.generation.quotes.compared import called, difference, other, pair, same, sides, unchanged
from core.generation.quotes.quote import Quoted, quote
from tests.core.generation.samples import evidence

OLD = "Set the limit:\n\n```\nLIMIT = 8\nSTART = 1\n```\n\nIt is read at the start. The default is 8."
NEW = OLD.replace("8", "16")


ENTRY = "  - LIMIT: The limit of it all."
SETTINGS = "\n".join(["- General:", *(f"  - NAME_{n}: {'It says so. ' * 40}" for n in range(3)), ENTRY])


def quoted(page: str, release: str) -> Quoted:
    return quote(["limit"], [evidence(1, page, release=release)], lambda term: 1.0, "Flask", release)


def test_what_was_quoted_is_unchanged_where_it_stands_in_the_other_section() -> None:
    piece = quoted(OLD, "2.0").pieces[0]
    assert unchanged(piece, f"More stands before.\n\n{OLD.replace(' ', '  ')}\n\nAnd after.")
    assert not unchanged(piece, NEW)
    entry = quoted(SETTINGS, "2.0").pieces[0]
    assert unchanged(entry, SETTINGS) and not unchanged(entry, SETTINGS.replace("it all", "some"))
    text, citations = same(quoted(OLD, "3.1").pieces[:1], "3.1")
    assert text.startswith("The same in 3.1: [Quickstart › Sessions](https://") and text.endswith(") [1]")
    assert [c.release for c in citations] == ["3.1"]


def test_what_differs_is_marked_and_the_asked_side_is_quoted() -> None:
    text, citations = other(
        quoted(OLD, "2.0").pieces[0], quoted(NEW, "3.1").pieces[0], (OLD, NEW), "Flask", "3.1"
    )
    assert text.startswith(
        "Different in 3.1 than in 2.0:\n\n```diff\n- LIMIT = 8\n+ LIMIT = 16\n- The default is 8."
    )
    assert "START" not in text.split("```")[1] and "read at the start" not in text.split("```")[1]
    assert "**Quickstart › Sessions**\n> Set the limit:" in text and len(citations) == 1


def test_a_comparison_shows_both_sides_and_what_they_share_once() -> None:
    text, citations = sides(quoted(OLD, "2.0"), quoted(NEW, "3.1"), "Flask", "2.0+3.1")
    assert text.index("(Flask 2.0)") < text.index("(Flask 3.1)") < text.index("```diff")
    assert "LIMIT = 8" in text and "+ LIMIT = 16" in text and [c.release for c in citations] == ["2.0", "3.1"]
    text, citations = sides(quoted(OLD, "2.0"), quoted(OLD, "3.1"), "Flask", "2.0+3.1")
    assert text.startswith("The same in 2.0 and 3.1:") and text.count("LIMIT = 8") == 1
    assert text.endswith("The default is 8. [1][2]") and len(citations) == 2


def test_a_difference_that_is_all_of_it_is_not_marked() -> None:
    one = quoted(OLD, "2.0").pieces[0].blocks
    entirely = quoted("A session lives long.\n\nIt has a key.\n\nAnd a limit.", "3.1").pieces[0].blocks
    assert difference(one, entirely) == "" and difference(one, one) == ""


def test_three_releases_are_named_as_people_do() -> None:
    assert [both(release) for release in ("3.1", "2.0+3.1", "2.0+2.3+3.1")] == [
        "3.1",
        "2.0 and 3.1",
        "2.0, 2.3 and 3.1",
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("req.media", ["Request.media"]),
        ("resp.media", ["Response.media"]),
        ("self.media", ["Response.media", "Request.media"]),
        ("req.get_media()", ["A > Request.get_media()"]),
        ("acks_late", ["task_acks_late"]),
        ("media=None", ["Response.media", "Request.media"]),
        ("late", ["task_acks_late"]),
        ("acks", []),
    ],
)
def test_what_a_section_is_called_by_is_known_with_what_it_belongs_to(name: str, found: list[str]) -> None:
    headings = ("Response.media", "Request.media", "A > Request.get_media()", "task_acks_late")
    pages = [evidence(n, "It is there.", heading=heading) for n, heading in enumerate(headings)]
    assert [item.chunk.heading for item in called(pages, name)] == found


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("media", "params"), ["Request.media", "Request.params"]),
        (("req.media", "req.params"), ["Request.media", "Request.params"]),
        (("resp.media", "req.params"), ["Response.media", "Request.params"]),
        (("req.text", "req.params"), []),
        (("text", "params"), ["Response.text", "Request.params"]),
    ],
)
def test_two_sections_of_one_class_go_before_others(names: tuple[str, str], found: list[str]) -> None:
    headings = ("Response.media", "Request.media", "Response.text", "Request.params")
    pages = [evidence(n, "It is there.", heading=heading) for n, heading in enumerate(headings)]
    assert [item.chunk.heading for item in pair(names, (pages, pages)) or ()] == found
