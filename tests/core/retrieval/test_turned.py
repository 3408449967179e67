"""Questions that say that something is otherwise than it was, and the lines of notes that say so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import ContextChunk
from core.retrieval.release_notes.turned import (
    asks_what_turned,
    asks_whether_there,
    bearing,
    ending,
    names_in,
    turning,
    turns,
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("the lid used to have a number on it and now its only a lid. on purpose?", True),
        ("boil(lid=1) now errors that it is open", True),
        ("fill() with half= fails, older version just did it", True),
        ("this worked fine until the update", True),
        ("it now always raises", True),
        ("how do i get used to it and now close the lid?", False),
        ("which option is used to close the lid now?", False),
        ("the lid is used to close it, and now how do i open it?", False),
        ("can it be used to boil and now to cool?", False),
        ("how do i install an older version?", False),
        ("what happens if it fails?", False),
        ("i now want to raise the lid", False),
    ],
)
def test_what_somebody_says_for_whom_something_is_otherwise(question: str, said: bool) -> None:
    assert asks_what_turned(question) is said


def test_names_are_also_arguments_as_people_write_them() -> None:
    assert names_in("to_pot with lid= errors, a == b and x=1") == ("to_pot", "lid")


def test_lines_that_say_what_is_otherwise_of_a_name_and_hold_enough_of_the_question() -> None:
    page = ContextChunk(
        "1",
        "",
        "Kettle",
        "Changes > 2.0",
        "",
        "- Half pots with `lid` will now raise an error; previously they were filled.\n"
        "- Half pots with `spout` will now raise an error.\n"
        "- `lid` may be half.\n"
        "- `lid` is now blue.",
    )
    shares = {"half": 0.2, "pot": 0.2, "lid": 0.2, "error": 0.1}
    assert turning(["lid"], shares, page) == [
        "Half pots with `lid` will now raise an error; previously they were filled."
    ]
    assert len(bearing(shares, page)) == 3
    assert turns("remove the version from the lid") and not turns("Fix the lid")


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("is upload to steam clouds still in there with 2.0", True),
        ("are steam clouds still supported", True),
        ("whats happened to the steam clouds?", True),
        ("was the cloud upload dropped", True),
        ("so have the steam clouds been removed", True),
        ("KettleError: probably the key has been removed from the pot", False),
        ("is boil_twice() still there", False),
        ("what happens to open lids when the kettle restarts?", False),
        ("are old lids removed from the store?", False),
        ("is the lid dropped when the pot is full?", False),
        ("so have the steam clouds been removed", True),
        ("KettleError: probably the key has been removed from the pot", False),
        ("is boil_twice() still there", False),
        ("steam is still running", False),
        ("are the files still open after boil()", False),
        ("how do i drop the lid", False),
        ("can the lid be removed?", False),
    ],
)
def test_who_asks_in_plain_words_whether_something_is_still_there(question: str, asked: bool) -> None:
    assert asks_whether_there(question) is asked


def test_lines_that_say_that_what_is_asked_for_is_there_no_more() -> None:
    text = (
        "- Upload to Steam Clouds by itself.\n"
        "- The `cloudy` lid was removed since Steam Clouds have been shut down.\n"
        "- Upload to rain was removed.\n"
    )
    page = ContextChunk("1", "", "Kettle", "Changes > 2.0", "", text)
    shares = {"upload": 0.25, "steam": 0.3, "cloud": 0.25, "still": 0.2}
    assert ending(shares, page) == ["The `cloudy` lid was removed since Steam Clouds have been shut down."]
    assert ending({"still": 1.0}, page) == []
    behaves = replace(page, page="Steam Clouds are removed when they are old. The upload is dropped then.")
    assert ending(shares, behaves) == []
