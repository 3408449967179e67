"""Names are looked for where their words stand, and nowhere that has one is passed over."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.retrieval.release_notes.gone import named
from core.retrieval.release_notes.notes import Places
from core.text.words import index_terms, parts_indexed

NAMES = (
    "boil_water",
    "KettleLid",
    "--keep-warm",
    "kettle.Lid.open_all",
    "HTTPKettle",
    "g",
    "JSONLid",
    "Lid2",
    "--log_dir",
    "k8s",
    "größe",
)
BEFORE = ("", "a ", "`", "kettle.", "Kettle::", "(", "cup/", "@")
AFTER = ("", ".", "()", "` pours", ", and", "/cup", ")")
REST = st.text("aB_ ()", max_size=12)


@given(st.sampled_from(NAMES), st.sampled_from(BEFORE), st.sampled_from(AFTER), REST)
@example("boil_water", "kettle.", ".wait", "")
def test_a_text_with_a_name_stands_under_all_its_parts(name: str, before: str, after: str, rest: str) -> None:
    text = f"{rest} {before}{name}{after} {rest}"
    if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
        assert set(parts_indexed(name)) <= set(index_terms(text))


def test_parts_of_a_name_are_those_that_tell_it() -> None:
    assert parts_indexed("kettle.boil_water()") == ["boil_water", "kettl", "boil", "wat"]
    assert parts_indexed("KettleLid") == ["kettl", "lid"] and parts_indexed("g") == []
    assert parts_indexed("--log_dir") == ["log", "dir"] and parts_indexed("größe") == []


NOTES = {
    "new": "- `Kettle.boil_water` was removed.",
    "old": "- `boil_water` came, with `KettleLid`.",
    "other": "- The reboil_waters are mended, and so are all --lids.",
}
TITLES = {
    "new": "Changes > 2.0",
    "old": "Changes > 1.0",
    "other": "Changes > 0.9",
    "api": "API > Kettle > boil_water()",
    "api2": "API > Kettle > boil_water()",
    "guide": "Guide > How to boil water",
}


@pytest.mark.parametrize(
    "name", ["boil_water", "Cup.boil_water()", "KettleLid", "reboil", "unheard", "--lid"]
)
def test_every_page_of_notes_that_has_a_name_is_known(name: str) -> None:
    places = Places.of(TITLES, NOTES.items(), NOTES.keys())
    told = {page for page, text in NOTES.items() if named(name).search(text)}
    last = name.removesuffix("()").rpartition(".")[2]
    assert told <= set(places.noting(name)) <= {page for page, text in NOTES.items() if last in text}


def test_headings_are_known_by_their_words_and_notes_are_none() -> None:
    places = Places.of(TITLES, NOTES.items(), NOTES.keys())
    assert list(places.headed_by("boil_water()")) == ["api", "api2"] and list(places.headed_by("How")) == [
        "guide"
    ]
    assert not places.headed_by("2.0") and not places.headed_by("") and not Places().noting("boil_water")
    assert places.first == {"API > Kettle > boil_water()": "api", "Guide > How to boil water": "guide"}
