from __future__ import annotations

import time
from dataclasses import replace

from core.generation.quotes.listing import CHARACTERS, fate, listed
from core.retrieval.release_notes.gone import Told
from core.retrieval.release_notes.notes import as_written
from tests.core.generation.samples import evidence

NOTES = """\
Released 2024-11-13

- Add key rotation.
- Remove what was deprecated:
  - The `push` method.
  - The `pop` method.
- Fix cookies."""


def notes(number: int, page: str, version: str = "3.1.0", release: str = "3.1"):
    return evidence(number, page, title="Changes", heading=f"Changes > Version {version}", release=release)


def test_entries_are_listed_in_their_order_with_what_is_nested_in_them() -> None:
    body, citations = listed([notes(1, NOTES)], "", "Flask", "3.1")
    assert body.startswith("**Changes › Version 3.1.0**\n> Released 2024-11-13\n> - Add key rotation.\n")
    assert ">   - The `pop` method.\n> - Fix cookies. [1]" in body and len(citations) == 1


def test_only_entries_of_the_asked_kind_are_listed_where_there_are_any() -> None:
    text, _ = listed([notes(1, NOTES), notes(2, "- Add more.", "3.1.1")], "removed", "Flask", "3.1")
    assert "push" in text and "rotation" not in text and "3.1.1" not in text
    assert "Add more" in listed([notes(1, "- Add more.")], "deprecated", "Flask", "3.1")[0]


def test_a_changelog_that_stands_in_two_documents_is_listed_once() -> None:
    text, citations = listed([notes(1, NOTES), notes(2, NOTES)], "", "Flask", "3.1")
    assert text.count("Add key rotation.") == 1 and len(citations) == 1


LONG = "\n".join(f"- Entry {n} {'x' * 100}." for n in range(40))


def test_pieces_of_one_section_are_one_source_with_all_of_them_under_its_heading() -> None:
    text, citations = listed([notes(1, "- Begin."), notes(2, LONG)], "", "Flask", "3.1")
    assert text.count("**Changes › Version 3.1.0**") == 1 and "> - Begin.\n> - Entry 0" in text
    assert [c.number for c in citations] == [1, 1] and "[2]" not in text


def test_what_is_left_out_is_said_in_words_with_links_to_the_notes_that_have_no_room() -> None:
    dated = f"Released 2024-12-19\n\n- {'y' * 1_500}"
    text, citations = listed([notes(1, LONG), notes(2, dated, "3.1.1")], "", "Flask", "3.1")
    assert len(text) < CHARACTERS + 400 and "…" not in text and "Released" not in text
    assert "xxx. [1]\n\nThere is more on this page. [1]\n\n" in text and len(citations) == 1
    short = [notes(1, LONG[:2_000]), notes(2, LONG, "3.0.0"), notes(3, "- End.", "2.9.0")]
    assert listed(short, "", "Flask", "3.1")[0].count("There is more") == 1
    link = "[Changes › Version 3.1.1](https://docs.example.org/changes/#changes->-version-3.1.1)"
    assert text.endswith(f"More notes: {link.replace('>', '%3E')}")


def test_the_release_of_the_pages_is_told() -> None:
    one, _ = listed([notes(1, NOTES)], "", "Flask", "2.3+3.1")
    assert "(Flask 3.1)" not in one
    two, _ = listed([notes(1, NOTES), notes(2, "- Old.", "2.3.0", "2.3")], "", "Flask", "2.3+3.1")
    assert "(Flask 3.1)" in two and "(Flask 2.3)" in two


def test_only_the_lines_that_retrieval_found_are_listed_where_they_are_wanted() -> None:
    chosen = evidence(1, NOTES, matched=("- Fix cookies.",))
    text, citations = listed([chosen, evidence(2, NOTES, matched=())], "", "Flask", "3.1", matched=True)
    assert text.count("> ") == 1 and "Fix cookies" in text and len(citations) == 1
    assert listed([notes(1, "")], "", "Flask", "3.1") == ("", ())


