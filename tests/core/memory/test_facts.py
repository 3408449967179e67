"""What an answer states, whether pages still say it, and whether another answer says the same."""

from __future__ import annotations

import pytest

from core.memory.facts import differs, facts, says, statements, unsaid

QUOTE = """\
No language model answered, so I quote the Kettle 2.0 documentation:

**Dashboard › Opening**
> Start it with `kettle dashboard`. The dashboard listens on port 9090 by default. [1]

```python
kettle.run(port=9090)
```

> - `--port`: another port
> - `--host`: another host [2]"""
PAGE = """\
Start it with `kettle dashboard`. The dashboard
listens on port 9090 by default; choose another one with `--port`.

    kettle.run(port=9090)
"""


def test_an_answer_states_its_sentences_and_its_code() -> None:
    assert statements(QUOTE) == [
        "Start it with `kettle dashboard`.",
        "The dashboard listens on port 9090 by default.",
        "kettle.run(port=9090)",
        "`--port`: another port",
        "`--host`: another host",
    ]
    assert statements("It is 9090 [1]. Set `--port`\nto change it [2].") == [
        "It is 9090 .",
        "Set `--port` to change it .",
    ]
    assert statements("") == []
    code = "```\nfirst = 1\n\n…\nsecond = 2\n```\nAnd that is\nall."
    assert statements(code) == ["first = 1", "second = 2", "And that is all."]


def test_what_has_no_words_is_said_by_no_page() -> None:
    assert says(PAGE, "… — …") is False and says(PAGE, "of the in") is False


def test_facts_are_numbers_and_identifiers_without_citation_marks() -> None:
    assert facts("It listens on port 9090 [1], see `--port` and dashboard_password [12].") == {
        "9090",
        "--port",
        "dashboard_password",
    }


@pytest.mark.parametrize(
    ("statement", "is_said"),
    [
        ("The dashboard listens on port 9090 by default.", True),
        ("By default the dashboard listens on port 9090.", True),
        ("The dashboard listens on port 8080 by default.", False),
        ("The dashboard never listens on port 9090 by default.", False),
        ("The dashboard listens on port 9090 by default, if `debug` is set.", False),
        ("Choose another one with `--port`.", True),
        ("Stop it with `kettle dashboard`.", False),
        ("Retries happen eight times.", False),
        ("kettle.run(port=9090)", True),
        ("kettle.run(port=9191)", False),
    ],
)
def test_a_page_says_a_statement_with_the_same_facts_only(statement: str, is_said: bool) -> None:
    assert says(PAGE, statement) == is_said


def test_the_first_statement_that_no_page_says_is_named() -> None:
    answer = "Start it with `kettle dashboard` [1]. Passwords are set in `kettle.ini` [2]."
    assert unsaid(answer, [PAGE]) == "Passwords are set in `kettle.ini` ."
    assert unsaid(answer, [PAGE, "Passwords are set in `kettle.ini`, always."]) == ""
    assert unsaid("…", [PAGE]) == "…", "what states nothing is not confirmed"


@pytest.mark.parametrize(
    ("before", "after", "cosine", "words"),
    [
        ("It listens on port 9090 [1].", "It listens on port 9090 [2].", 0.1, ""),
        ("It listens on port 9090 [1].", "The port it listens on is 9090.", 0.95, ""),
        ("It listens on port 9090.", "It listens on port 9191.", 0.99, "no longer `9090` and now `9191`"),
        ("Set `log_level`.", "Set it.", 0.95, "no longer `log_level`"),
        ("The log is enabled by default.", "The log is disabled by default.", 0.955, "disabled"),
        ("They are signed before they are stored.", "They are signed after they are stored.", 0.983, "after"),
        ("It is set. Workers share one queue.", "Workers may not share one queue. It is set.", 0.95, "not"),
        ("Workers write a log.", "Bread needs yeast.", 0.2, "something else (similarity 0.20)"),
    ],
)
def test_two_answers_are_told_apart(before: str, after: str, cosine: float, words: str) -> None:
    found = differs(before, after, cosine)
    assert words in found and bool(found) == bool(words)
