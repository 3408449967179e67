"""Which version of other software the product needs."""

from __future__ import annotations

import pytest

from core.domain import ContextChunk, Evidence
from core.retrieval.found import Found
from core.retrieval.release_notes.requirements import (
    asks_since_when,
    dropped,
    drops,
    named_in,
    required,
    states,
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
        "which python and numpy does 2.0 want at least",
        "what's the oldest python that works with kettle 2.0?",
        "whats the oldest python we can be on if we move to kettle 2.0 this spring",
        "does it run on python 3.12",
        "is python 3.8 still supported",
        "python requirement",
        "py3.12 supported?",
        "Which python do I need for Kettle 2.0, minimum?",
        "old server only has python 2.7, is that ok for kettle 2.0?",
        "were stuck on python 3.8 for another year, can we still go to the newest one",
        "still on python 2.7 here, can i upgrade to 2.0?",
        "we only have python 3.8, can we run 2.0",
    ],
)
def test_a_question_for_what_is_needed(text: str) -> None:
    assert required(text, OWN) == "python"


@pytest.mark.parametrize(
    "text",
    [
        "which python decorator starts it",
        "which python and shell scripts start it",
        "oldest python i have is 3.6, what do i do",
        "our oldest python we must keep is 3.7",
        "how do i install it on python 3.12",
        "still on python 3.8, how do i upgrade to 2.0",
        "we have python 3.8 and can i upgrade the lid",
        "why is python needed at all",
        "what kettle version do i need",
        "which database do I need",
        "we have python 3.12, can we use async handlers",
        "i have python 3.12 and it crashes, is that a bug",
        "it worked on python 3.8 until yesterday, then somebody updated the machine and it does not",
    ],
)
def test_other_questions_ask_for_no_version(text: str) -> None:
    assert required(text, OWN) == ""


def test_a_sentence_states_which_version_is_needed() -> None:
    assert states("python", "Kettle works on Python 3.6 or later.")
    assert not states("python", "Install it with `apt install python-dev python-pip`.")


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


def test_what_stands_in_brackets_is_stated_too() -> None:
    listed = ("Installation", "Required", "- Python (3.7 or later)\n- numpy (1.17 or later)")
    _, stated = stating("python", [found(("Speed", "Threads", "Some Python code."), listed)])
    assert stated is not None and [one.chunk.heading for one in stated.evidence] == ["Required"]


def test_a_section_that_is_headed_so_stands_alone() -> None:
    notes = ("Changes", "Version 1.9", "- Requires Python 3.7.")
    other = ("Speed", "Threads", "It runs on Python 3.12 in half the time.")
    here = ("Installation", "Python Version", "Kettle supports Python 3.9 and newer.")
    headed, stated = stating("python", [found(notes, other, here)])
    assert headed and [one.chunk.heading for one in headed.evidence] == ["Python Version"]
    assert stated and [one.chunk.heading for one in stated.evidence] == ["Threads", "Python Version"]
    assert stating("python", [found(notes)]) == (None, None)
    marked = ("Installation", "Python Version", "Kettle works with Python as of version **3.9**.")
    assert stating("python", [found(marked)]) != (None, None)
    listed = ("Installation", "Dependencies", "- Python 3 >= 3.9.0")
    assert stating("python", [found(listed)]) != (None, None)
    none = ("Installation", "macOS", "brew install python@3.11  # any supported python3 version")
    assert stating("python", [found(none)]) == (None, None)


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


@pytest.mark.parametrize(
    "asked",
    [
        "Which version was the first that wont run on python 3.7 anymore?",
        "Hi, which versions dropped python 3.7",
        "which version removed python 3.7 support",
        "which versions no longer support python 3.7",
        "when was python 3.7 support removed",
        "When was support for Python 3.7 dropped?",
        "when did you drop Python 3.7",
        "until which version was python 3.7 supported",
        "what was the last version that supports python 3.7",
        "tell me which release stopped working on node 12",
    ],
)
def test_which_version_dropped_another_software_is_asked(asked: str) -> None:
    assert asks_since_when(asked) and used(asked, OWN)[1]


@pytest.mark.parametrize(
    "asked",
    [
        "Does the last version support Python 3.7?",
        "can I use the last version with python 3.7",
        "Which version fixed the crash that does not happen on Python 3.7?",
        "my last release works with python 3.7, how do I upgrade",
        "why does the last version for python 3.7 crash",
        "what version should i install if i can't upgrade from python 3.7",
        "which version does not drop messages on Python 3.12",
        "when did redis 7 stop responding",
        "when does redis 6 drop connections?",
        "when was the connection to postgres 14 dropped",
        "which release is not affected by the python 3.11 bug",
        "what happens when the connection is dropped",
    ],
)
def test_what_else_stops_or_is_the_last_asks_for_no_version(asked: str) -> None:
    assert not asks_since_when(asked)


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("Dropped support for Python 3.7.", True),
        ("Added Python 3.12 support, dropped Python 3.7 support.", True),
        ("Removed Python 3.7 workaround in worker", False),
        ("Drop Python 3.7 compatibility code", False),
        ("Remove Python 3.7 from the CI matrix.", False),
    ],
)
def test_what_is_dropped_for_a_version_is_not_the_version(line: str, is_told: bool) -> None:
    assert (drops("Python", "3.7").search(line) is not None) is is_told
