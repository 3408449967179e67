"""Pages cut to windows, and words to what is looked for."""

from __future__ import annotations

from core.domain import ContextChunk
from core.text.words import (
    WINDOW_CHARACTERS,
    embedded_windows,
    stem,
    window_hashes,
    window_texts,
    windows,
)


def test_sentences_are_joined_up_to_a_length_and_paragraphs_kept_apart() -> None:
    text = "One is short. Two is short.\n\n" + "This sentence is about fifty characters in length. " * 6
    found = windows(text)
    assert found[0] == "One is short. Two is short."
    assert len(found) == 3 and all(len(window) <= WINDOW_CHARACTERS for window in found)


def test_code_and_lists_are_cut_at_lines() -> None:
    lines = [f"- item {n} {'x' * 90}" for n in range(6)]
    found = windows("\n".join(lines))
    assert "\n".join(found) == "\n".join(lines) and len(found) == 3


def test_nothing_is_lost_and_empty_pages_are_one_window() -> None:
    text = "A first one.\nstill it.\n\n```\ncode = 1\n```"
    assert " ".join(" ".join(windows(text)).split()) == " ".join(text.split())
    assert windows("") == [""]


def test_windows_stand_under_the_innermost_heading_and_are_known_by_hash() -> None:
    assert embedded_windows("Title", "Guide > Filter", "Press it.") == ["Filter\nPress it."]
    assert embedded_windows("Title", "", "Press it.") == ["Title\nPress it."]
    chunk = ContextChunk("c", "a.md", "Title", "Guide > Filter", "", "Press it.\n\nTurn it.")
    assert list(window_texts(chunk)) == window_hashes(chunk.title, chunk.heading, chunk.page)


def test_forms_of_a_word_have_one_stem_and_names_of_software_keep_their_letters() -> None:
    for forms in ("log logs logging logged", "configure configures configuring configured", "node nodes"):
        assert len({stem(word) for word in forms.split()}) == 1, forms
    assert stem("cors") == "cors" != stem("cores") == stem("core")
    apart = (("rails", "rail"), ("composer", "compose"), ("windows", "window"), ("twisted", "twist"))
    assert all(stem(one) != stem(other) for one, other in apart)
