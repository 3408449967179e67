from __future__ import annotations

from typing import cast

import pytest

from core.domain import ContextChunk, Evidence, News, Span
from core.ports import Corpus, CorpusStore, SearchRow
from core.retrieval.features import asks_of_change
from core.retrieval.found import Found
from core.retrieval.live import Live, PageViews, ages_of, live_of
from core.retrieval.release_notes.index import NoteIndex, settled
from core.retrieval.release_notes.notes import Note, notes_of, version_of
from core.retrieval.release_notes.search import ReleaseNotes
from tests.fakes import FakeWords


@pytest.mark.parametrize(
    ("headings", "version"),
    [
        ("Changes Changes > Version 3.1.0", (3, 1, 0)),
        ("Changelog Changelog > [2.3.2] - 2023-05-01", (2, 3, 2)),
        ("Changelog > 3.1.0 (unreleased)", (3, 1, 0)),
        ("v2.0.1 v2.0.1", (2, 0, 1)),
        ("What's new in 3.1 What's new in 3.1 > Python 3.12", (3, 1)),
        ("Release notes Release notes > Kettle 3.1 > Requires Python 3.9", (3, 1)),
        ("Kettle 3.1 release notes Kettle 3.1 release notes > Bug fixes", (3, 1)),
        ("Release Notes > Release 16.1", (16, 1)),
        ("Upgrading Upgrading > Upgrading to 7.0", (7, 0)),
        ("Changes > Version 3.1.0 > Python 3.8 is dropped", (3, 1, 0)),
        ("Changes > Version 4.0rc1", (4, 0)),
        ("Change Log Change Log > Version 1.2.0b1 (2020-12-06)", (1, 2, 0)),
        ("Change Log Change Log > Version 1.4.0a1 and later", (1, 4, 0)),
        ("Notes Upgrade Notes > kettle 1.1.x to 1.2.x", (1, 2)),
        ("Upgrading Upgrading from 1.1 to 2.0", (2, 0)),
        ("Migration Migration > From 2.x -> 3.1", (3, 1)),
        ("History > 2.3.1 / 2014-07-03", (2, 3, 1)),
        ("24.3.1 (2024-10-27) 24.3.1 (2024-10-27) > Features", (24, 3, 1)),
        ("24.3.1 (2024-10-27) 24.2 (2024-07-28) > Bug Fixes", (24, 2)),
        ("24.3.1 (2024-10-27) 0.8.1", (0, 8, 1)),
        ("Version 3.1.0 Version 3.0.9", (3, 0, 9)),
        ("2024.2.1 2023.10.0", (2023, 10, 0)),
        ("Version 3.1.0 2024.10", (3, 1, 0)),
        ("Kettle v1.6.0 Kettle v1.6.0 > Steam", (1, 6, 0)),
        ("Kettle 1.6.0", (1, 6, 0)),
        ("Änderungen > Änderungen > Neu in 2.3", (2, 3)),
        ("Versionshinweise > Kessel 2.3", (2, 3)),
        ("Journal des modifications > Bouilloire 2.3", (2, 3)),
        ("Registro de cambios > Tetera 2.3", (2, 3)),
        ("更新日志 > 水壶 2.3", (2, 3)),
        ("Changelog > 2024-11-13", ()),
        ("Installation > Python 3.9", ()),
        ("Guide > 2.1 Overview", ()),
        ("Kettle 3.1 Kettle 3.1", ()),
        ("Dashboard Dashboard > Passwords", ()),
        ("", ()),
    ],
)
def test_the_version_whose_notes_stand_under_headings(headings: str, version: tuple[int, ...]) -> None:
    assert version_of(headings) == version


def test_what_leads_from_one_version_to_another_is_a_guide() -> None:
    pages = [("moves", "Change Log > kettle 1.1.x to 1.2.x"), ("notes", "Change Log > Version 1.2.0b1")]
    assert notes_of(pages) == (Note("moves", (1, 2), True), Note("notes", (1, 2, 0), False))


