"""What is offered beside an answer: other releases that differ, and further sections."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import ContextChunk, Document, Evidence, Product, Question, Release, Section
from core.pipeline.context import QueryContext
from core.pipeline.stage import run
from core.pipeline.stages.cite import FURTHER, Taken, further, links
from core.recipes import recipe_of
from core.text.said import Said
from tests.core.evaluation.small import house

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
    assert Taken.of(answer, PAGE).lacks(others, Said.of(others)) is different


HERE = "Set `MAX_SIZE` to change the limit. The default is 16 MB.\n\n```\napp.size = 16\n```\n\nNew here."
QUOTED = (
    "**S**\n> The default is 16 MB.\n\n```\napp.size = 16\n```\n\n> Set `MAX_SIZE` to change the limit. [1]"
)


@pytest.mark.parametrize(
    ("elsewhere", "different"),
    [
        (HERE, False),  # the page has another name there
        (
            "It is. The default is 16 MB.\n\nSet `MAX_SIZE` to change the limit.\n\n```\napp.size = 16\n```",
            False,
        ),
        (HERE.replace("= 16", "= 8"), True),
        (HERE.replace("New here", "Old there"), False),  # not quoted
        ("Something else.", True),
    ],
)
def test_what_is_quoted_may_stand_anywhere_in_the_other_release(elsewhere: str, different: bool) -> None:
    assert Taken.of(QUOTED, HERE).lacks((), Said.of([elsewhere])) is different
    moved = ("Sizes are told elsewhere.",)
    assert Taken.of(QUOTED, HERE).lacks(moved, Said.of([elsewhere, *moved])) is different


def page(path: str, heading: str, score: float, people: tuple[str, ...] = ()) -> Evidence:
    """Return a page that says its own heading."""
    link = f"https://d.example/{path}#{heading}"
    chunk = ContextChunk(f"{path} {heading} {score}", path, path, heading, link, heading, release="2.0")
    return Evidence(1, replace(chunk, people=people), score)


def names(found: tuple[Evidence, ...]) -> list[str]:
    return [item.chunk.heading for item in found]


def test_sections_that_were_not_quoted_are_offered_those_of_other_pages_first() -> None:
    found = [page("a", "one", 9.0), page("b", "two", 8.9), page("b", "three", 8.8), page("c", "four", 8.7)]
    assert names(further(found, {found[0].chunk.hash})) == ["two", "four", "three"]
    assert names(further([*found, page("d", "five", 8.6)], {found[0].chunk.hash})) == ["two", "four", "five"]
    assert FURTHER == 3


def test_a_section_is_offered_once_and_not_where_another_piece_of_it_is_quoted() -> None:
    found = [page("a", "one", 9.0), page("a", "one", 8.9), page("b", "two", 8.8), page("b", "two", 8.7)]
    assert names(further(found, {found[0].chunk.hash})) == ["two"]


def test_what_is_unlikely_or_was_said_by_people_or_has_no_link_is_not_offered() -> None:
    unlinked = page("d", "four", 8.9)
    unlinked = replace(unlinked, chunk=replace(unlinked.chunk, url=""))
    found = [page("a", "one", 9.0), page("b", "two", 3.0), page("c", "three", 8.9, ("ada",)), unlinked]
    assert further(found, {found[0].chunk.hash}) == ()
    assert further([], ()) == ()


def test_a_link_comes_with_what_is_found_there_unless_the_answer_says_that() -> None:
    asked = {"limit": 2.0}
    one = page("a", "one", 9.0)
    one = replace(one, chunk=replace(one.chunk, page=f"It is read by everybody first.\n\n{PAGE}"))
    assert [link.get("text") for link in links([one], asked, "")] == ["Set `MAX_SIZE` to change the limit."]
    assert "text" not in links([one], asked, "> Set `MAX_SIZE` to change the limit. [1]")[0]


@pytest.mark.parametrize(("heading", "offers"), [("Version 2.0", ()), ("Queues", ("1.0",))])
async def test_notes_that_an_older_release_cannot_have_are_no_difference(
    heading: str, offers: tuple[str, ...]
) -> None:
    said = "- The slow queue of the pot pauses for 60 seconds."
    last = Document("changes.md", "Changes", "https://k/c", (Section(("Changes", heading), "", said),))
    page = Document("pot.md", "Pot", "https://k/pot", (Section(("Pot",), "", "The lid is blue."),))
    product = Product("Kettle", ("kettle",), (Release("1.0"), Release("2.0", latest=True)))
    made, _ = await house(product, {"1.0": [page], "2.0": [page, last]}, None)
    question = Question("how long does the slow queue of the pot pause?")
    context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
    answer = await run(recipe_of("threadlore")(made.parts), context)
    assert answer.citations[0].path == "changes.md" and answer.offers == offers