def test_what_became_of_a_name_is_told_with_what_takes_its_place() -> None:
    page = evidence(1, "", title="Changes", heading="Version 3.0").chunk
    line = "`Pot.STEAM`: use `Pot.VAPOUR` instead."
    told = [Told("STEAM", "removed", (3, 0), page, line)]
    said, _cited = fate(told, "Kettle", "3.1")
    assert said.startswith("`STEAM` was removed in 3.0 [1]. Use `Pot.VAPOUR` instead [1].")
    said, _cited = fate(told, "Kettle", "2.9", has_it=["STEAM"])
    assert "Kettle 2.9 still has it. Use `Pot.VAPOUR` instead [1]." in said
    several = [Told("Old measuring methods", "deprecated", (2, 5), page, "Deprecated since version 2.5.")]
    assert fate(several, "Kettle", "3.1")[0].startswith("Old measuring methods: deprecated in 2.5 [1].")


def test_what_a_version_deprecated_and_replaced_still_works() -> None:
    page = evidence(1, "", title="Changes", heading="Version 3.0").chunk
    told = [
        Told("boil", "replaced", (3, 0), page, "Replaced `boil()` with `heat()`."),
        Told("boil", "deprecated", (3, 0), page, "`boil()` is deprecated, use `heat()` instead, or both."),
    ]
    said, _cited = fate(told, "Kettle", "3.0")
    assert said.startswith("`boil` was deprecated in 3.0 [1]. Use `heat` instead [1].")
    told.append(Told("boil", "removed", (3, 0), page, "Removed `boil()`."))
    assert fate(told, "Kettle", "3.0")[0].startswith("`boil` was removed in 3.0 [1].")


def test_what_to_do_now_is_quoted_with_the_paragraph_that_tells_an_end() -> None:
    gone = "`use()` has been removed."
    told = "If you need what it did, take `@kettle/middle`."

    def said(*paragraphs: str) -> str:
        page = evidence(1, "\n\n".join(paragraphs), title="Changes", heading="Removed use()").chunk
        return fate([Told("use", "removed", (4, 0), page, gone)], "Kettle", "4.0")[0]

    assert said("Before.", gone, told, "Else.").endswith(f"> - {gone}\n\n> {told} [1]")
    for other in ("It was slow.", f"- {told}", f"If you {'need ' * 100}it.", "## If you need it"):
        assert said(gone, other).endswith(f"> - {gone} [1]")


def test_a_long_row_of_numbers_is_read_in_one_go() -> None:
    began = time.perf_counter()
    assert as_written((9, 9), [f"{'1.' * 20_000}1x1", "in v9.09"]) == "v9.09"
    assert time.perf_counter() - began < 1


def test_versions_are_told_as_the_notes_write_them() -> None:
    def of(fated: str, version: tuple[int, ...], spelled: str) -> Told:
        page = notes(1, "", spelled).chunk
        page = replace(page, id=spelled, heading=f"What's New > {spelled} (Jul 30, 2024) > Removals")
        return Told("lid", fated, version, page, f"`lid` is {fated}.")

    told = [of("removed", (2024, 7, 0), "v2024.07.0"), of("deprecated", (2, 3, 0), "2.3.0")]
    assert fate(told, "Kettle", "2024.7")[0].startswith(
        "`lid` was deprecated in 2.3 [2] and removed in v2024.07.0 [1]."
    )
    marked = replace(of("removed", (2, 4), "API"), line="Removed since version 2.4: use `cover`.")
    assert fate([marked], "Kettle", "3.0")[0].startswith("`lid` was removed in 2.4 [1].")
    unnamed = of("removed", (2, 4, 0), "Notes")
    assert fate([unnamed], "Kettle", "3.0")[0].startswith("`lid` was removed in 2.4 [1].")
