"""Which version of other software the product needs."""

from __future__ import annotations

import pytest

from core.domain import ContextChunk, Evidence
from core.retrieval.found import Found
from core.retrieval.release_notes.requirements import (
    dropped,
    drops,
    named_in,
    required,
    stating,
    used,
)

OWN = ("Kettle", "kettle")


@pytest.mark.parametrize(
    "text",
    [
        "min python",
        "minimum python version?",
        "which python do i need",
        "what's the oldest python that works with kettle 2.0?",
        "does it run on python 3.12",
        "is python 3.8 still supported",
        "python requirement",
        "py3.12 supported?",
        "Which python do I need for Kettle 2.0, minimum?",
    ],
)
def test_a_question_for_what_is_needed(text: str) -> None:
    assert required(text, OWN) == "python"


@pytest.mark.parametrize(
    "text",
    [
        "which python decorator starts it",
        "how do i install it on python 3.12",
        "why is python needed at all",
        "what kettle version do i need",
        "which database do I need",
        "it worked on python 3.8 until yesterday, then somebody updated the machine and it does not",
    ],
)
def test_other_questions_ask_for_no_version(text: str) -> None:
    assert required(text, OWN) == ""


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ("- Drop support for Python 3.6. #2129", True),
        ("- Dropped Python 3.7 support.", True),
        ("- Dropped support for Python 2 and 3.5.", True),
        ("- Drop Python 3.5 support, it works on 3.6+ now.", True),
        ("- Require Python >= 3.9.", True),
        ("- Minimum Python version is 3.9.", True),
        ("- When using Python 3.12 or later, the writer is no longer scheduled.", False),
        ("- Python 3.12 compatibility.", False),
    ],
)
def test_notes_that_tell_from_which_version_on_it_runs(line: str, tells: bool) -> None:
    assert bool(dropped("python", f"Some day.\n\n{line}")) is tells


def found(*pages: tuple[str, str, str]) -> Found:
    chunks = [
        ContextChunk(str(n), "", title, heading, "", page) for n, (title, heading, page) in enumerate(pages)
    ]
    return Found(tuple(Evidence(n, chunk, 1.0 / n) for n, chunk in enumerate(chunks, start=1)))


def test_a_section_that_is_headed_so_stands_alone() -> None:
    notes = ("Changes", "Version 1.9", "- Requires Python 3.7.")
    other = ("Speed", "Threads", "It runs on Python 3.12 in half the time.")
    here = ("Installation", "Python Version", "Kettle supports Python 3.9 and newer.")
    headed, stated = stating("python", [found(notes, other, here)])
    assert headed and [one.chunk.heading for one in headed.evidence] == ["Python Version"]
    assert stated and [one.chunk.heading for one in stated.evidence] == ["Threads", "Python Version"]
    assert stating("python", [found(notes)]) == (None, None)


@pytest.mark.parametrize(
    ("asked", "line", "spelled"),
    [
        ("does it still run on py 3.10", "Drop Python 3.10 support.", "Python"),
        ("does it run on Python 3.10", "Drop support for Python 3.9 and 3.10.", "Python"),
        ("can I use node 12?", "Dropped support for Node 12.", "Node"),
        ("can I use nodejs 12?", "Dropped support for Node.js 14.", None),
    ],
)
def test_a_version_is_dropped_however_its_software_is_called(
    asked: str, line: str, spelled: str | None
) -> None:
    name, number = used(asked, OWN)
    found = drops(name, number).search(line)
    assert (found is not None) is (spelled is not None)
    assert found is None or named_in(found[0], name) == spelled
