"""Pairs in what small models write instead of the JSON that was asked for."""

from __future__ import annotations

import json

import pytest

from core.ingestion.pregeneration.model import as_asked, pairs_in

PAIR = {"page": 2, "question": "How?", "answer": "So.", "full_answer": "So it is.", "summary": "so"}
WHOLE = json.dumps({"pairs": [PAIR, {**PAIR, "page": 1}]}, indent=1)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"```json\n{WHOLE}\n```",
        f"Sure! Here are the pairs:\n\n{WHOLE}\n\nLet me know if {{you}} need more.",
        json.dumps([PAIR, {**PAIR, "page": 1}]),
        WHOLE.replace('"page": 2', '"page": "Page 2"'),
        f"{json.dumps(PAIR)}\n{json.dumps({**PAIR, 'page': 1})}",
        WHOLE.removesuffix("\n ]\n}") + ', {"page": 1, "question": "And th',
    ],
)
def test_whole_pairs_are_found_whatever_is_around_them(text: str) -> None:
    found = pairs_in(text)
    assert found == [PAIR, {**PAIR, "page": 1}]


def test_a_cut_off_list_gives_what_is_whole() -> None:
    cut = WHOLE[: WHOLE.rindex('"summary"')]
    assert pairs_in(cut) == [PAIR]


def test_keys_in_the_papers_spelling_and_left_out_ones_are_understood() -> None:
    [found] = pairs_in('{"Question": "How?", "Answer": "So.", "FullAnswer": "So it is.", "Url": "x"}')
    assert found == {
        "page": 1,
        "question": "How?",
        "answer": "So.",
        "full_answer": "So it is.",
        "summary": "",
    }


@pytest.mark.parametrize(
    "text",
    ["", "I cannot do that.", "{", '{"pairs": []}', '{"question": "How?"}', '{"question": 3, "answer": 4}'],
)
def test_where_there_is_no_pair_none_is_found(text: str) -> None:
    assert pairs_in(text) == []


def test_a_pair_needs_question_and_answer() -> None:
    assert as_asked({"question": " ", "answer": "So."}) == {} and as_asked(PAIR) == PAIR
