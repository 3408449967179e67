"""Whether a page says what a generated answer says; `tests.bench.founded` measures it on real pages."""

from __future__ import annotations

import pytest

from core.domain import ContextChunk
from core.ingestion.pregeneration.groundedness import LONGEST_QUESTION, Ground
from core.ingestion.pregeneration.pairs import Made

TEXT = """Start the server with `kettle serve`. It listens on port 8000 of localhost; `--port` changes that.

The server does not support Windows. Under WSL it works as on Linux.

- `KETTLE_TIMEOUT`: seconds until a request is given up, 30 by default.
- `KETTLE_LID`: closes the lid before the water boils, True by default.

To enable the whistle, call `Kettle.whistle(loud=True)` before the water boils. `None` keeps it silent.

```
app = Kettle(lid="glass")
app.whistle(loud=True)
```
"""
PAGE = ContextChunk("c1", "guide/serve.md", "Serving", "Serving > Options", "https://x/", TEXT, release="2.0")
GROUND = Ground.of_page(PAGE)


def problem(answer: str, full: str = "", question: str = "How is it done?") -> str:
    found = GROUND.unfounded(Made("c1", question, answer, full or answer))
    return found.kind if found else ""


@pytest.mark.parametrize(
    "answer",
    [
        "Start it with `kettle serve`; it listens on port 8000.",
        "Pass `--port` to change the port.",
        "No, the server doesn't support Windows, but it works under WSL.",
        "A request is given up after 30 seconds by default.",
        "Call `whistle(loud=True)` before the water boils.",
        "Call `Kettle.whistle()` to enable the whistle.",
        "In 2.0 the lid is closed before the water boils.",
        "`None` keeps it silent.",
    ],
)
def test_what_the_page_says_in_its_own_or_other_words_passes(answer: str) -> None:
    assert problem(answer) == ""


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("It listens on port 9000.", "number"),
        ("A request is given up after 60 seconds by default.", "number"),
        ("Pass `--prot` to change the port.", "code"),
        ("Set KETTLE_TIMEOUTS to the seconds.", "code"),
        ("Call `Kettle.sing()` before the water boils.", "code"),
        ("Under Docker it works as on Linux.", "name"),
        ("The server was written by Alice at the university.", "name"),
        ("The server supports Windows.", "contrary"),
        ("The server does not listen on port 8000 of localhost.", "contrary"),
        ("Call `whistle(loud=True)` after the water boils.", "contrary"),
        ("To disable the whistle, call `Kettle.whistle(loud=True)` before the water boils.", "contrary"),
        ("Buy good tea leaves in any shop nearby and keep them dry.", "other words"),
        ("", "empty"),
    ],
)
def test_an_answer_with_an_invented_or_turned_fact_is_dropped(answer: str, kind: str) -> None:
    assert problem(answer) == kind


def test_the_whole_text_and_the_summary_are_checked_too() -> None:
    assert problem("Pass `--port`.", "Pass `--port`. Restart the server 3 times.") == "number"
    made = Made("c1", "How?", "Pass `--port`.", "Pass `--port`.", "`--port` takes 17 values.")
    assert (found := GROUND.unfounded(made)) and found.kind == "number" and "17" in found.text


def test_a_number_that_belongs_to_something_else_on_a_long_page_is_dropped() -> None:
    filler = "\n\n".join(
        f"Section about jars, shelf {n}, and their many lids of cork." for n in range(40, 60)
    )
    ground = Ground.of(f"Jars\n\nThe glass kettle boils two litres of water in 4 minutes.\n\n{filler}")
    right = Made("c", "How long?", "The glass kettle boils two litres of water in 4 minutes.", "")
    wrong = Made("c", "How long?", "The glass kettle boils two litres of water in 52 minutes.", "")
    assert ground.unfounded(right) is None
    assert (found := ground.unfounded(wrong)) and found.kind == "misplaced"


@pytest.mark.parametrize("question", ["Serving", "How " * LONGEST_QUESTION + "?"])
def test_a_question_must_be_one(question: str) -> None:
    assert problem("Pass `--port`.", question=question) == "no question"
