"""Answers are scored by what they hold, whether they are whole, and what they name."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain import Answer, Citation, Question
from core.errors import UsageError
from evaluation.answers.checks import begins, blocks, ends, unsupported
from evaluation.answers.expected import Expected, Section
from evaluation.answers.scores import (
    Scored,
    ask_all,
    detail,
    failures,
    figures,
    file_of,
    groups,
    keep,
    read,
    score,
    table,
)

PAGE = """\
# Boiling

A kettle boils water. Fill it first, or it burns. To boil at once, set
`boil_at_once`:

```python
kettle = Kettle(boil_at_once=True)
kettle.boil()
```

There are three ways to stop it:

- Pull the plug.
- Press the button,
  which is red.
- Wait.

# Cooling

Leave it alone.
"""
WHOLE = """\
**Boiling**
> A kettle boils water. Fill it first, or it burns. To boil at once, set `boil_at_once`: [1]

```python
kettle = Kettle(boil_at_once=True)
kettle.boil()
```

> There are three ways to stop it:

- Pull the plug.
- Press the button, which is red.
- Wait.
"""
LINE = Expected(
    id="kettle-boil",
    product="kettle",
    release="2.0",
    kind="howto",
    question="boil at once?",
    answerable=True,
    half="tune",
    must=("code:Kettle(boil_at_once=True)", "plug||re:red button"),
    must_not=("boil_quickly",),
    sections=(Section("boil.md", "Boiling"),),
)
OUTSIDE = replace(LINE, id="kettle-moon", answerable=False, kind="unanswerable", must=(), sections=())
SOURCE = Citation(1, "Kettles › Boiling", "https://kettle.example/boil#boiling", "2.0", "boil.md")


def an_answer(text: str = WHOLE, **but: Any) -> Answer:
    given: dict[str, Any] = {"route": "quote", "release": "2.0", "citations": (SOURCE,), "confidence": 0.9}
    return Answer("1", text, **(given | but))


# --- whole ----------------------------------------------------------------------------------------


def test_quotes_headings_lists_and_code_are_told_apart() -> None:
    kinds = [block.kind for block in blocks(WHOLE)]
    assert kinds == ["heading", "paragraph", "code", "paragraph", "item", "item", "item"]
    assert blocks("a\n- b\n  c\n\n| d |\n| e |\n")[1].text == "- b\n  c"


def test_a_whole_quote_begins_and_ends_well() -> None:
    assert begins(WHOLE, [PAGE], is_quote=True) == ""
    assert ends(WHOLE, [PAGE], is_quote=True) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("**Boiling**\n> or it burns. Wait.", "mid-sentence"),
        ("…and it burns.", "mid-sentence"),
        ("**Boiling**\n> To boil at once, set `boil_at_once` and wait for it.", ""),
        ("**Boiling**\n> Fill it first, or it burns. To boil at once, set `boil_at_once`.", "mid-paragraph"),
        ("`boil()` boils.", ""),
        ("boil_at_once is off.", ""),
        ("- quietly fixed\n", ""),
    ],
)
def test_an_answer_does_not_begin_in_the_middle(text: str, why: str) -> None:
    found = begins(text, [PAGE], is_quote=True)
    assert why in found and bool(why) == bool(found)


def test_a_written_answer_may_take_a_sentence_from_the_middle_of_a_page() -> None:
    assert begins("Fill it first, or it burns. To boil at once, set it.", [PAGE], is_quote=False) == ""
    assert begins("it burns.", [PAGE], is_quote=False).startswith("begins in mid-sentence")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("> Set it:\n\n**Cooling**\n> Leave it alone.", "what it introduces is missing"),
        ("> It looks like this.", "what it introduces is missing"),
        ("> Set it:\n\n> Leave it alone.", "what it introduces is missing"),
        ("```\nboil()", "fence"),
        ("> Leave it alone.\n\n**Cooling**", "heading"),
        ("> Leave it al", "mid-sentence"),
        ("> Leave it …", "mid-sentence"),
        (
            "> There are three ways to stop it:\n\n- Pull the plug.\n- Press the button, which is red.",
            "2 of 3 items",
        ),
        ("I quote:\n\n**Cooling**\n> Leave it alone.", ""),
        ("> Do this:\n\n```\nboil()\n...\n```", ""),
        ("- Wait.", ""),
        ("", "empty"),
    ],
)
def test_an_answer_does_not_end_in_the_middle(text: str, why: str) -> None:
    found = ends(text, [PAGE], is_quote=True)
    assert why in found and bool(why) == bool(found)


def test_a_written_answer_may_introduce_a_paragraph() -> None:
    assert ends("Two ways:\n\nPull the plug, or wait.", [PAGE], is_quote=False) == ""


# --- names that stand nowhere ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (WHOLE, ()),
        ("Call `kettle.boil()` or `kettle.whistle()`.", ("whistle",)),
        ("Set KETTLE_SPEED, since 2.4, to 250.", ("KETTLE_SPEED", "2.4", "250")),
        ("Use --quickly with BoilServer.", ("--quickly", "BoilServer")),
        ("```python\nmine = Kettle()\nmine.whistle()\nprint(mine)\n```", ("whistle",)),
        ("```python\ndef my_tea():\n    Kettle()\n```\n\nThen call `my_tea` from JavaScript.", ()),
        ("```python\nmine = Kettle(\n    turbo=True,\n)\n```", ("turbo",)),
        ("As [the page](https://other.example/a_b) says in 2.0.", ()),
    ],
)
def test_names_that_no_source_has_are_found(text: str, names: tuple[str, ...]) -> None:
    assert unsupported(text, [PAGE, "2.0"]) == names


# --- scores ---------------------------------------------------------------------------------------


def test_an_answer_that_holds_everything_is_right() -> None:
    scored = score(LINE, an_answer(), [PAGE])
    assert scored.right and scored.shows_code and scored.page and scored.section
    assert (scored.missing, scored.forbidden, scored.unsupported) == ((), (), ())
    assert Scored.of(json.loads(json.dumps(scored.plain()))) == scored


def test_what_it_lacks_or_must_not_hold_makes_it_wrong() -> None:
    lacking = score(LINE, an_answer("Set `boil_quickly`."), [PAGE])
    assert lacking.missing == LINE.must and lacking.forbidden == LINE.must_not
    assert not lacking.right and not lacking.shows_code and lacking.unsupported == ("boil_quickly",)
    elsewhere = replace(SOURCE, title="Kettles › Cooling", path="boil.md")
    scored = score(LINE, an_answer(citations=(elsewhere,)), [PAGE])
    assert scored.page and not scored.section


def test_a_refusal_is_right_where_nothing_answers() -> None:
    refusal = an_answer("I don't know.", route="abstain", citations=(), confidence=0.1)
    assert score(OUTSIDE, refusal, []).right
    assert not score(LINE, refusal, []).right
    assert not score(OUTSIDE, an_answer(), [PAGE]).right


def test_figures_count_each_among_what_it_applies_to() -> None:
    refusal = an_answer("I don't know.", route="abstain", citations=(), confidence=0.1)
    scored = [
        score(LINE, an_answer(), [PAGE]),
        score(replace(LINE, half="report"), an_answer("Set it:\n\n**Boiling**"), [PAGE]),
        score(LINE, refusal, []),
        score(OUTSIDE, refusal, []),
    ]
    found = figures(scored)
    assert (found["n"], found["right"], found["lost"], found["refused"]) == (4, 0.3333, 0.3333, 1.0)
    assert (found["whole"], found["begins"], found["ends"], found["code"]) == (0.5, 1.0, 0.5, 0.3333)
    assert (found["page"], found["section"], found["wrong_and_sure"]) == (1.0, 1.0, 1)
    assert found["ece"] == pytest.approx(0.4)
    assert [one.id for one in failures(scored)] == ["kettle-boil", "kettle-boil"]
    assert "refused" in detail(scored[2]) and "does not hold 'plug" in detail(scored[1])
    shown = table(groups(scored))
    assert "| tune, unanswerable | 1 | – | – | 1.000 |" in shown and "| report, kettle | 1 |" in shown
    assert figures([])["characters"] is None


async def test_every_question_is_asked_as_people_would_and_an_error_is_no_answer() -> None:
    heard: list[Question] = []

    async def ask(question: Question) -> Answer:
        heard.append(question)
        if len(heard) == 2:
            raise UsageError("Write a question.")
        return an_answer()

    async def page_of(release: str, path: str) -> str:
        return PAGE if (release, path) == ("2.0", "boil.md") else ""

    asked: AsyncIterator[Scored] = ask_all([replace(LINE, ask_release="2.0"), LINE], ask, page_of)
    scored = [one async for one in asked]
    assert [one.right for one in scored] == [True, False]
    assert scored[1].text == "Write a question." and scored[1].refused
    assert [(q.text, q.release, q.language) for q in heard] == [
        ("boil at once?", "2.0", "en"),
        ("boil at once?", "", "en"),
    ]


def test_products_that_lie_in_a_folder_are_counted_together(tmp_path: Path) -> None:
    kettle = score(LINE, an_answer(), [PAGE])
    keep(tmp_path, "Kettle", [kettle, kettle])
    keep(tmp_path, "CI/CD Kit", [replace(kettle, product="CI/CD Kit", text="one\u2028two\x85three")])
    assert file_of(tmp_path, "CI/CD Kit").name == "answers.ci-cd kit.jsonl"
    assert [one.text for one in read(tmp_path, "kettle")] == ["one\u2028two\x85three"]
    assert [one.product for one in read(tmp_path, "CI/CD Kit")] == ["kettle", "kettle"]
    file_of(tmp_path, "Teapot").write_text("[]\n", "utf-8")
    with pytest.raises(UsageError, match=r"answers\.teapot\.jsonl cannot be read"):
        read(tmp_path, "kettle")
