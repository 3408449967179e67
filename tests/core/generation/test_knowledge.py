"""What pages state of named things, and the lists that are answered from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from core.domain import ContextChunk
from core.generation.knowledge import DEPENDS, Asked, KnowledgeGraph, asked, stated_by
from core.generation.triplets import Triplet


def page(path: str, heading: str, text: str) -> ContextChunk:
    return ContextChunk(f"{path}#{heading}", path, path, heading, f"https://k/{path}", text, release="2.0")


PAGES = (
    page("config.md", "Settings > LID_COLOR", "The color of the lid.\n\nDefault: `None`"),
    page("config.md", "Settings > LID_LOCK", "Whether the lid is locked. Requires `LID_COLOR` to be set."),
    page(
        "config.md", "Settings > BOIL_TIME", "Seconds of boiling.\n\nChanged in version 2.0: Uses `LID_LOCK`."
    ),
    page(
        "api.md", "API > Kettle.open()", "`Kettle.open(force)`\n\nOpens the lid. Uses the `LID_LOCK` setting."
    ),
    page("cli.md", "Commands", "- `read`: prints what `LID_COLOR` holds.\n- `--lid`: the lid to open.\n"),
    page("files.md", "Files", "- `read`: the file of the last reading. It depends on `BOIL_TIME`.\n"),
)


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    return KnowledgeGraph.of(PAGES)


def names(graph: KnowledgeGraph, question: str) -> list[tuple[str, str]]:
    wanted = asked(question, "2.0")
    assert wanted is not None
    at = 2 if wanted.form == "needs" else 0
    return [(entry.triplet[at], entry.page.path) for entry in graph.lists(wanted)]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which settings concern cookies?", Asked("concerns", "cookies", "setting")),
        (
            "what configuration values are there for the lid in Kettle 2.0?",
            Asked("concerns", "lid", "setting"),
        ),
        ("which flags have to do with lids?", Asked("concerns", "lids", "flag")),
        ("List all options about the lid", Asked("concerns", "lid", "option")),
        ("What depends on LID_LOCK?", Asked("depends", "LID_LOCK")),
        ("what does Kettle.open() depend on?", Asked("needs", "Kettle.open()")),
        ("what is the default of the timer?", None),
        ("how do I set cookies?", None),
        ("which settings should I change?", None),
    ],
)
def test_a_list_is_known_by_how_it_is_asked_for(question: str, wanted: Asked | None) -> None:
    assert asked(question, "2.0") == wanted


def test_what_concerns_a_subject_is_of_the_kind_and_says_so(graph: KnowledgeGraph) -> None:
    assert names(graph, "Which settings concern the lid?") == [
        ("LID_COLOR", "config.md"),
        ("LID_LOCK", "config.md"),
    ]
    assert names(graph, "which flags are about the lid?") == [("--lid", "cli.md")]
    assert names(graph, "which settings concern dragons?") == []


def test_what_depends_on_a_thing_is_found_on_every_page(graph: KnowledgeGraph) -> None:
    assert names(graph, "What depends on LID_LOCK?") == [("Kettle.open()", "api.md")], (
        "a note of a version is none"
    )
    assert names(graph, "What depends on `LID_COLOR`?") == [("LID_LOCK", "config.md")]
    assert names(graph, "what does Kettle.open depend on?") == [("LID_LOCK", "api.md")]


def test_a_word_is_told_apart_by_its_page_and_code_is_not(graph: KnowledgeGraph) -> None:
    assert {one.path for one in graph.things["read"]} == {"cli.md", "files.md"}
    assert {one.path for one in graph.things["lid_lock"]} == {""}


def test_other_pages_tell_of_two_things_that_a_text_names(graph: KnowledgeGraph) -> None:
    assert graph.linked("LID_LOCK and LID_COLOR") == [("LID_LOCK", DEPENDS, "LID_COLOR")]
    assert graph.linked("LID_LOCK alone") == []


def test_a_heading_that_is_a_name_is_what_its_page_is_about() -> None:
    told = stated_by(PAGES[0])
    assert Triplet("LID_COLOR", "is", "The color of the lid.") in told
    assert Triplet("LID_COLOR", "is part of", "Settings") in told
    assert Triplet("LID_COLOR", "has the default", "None") in told


class Counted(dict[Any, Any]):
    """Counts what is looked up, and is not gone through."""

    looked = 0

    def __getitem__(self, key: Any) -> Any:
        self.looked += 1
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("all things are looked at")

    items = values = keys = __iter__  # type: ignore[assignment]


@pytest.mark.parametrize("count", [10, 1_000])
def test_a_list_looks_at_no_more_things_where_there_are_more(count: int) -> None:
    others = [page("config.md", f"Settings > TIME_{n}", f"Seconds of pouring cup {n}.") for n in range(count)]
    graph = KnowledgeGraph.of([*PAGES, *others])
    graph.of_head, graph.told_of = Counted(graph.of_head), Counted(graph.told_of)
    assert names(graph, "which settings concern the boiling?") == [("BOIL_TIME", "config.md")]
    assert 1 <= graph.told_of.looked <= 2
