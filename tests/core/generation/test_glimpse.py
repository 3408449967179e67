"""The sentence of a page that is shown beside its link."""

import pytest

from core.domain import ContextChunk
from core.generation.quotes.glimpse import GLIMPSE, glimpse, glimpse_of

PAGE = """# before

- Default: null
- Type: null or Date

If passed to `npm install`, the tree is built from versions of that day. See [dist-tags](tags.md) for more.

```
npm install --before 2024-01-01
```

Requested versions that are not there yet make it fail:
"""


def test_the_sentence_with_most_of_the_question_is_shown() -> None:
    assert glimpse(PAGE, {"tree": 1.0, "versions": 0.5}) == (
        "If passed to `npm install`, the tree is built from versions of that day."
    )


def test_of_a_question_in_other_words_the_first_sentence_is_shown_and_no_default_or_code() -> None:
    assert glimpse(PAGE, {"younger": 3.0}).startswith("If passed to `npm install`")
    assert glimpse("- Default: null\n\n```\nnpm install\n```\n", {"install": 1.0}) == ""


def test_a_long_sentence_is_cut_between_words_and_no_link_is_made() -> None:
    told = glimpse("Read [this](https://example.org) " + "and go on " * 60 + "to the end.", {})
    assert len(told) <= GLIMPSE + 4 and told.endswith(" …") and "](" not in told


def test_a_sentence_that_is_cut_within_code_ends_before_it() -> None:
    told = glimpse(
        "After that you can go on and call " + "again and " * 14 + "`npm config set save-prefix now` too.", {}
    )
    assert told.endswith("again and …") and "`" not in told


def test_the_mark_of_an_item_is_left_out_and_no_other() -> None:
    assert glimpse("**Reset:** The server may close the connection early.", {}).startswith("**Reset:** The")
    assert (
        glimpse("2. Take the **second** key out of the box.", {}) == "Take the **second** key out of the box."
    )


def test_what_introduces_something_that_is_not_shown_is_left_out() -> None:
    assert glimpse(
        "The following five things are needed for it:\n\nGo and read the whole manual first.", {}
    ) == ("Go and read the whole manual first.")


def test_a_footnote_s_mark_is_not_shown() -> None:
    page = "[^1] Versions that are not there [^2] make it fail."
    assert glimpse(page, {"versions": 1.0}) == "Versions that are not there make it fail."


@pytest.mark.parametrize(
    ("heading", "told"),
    [("SECRET_KEYS", "Old keys that may still be read."), ("Keys", "Set the limit of keys too.")],
)
def test_of_the_entry_of_a_thing_in_code_the_first_sentence_is_shown(heading: str, told: str) -> None:
    page = "Old keys that may still be read. Set the limit of keys too."
    chunk = ContextChunk("c1", "settings.rst", "Settings", heading, "https://d.example/", page)
    assert glimpse_of(chunk, {"limit": 1.0}) == told
