"""What an answer's explanation tells of what people found wrong with it."""

from __future__ import annotations

from core.generation.phrases import corrected, why
from core.ports.opinions import Correction


def said(what: str, better: str = "", pair_id: str = "") -> Correction:
    return Correction("a1", "slack:U2", "Bob", what, better, 10.0, pair_id)


def test_people_are_counted_and_only_what_is_remembered_is_quoted() -> None:
    told = corrected([said("outdated"), said("wrong"), said("outdated", "Use 2."), said("other", "3.", "h1")])
    assert told == [
        "2 people said: it is outdated.",
        "1 person said: it is wrong.",
        "1 person said: it is not what was asked.",
        "Bob wrote a better answer: 3.",
    ]
    assert corrected([]) == []


def test_a_persons_answer_is_explained_as_one() -> None:
    row = {"trace": {"origin": "person"}, "route": "reuse", "release": ""}
    assert "A person's answer" in why(row)[0] and "no model was called" in why(row)[0]
    row["trace"] = {"origin": "person", "steps": {"understand": "qwen3:8b"}}
    assert "A person's answer" in why(row)[0] and "no model wrote it" in why(row)[0]


def test_a_reuse_for_which_the_model_was_asked_says_so() -> None:
    row = {"trace": {"steps": {"understand": "m", "guard": "m"}}, "route": "reuse", "release": ""}
    assert why(row) == [
        "A remembered answer to the same question was reused; no model wrote it.",
        "The model was asked what the question means.",
        "The model was asked whether the remembered question is the same.",
    ]
    assert why(row | {"trace": {}}) == [
        "A remembered answer to the same question was reused; no model was called."
    ]
