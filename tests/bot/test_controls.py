"""What hangs under an answer, and what emoji mean."""

from __future__ import annotations

import pytest

from bot.rendering.answers import LONGEST_VALUE, RELEASES, compose, controls, mark_of, wrong_form
from core.domain import Answer, Resolution, Route
from core.languages import speaking

ANSWER = Answer("a0123456789abcdef", "text", "quote", "2.0", offers=("1.0",))


def menu(answer: Answer, ready: list[str]) -> list[tuple[str, str]]:
    """Return value and label of the menu's lines."""
    found = [control for control in controls(answer, ready) if control.choices]
    return [(choice.value, choice.label) for control in found for choice in control.choices]


def test_an_answer_has_one_row_of_buttons_and_one_menu() -> None:
    given = controls(ANSWER, ["2.0", "1.5", "1.0"])
    assert [control.name for control in given] == ["up", "down", "why", "delete", "release"]
    assert {control.value for control in given} == {ANSWER.id}


def test_the_menu_offers_the_other_ready_releases_those_that_differ_first() -> None:
    assert menu(ANSWER, ["2.0", "1.5", "1.0"]) == [
        (f"{ANSWER.id} 1.0", "1.0: says something else"),
        (f"{ANSWER.id} 1.5", "1.5"),
    ]
    assert menu(ANSWER, ["2.0", "1.5"]) == [(f"{ANSWER.id} 1.5", "1.5")], "1.0 is not ready"
    assert menu(ANSWER, ["2.0"]) == []


def test_a_comparison_has_no_menu() -> None:
    both = Answer("a1", "text", "quote", "1.0+2.0", resolution=Resolution("2.0", "question", comparison=True))
    assert menu(both, ["2.0", "1.5", "1.0"]) == []


def test_everything_fits_into_a_control() -> None:
    names = [f"{number}.0" for number in range(60)] + ["x" * 90]
    given = controls(ANSWER, names)
    values = [(c.name, value) for c in given for value in [c.value, *(choice.value for choice in c.choices)]]
    assert max(len(name) + len(value) for name, value in values) <= 90
    assert len(menu(ANSWER, names)) == RELEASES
    assert all(len(value) <= LONGEST_VALUE for _, value in values)


def test_the_form_asks_what_was_wrong_and_perhaps_for_a_better_answer() -> None:
    form = wrong_form("a1")
    what, better = form.fields
    assert [choice.value for choice in what.choices] == ["release", "wrong", "outdated", "other"]
    assert what.required and not better.required and form.value == "a1" and len(form.title) <= 24


@pytest.mark.parametrize(
    ("emoji", "mark"),
    [
        ("✅", "accept"),
        ("white_check_mark", "accept"),
        (":white_check_mark:", "accept"),
        ("❌", "object"),
        ("x", "object"),
        ("👍", ""),
        ("heavy_check_mark", ""),
        ("✖️", ""),
        ("", ""),
    ],
)
def test_only_the_two_marks_mean_something(emoji: str, mark: str) -> None:
    assert mark_of(emoji) == mark


# --- the remembered question under its answer -------------------------------------------------

REMEMBERED = "Which [port](https://evil.example) does the dashboard listen on in 2.0?"


def again(asked: str, route: Route = "reuse", pair_id: str = "p1") -> Answer:
    """Return an answer that was given to `REMEMBERED`, and now to another question."""
    near = {"pair": "p1", "question": REMEMBERED, "topic": "Which port does the dashboard listen on?"}
    trace = {"queries": {"base": asked, "filtered": "", "topic": asked}, "high": [near], "low": []}
    return Answer("a1", "Like this.", route, "2.0", pair_id=pair_id, trace=trace)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (again("What number has the dashboard's port?"), True),
        (again("Which port does the dashboard not listen on?"), True),
        (again("On which port is the dashboard listening?"), False),
        (again("which PORT does the dashboard listen on"), False),
        (again("What number has the port?", "reference"), False),
        (again("What number has the port?", pair_id="p2"), False),
    ],
)
def test_the_remembered_question_is_shown_where_it_has_other_words(answer: Answer, shown: bool) -> None:
    names = [control.name for control in controls(answer, [])]
    said = compose(answer, "Kettle").markdown
    assert ("apart" in names, "an answer to" in said) == (shown, shown)
    assert "](https://evil.example)" not in said, "it is quoted, and leads nowhere"


@pytest.mark.parametrize(
    ("language", "begin", "end"),
    [
        ("en", "This was an answer to: “Which", "2.0?”"),
        ("de", "Das war eine Antwort auf: „Which", "2.0?“"),
        ("es", "Esto fue una respuesta a: «Which", "2.0?»"),
        ("zh", "这是对下面这个问题的回答：“Which", "2.0?”"),
    ],
)
def test_the_remembered_question_is_quoted_as_each_language_quotes(
    language: str, begin: str, end: str
) -> None:
    with speaking(language):
        parts = compose(again("What number has the port?"), "Kettle").markdown.split("\n\n")
    assert parts[-2].startswith(begin) and parts[-2].endswith(end), "above the line of the release"
    assert parts[-1].startswith("*Kettle 2.0")
