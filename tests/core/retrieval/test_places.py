"""Names are looked for where their words stand, and nowhere that has one is passed over."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.domain import ContextChunk
from core.retrieval.release_notes.index import NoteIndex
from core.retrieval.release_notes.names import named
from core.retrieval.release_notes.notes import HOLDING, Note, Places
from core.text.words import index_terms, parts_indexed, terms_inside

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


@given(st.text("aBcé1_.-/'(): ", max_size=30))
@example("JSONLid.open_all")
def test_a_plain_term_of_a_text_is_one_of_its_words_too(text: str) -> None:
    inside = {term for word in re.findall(r"\w+", text) for term in terms_inside(word)}
    assert {term for term in index_terms(text) if term.isalpha()} <= inside


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
    notes = [Note(page, (n,)) for n, page in enumerate(NOTES)]
    pages = {page: ContextChunk(page, "", "", "", "", text) for page, text in NOTES.items()}
    index = NoteIndex.of(notes, pages)
    told = {page for page, text in NOTES.items() if named(name).search(text)}
    last = name.removesuffix("()").rpartition(".")[2]
    found = {index.notes[place].context_id for place in index.noting(name)}
    assert told <= found <= {page for page, text in NOTES.items() if last in text}


def test_headings_are_known_by_their_words_and_notes_are_none() -> None:
    texts = [("passage", "guide", "Call `kettle.k8s`, kettle.boil or 1.2.x9.")]
    places = Places.of(TITLES, texts, NOTES.keys())
    assert list(places.headed_by("boil_water()")) == ["api", "api2"] and list(places.headed_by("How")) == [
        "guide"
    ]
    assert (
        not places.headed_by("2.0") and not places.headed_by("") and not NoteIndex().noting("boil_water").size
    )
    assert places.saying("k8s") == ["passage"] and not places.saying("boil") and not places.saying("x9")
    assert places.first == {"API > Kettle > boil_water()": "api", "Guide > How to boil water": "guide"}


def test_of_too_many_pages_with_a_word_in_their_heading_the_shortest_are_known() -> None:
    titles = {str(n): f"API > The lid of cup {n}" for n in range(2 * HOLDING)} | {"api": "API > lid()"}
    places = Places.of(titles, [], ())
    assert len(places.headed_by("lid()")) == HOLDING and places.headed_by("lid()")[-1] == "api"