NOTES = notes_of(
    [
        ("guide", "Upgrading to newer releases > Upgrading to 2.3"),
        ("2.3.10", "Changes > Version 2.3.10"),
        ("2.3.2", "Changes > Version 2.3.2"),
        ("2.3.0 a", "Changes > Version 2.3.0"),
        ("2.3.0 b", "Changes > Version 2.3.0"),
        ("2.2.1", "Changes > Version 2.2.1"),
        ("2.2", "Changes > Version 2.2"),
        ("2.0", "Changes > Version 2.0"),
        ("other", "Dashboard > Passwords"),
    ]
)


INDEX = NoteIndex.of(NOTES, {})


def chosen(index: NoteIndex, span: Span) -> list[str]:
    return index.best(span, "", 20)


def test_a_release_comes_before_its_patches_and_guides_come_last() -> None:
    assert chosen(INDEX, Span("2.3", (2, 3))) == ["2.3.0 a", "2.3.0 b", "2.3.10", "2.3.2", "guide"]
    assert chosen(INDEX, Span("2.3", (2, 3, 2))) == ["2.3.2"]


def test_a_range_leaves_out_the_version_it_begins_after() -> None:
    found = chosen(INDEX, Span("2.3", (2, 3), (2, 0)))
    assert found == ["2.3.0 a", "2.3.0 b", "2.2", "2.3.10", "2.3.2", "2.2.1", "guide"]
    assert chosen(INDEX, Span("2.3", (2, 3, 2), (2, 2))) == ["2.3.0 a", "2.3.0 b", "2.3.2", "guide"]


def test_an_unknown_version_is_told_by_the_oldest_newer_release_that_knows_it() -> None:
    known = {"2.0": NoteIndex.of(NOTES[-1:], {}), "2.3": INDEX, "3.1": INDEX}
    assert settled(News((Span("", (2, 2)),)), known) == News((Span("2.3", (2, 2)),))
    assert settled(News((Span("", (2, 1)),)), known) is None
    assert settled(News((Span("", (9, 9), (2, 0)),)), known) is None


def test_a_known_release_is_told_by_no_other() -> None:
    known = {"2.0": NoteIndex(), "2.3": INDEX}
    assert settled(News((Span("2.0", (2, 0)),)), known) is None
    assert settled(News((Span("2.3", (2, 3)),)), known) == News((Span("2.3", (2, 3)),))
    assert settled(News((Span("2.3", (2, 3)), Span("2.0", (2, 0)))), known) is None


def test_pages_that_tell_of_the_kind_come_first() -> None:
    texts = ("Add a", "Remove b", "c")
    pages = {str(n): ContextChunk(str(n), "", "", "", "", text) for n, text in enumerate(texts)}
    index = NoteIndex.of([Note(key, (1, 0)) for key in pages], pages)
    assert index.best(Span("1.0", (1, 0)), "removed", 3) == ["1", "0", "2"]
    assert index.best(Span("1.0", (1, 0)), "", 3) == ["0", "1", "2"]
    assert index.best(Span("1.0", (1, 0)), "removed", 1) == ["1"]


def test_pages_of_notes_are_told_from_guides() -> None:
    assert NOTES[0] == Note("guide", (2, 3), guide=True) and not NOTES[1].guide


def noted(release: str) -> Live:
    """Return a live corpus with the notes."""
    return Live(Corpus(release, "mini@256", 1, 0.0, 1, 1), {}, {}, {}, {}, {}, INDEX)


@pytest.mark.parametrize("release", ["2.3", "2.3.10", "noble"])
def test_notes_age_by_minor_versions_and_not_by_patches(release: str) -> None:
    aged = ages_of(release, NOTES)
    assert aged["guide"] == aged["2.3.10"] == aged["2.3.0 a"] == 0.0
    assert aged["2.2.1"] == aged["2.2"] == pytest.approx(1 / 2)
    assert aged["2.0"] == pytest.approx(2 / 3)
    assert "other" not in aged


