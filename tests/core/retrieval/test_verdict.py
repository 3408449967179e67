"""Of whom a clause of release notes tells an end: what is removed, and not what removes or is part of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import ContextChunk
from core.retrieval.release_notes.gone import fates
from core.retrieval.release_notes.headed import documents, headed, marks, told_by_marks
from core.retrieval.release_notes.verdict import names_only


def told(name: str, line: str, heading: str = "Changes > 2.0") -> str | None:
    page = ContextChunk("1", "", "Kettle", heading, "", f"- {line}")
    found = fates(name, [((2, 0), page)])
    return found[0].fate if found else None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Remove `old_one`.", "removed"),
        ("#123: Removed the long deprecated `old_one` argument.", "removed"),
        ("We finally dropped `pack.old_one()` and its friends.", "removed"),
        ("Remove `first`, `second` and `old_one`.", "removed"),
        ("Removal of `old_one`.", "removed"),
        ("The `old_one` option, which was deprecated in 1.0, is now removed.", "removed"),
        ("`old_one` removed.", "removed"),
        ("`old_one` and `other` have been removed in favour of `new_one`.", "removed"),
        ("`old_one` has been deprecated and replaced by `new_one`.", "replaced"),
        ("`old_one` remains deprecated.", "deprecated"),
        ("Deprecation of `old_one`.", "deprecated"),
        ("`new_one` now replaces `old_one`.", "replaced"),
        ("Rename `old_one` to `new_one`.", "renamed"),
        ("#12: Remove the Kettle integration (`old_one` hook in `pot.py`).", "removed"),
        ("The `old_one` sub-command for pot.py is marked as deprecated to follow others.", "deprecated"),
        ("Remove the fallback (`old_one` is used instead).", None),
        ("Remove the import-time check (`old_one` is not affected).", None),
        ("Removed a memory leak (`old_one`).", None),
        ("Renamed an internal helper (`old_one` is unchanged).", None),
        ("Remove the `first` option (`old_one` stays).", None),
        ("`old_one` will be removed in 3.0.", "deprecated"),
        (
            "`old_one` and `other` attributes on lids and pots, and the old `Lid` class, are removed.",
            "removed",
        ),
        ("The `old_one` property returning `first` is removed.", "removed"),
        ("Remove the `old_one/new_one` options from `kettle`.", "removed"),
        ("Remove the `new_one/old_one` options from `kettle`.", "removed"),
        # what it does itself
        ("`old_one` removes files that nobody reads.", None),
        ("`old_one` would not remove files marked as read-only.", None),
        ("`old_one` removed the lid.", None),
        ("`old_one` deletes the deprecated `first`.", None),
        # parts of it, and other things beside it
        ("The `first` text got removed when `old_one` fails.", None),
        ("When `old_one` fails the text is removed.", None),
        ("`old_one` arguments for hooks have been deprecated.", None),
        ("`old_one(None)` is deprecated.", None),
        ("`old_one(load, size)` is deprecated.", "deprecated"),
        ("Remove `old_one` output from reports.", None),
        ("Remove a warning when `old_one` is called.", None),
        ("Replace `first` with `old_one`.", None),
        ("Use `old_one`, as `first` was removed.", None),
        ("`first` is deprecated in favour of `old_one`.", None),
        ("The removal of `old_one` is postponed to 3.0.", None),
        ("#12: Fix `old_one`, which was removed too early.", None),
        ("Add `old_one`, which takes text. This allows to drop values in favour of others.", None),
    ],
)
def test_only_what_was_ended_has_an_end(line: str, said: str | None) -> None:
    assert told("old_one", line) == said


def test_of_a_use_its_own_end_is_told() -> None:
    assert told("old_one(None)", "`old_one(None)` is deprecated.") == "deprecated"
    assert told("old_one(None)", "`old_one` is deprecated.") is None


@pytest.mark.parametrize("over", ["Bug Fixes", "Fixed", "Bugfixes", "Improved Documentation"])
def test_what_was_mended_ends_nothing(over: str) -> None:
    assert told("old_one", "`old_one` was removed.", f"Changes > 2.0 > {over}") is None
    assert told("old_one", "`old_one` was removed.", f"{over} > 2.0 > Removals") == "removed"


@pytest.mark.parametrize(
    ("name", "heading", "is_it"),
    [
        ("--strict", "The --strict command-line option", True),
        ("yield_one", "The yield_one function/decorator", True),
        ("kettle.boil", "boil(size: int = 3, *, lid='on') -> Tea", True),
        ("kettle.boil", "kettle.boil()", True),
        ("kettle.boil(None)", "Using kettle.boil(None)", True),
        ("kettle.boil", "Using kettle.boil(None)", False),
        ("kettle.boil", "How kettle.boil fails", False),
        ("kettle.boil", "boil and pour", False),
        ("--strict", "--strict-lids", False),
        ("boil", "message parameter of boil", False),
    ],
)
def test_a_heading_is_a_name_where_only_its_kind_stands_around(name: str, heading: str, is_it: bool) -> None:
    assert names_only(name, heading) is is_it


def page(heading: str, text: str) -> ContextChunk:
    return ContextChunk(heading, "", "Kettle", heading, "", text)


def test_marks_tell_of_what_stands_above_them() -> None:
    gone = page(
        "Old things > --dry", "Deprecated since version 1.5.\n\nRemoved in version 2.0.\n\nUse `--wet`."
    )
    assert [(one.fate, one.version, one.line) for one in told_by_marks("--dry", [gone])] == [
        ("deprecated", (1, 5), "Deprecated since version 1.5."),
        ("removed", (2, 0), "Removed in version 2.0. Use `--wet`."),
    ]
    # of a part of it
    assert not marks(page("boil()", "Boils.\n\nDeprecated since version 1.5: The `lid` argument."))
    assert marks(page("boil()", "Boils.\n\nDeprecated since version 1.5: Use `heat` instead."))


def test_an_entry_without_a_mark_documents_what_is_there() -> None:
    assert documents([page("API > boil()", "Boils.")])
    assert not documents([page("API > boil()", "Removed in version 2.0.\n\nBoiled.")])
    assert not documents([page("Deprecated features > boil()", "It boiled.")])


def test_a_plain_word_behind_dots_is_looked_for_with_its_owner() -> None:
    titles = {"a": "API > Lid > close()", "b": "API > Kettle > close()"}
    assert headed(["kettle.Lid.close"], titles) == {"kettle.Lid.close": ["a"]}
    assert headed(["close_lid"], titles) == {}


@given(st.text(max_size=300), st.text(min_size=1, max_size=20))
def test_anything_is_read(text: str, name: str) -> None:
    assert told(name, text) in (None, "", "deprecated", "renamed", "replaced", "removed")
    assert names_only(name, text) in (True, False)
    assert isinstance(marks(page(name, text)), list)
