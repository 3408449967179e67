"""Questions that sentences answer by what they say something is for."""

from __future__ import annotations

import pytest

from core.ingestion.pregeneration.rules import asked_by


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("To reload templates, set `AUTO_RELOAD`.", "How do I reload templates?"),
        ("In order to keep it warm, press the lever.", "How do I keep it warm?"),
        ("If you want to boil your milk, use the small pot.", "How do I boil my milk?"),
        ("You can descale the kettle with vinegar.", "How do I descale the kettle?"),
        ("`clean()` can be used to remove the scale.", "How do I remove the scale?"),
        ("The lamp lets you see the water level.", "How do I see the water level?"),
        ("Use `--quiet` to silence the whistle.", "How do I silence the whistle?"),
        ("If the lid is open, the kettle stays cold.", "What happens if the lid is open?"),
        ("When using hard water, descale it weekly.", "What must I know when using hard water?"),
        ("The whistle is a reed in the spout.", "What is the whistle?"),
        ("Requires Werkzeug >= 2.2.", "Which version of Werkzeug is needed?"),
        ("Drop support for Python 3.8.", "Is Python 3.8 still supported?"),
        ("The `steam` option is deprecated.", "Is `steam` deprecated, and what replaces it?"),
        ("`boil_hard` was removed.", "What happened to `boil_hard`, and what replaces it?"),
        ("`old` is renamed to `new`.", "What is `old` called now?"),
    ],
)
def test_a_sentence_says_what_for(sentence: str, question: str) -> None:
    assert list(asked_by(sentence)) == [(question, sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "This is a kettle.",
        "If you want to do this, do it.",
        "This allows changing the colour.",
        "It is used to it.",
        "To be safe, wait.",
        "The kettle whistles when the water boils.",
        "When used on a stove, it whistles.",
    ],
)
def test_other_sentences_ask_nothing(sentence: str) -> None:
    assert list(asked_by(sentence)) == []


def test_items_of_a_list_are_read_one_by_one() -> None:
    text = "Changes:\n\n- Drop support for Python 3.8. #12\n- To boil milk, use a pot."
    assert [question for question, _ in asked_by(text)] == [
        "Is Python 3.8 still supported?",
        "How do I boil milk?",
    ]