def test_notes_of_versions_to_come_are_not_what_others_age_by() -> None:
    aged = ages_of("2.2", NOTES)
    assert aged["2.3.2"] == aged["2.2"] == 0.0
    assert aged["2.0"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("text", "of_change"),
    [
        ("is before_first_boil still there", True),
        ("oldest python version supported by kettle?", True),
        ("TypeError: unexpected keyword argument 'lid'", True),
        ("upgraded to 2.3 and the lid no longer opens", True),
        ("how do i open the lid", False),
        ("what is the default of BOIL_SECONDS", False),
        ("newline in the address", False),
        ("how do I change the port kettle runs on", False),
        ("need to remove the lid, possible?", False),
        ("can we change our key and nothing changes for people?", True),
        ("what do I have to change when I move from 1.5 to 2.0?", True),
        ("did they remove the lid", True),
        ("boil with lid= now errors, an older version just did it", True),
        ("is there an older version of the page?", False),
    ],
)
def test_questions_that_may_ask_what_a_release_does(text: str, of_change: bool) -> None:
    assert asks_of_change(text) is of_change


def test_where_notes_come_first_older_ones_are_left_out() -> None:
    def pages(*keys: str) -> Found:
        chunks = (ContextChunk(key, "", "", "", "", "") for key in keys)
        return Found(tuple(Evidence(n, chunk, 1.0) for n, chunk in enumerate(chunks, start=1)))

    def left(release: str, *keys: str) -> list[str]:
        notes = ReleaseNotes({release: noted(release)}, PageViews(cast(CorpusStore, None)), FakeWords())
        found = notes.newer(pages(*keys), release).evidence
        assert [item.number for item in found] == list(range(1, len(found) + 1))
        return [item.chunk.id for item in found]

    assert left("2.3", "2.2", "page", "2.3.2", "2.0") == ["2.2", "page", "2.3.2"]
    assert left("2.3", "2.3.2", "2.3.0 a", "2.2") == ["2.3.2", "2.3.0 a", "2.2"], "a list of changes"
    assert left("2.2", "2.3.2", "page", "2.2") == ["2.3.2", "page", "2.2"], "what is to come is no past"
    assert left("2.3", "page", "2.2", "2.0") == ["page", "2.2", "2.0"]
    assert left("2.3") == []


ADDED = "pallets/click@8.1"


@pytest.mark.parametrize(("asked", "own"), [("3.1", ["3.1", "2.0"]), ("", ["3.1", "2.0"]), (ADDED, [ADDED])])
def test_notes_of_what_an_admin_added_tell_nothing_of_the_product(asked: str, own: list[str]) -> None:
    live = dict.fromkeys(("3.1", ADDED, "2.0", "click==8.1"), cast(Live, None))
    notes = ReleaseNotes(live, cast(PageViews, None), FakeWords())
    assert notes._own(asked) == own


def test_pages_of_sections_with_the_heading_of_another_one_are_known() -> None:
    def alike(*headings: str) -> list[int]:
        rows = [
            SearchRow(f"s{n}", f"c{n}", "d", f"Plots > {heading}", "", "", f"s{n}")
            for n, heading in enumerate(headings)
        ]
        found = live_of(Corpus("2.0", "mini@256", 1, 0.0, 1, len(rows)), rows).alike
        return [n for n in range(len(headings)) if f"c{n}" in found]

    assert alike("Facets > Simple", "Lines > Simple", "Lines > Other") == [0, 1]
    assert alike("Facets > Simple", "Facets > Simple") == [], "pages of one section"
    assert alike("Version 2.0 > Fixes", "Version 1.0 > Fixes") == []
    assert alike("Pot > Pot.boil()", "Lid > Pot.boil()") == []
