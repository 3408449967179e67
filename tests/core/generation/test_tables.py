"""Tables as evidence: a question about a cell gets the header and its row, whatever the format."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Evidence
from core.generation.checked.statements import joined, statements
from core.generation.quotes.blocks import split
from core.generation.quotes.quote import quote
from core.generation.quotes.tables import one_again, row_for, table_of
from core.text.tables import spread
from core.text.words import query_terms
from tests.core.generation.samples import evidence
from tests.core.generation.table_questions import PAGES, QUESTIONS
from tests.core.ingestion.pages import parsed

FORMATS = {"rst": "rst", "md": "markdown", "html": "html"}


@cache
def found(path: str) -> tuple[Evidence, ...]:
    document = parsed(PAGES[path], FORMATS[path.rpartition(".")[2]])
    return tuple(
        evidence(n, section.text, title=document.title, heading=" > ".join(section.headings), score=10.0)
        for n, section in enumerate(document.sections, start=1)
        if section.text.strip()
    )


@pytest.mark.parametrize(
    ("question", "path", "row", "has", "lacks"), QUESTIONS, ids=[question for question, *_ in QUESTIONS]
)
def test_a_question_about_a_cell_is_answered_by_its_row_and_the_header(
    question: str, path: str, row: str, has: tuple[str, ...], lacks: tuple[str, ...]
) -> None:
    told = quote(query_terms(question), found(path), lambda term: 1.0, "Kettle", "2.0", question=question)
    lines = [line for line in told.text.split("\n") if line.startswith("|")]
    if not row:
        assert len(lines) != 3, "it is not about one row"
        return
    assert len(lines) == 3 and lines[2].startswith(f"| {row} |"), told.text
    assert all(part in told.text for part in has) and not any(part in "\n".join(lines) for part in lacks)
    assert told.citations and "[1]" in told.text


TABLE = "| Name | Size | Unit |\n| --- | --- | --- |\n| `MAX` | 3 | MB |\n| `MAX_SIZE` | 4 | GB |\n| | 5 | |"


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("what is the size of MAX_SIZE", ["| `MAX_SIZE` | 4 | GB |"]),
        ("what is the size of MAX", ["| `MAX` | 3 | MB |"]),
        ("how do I set MAX_SIZE", []),
        ("what is the size", []),
        ("what has size 5", ["| | 5 | |"]),
        ("", []),
    ],
)
def test_a_row_is_named_by_all_of_its_first_cell(question: str, rows: list[str]) -> None:
    told = row_for(TABLE, question)
    assert (told.split("\n")[2:] if told else []) == rows


@pytest.mark.parametrize(
    "markdown",
    ["", "| a |", "| a |\n| --- |", "|  |  |\n| --- | --- |\n| a | b |", "no | table\nat | all\nhere | too"],
)
def test_what_has_no_header_is_no_table(markdown: str) -> None:
    assert table_of(markdown) is None and row_for(markdown, "what is the a of b") is None


def test_cells_over_rows_and_columns_are_written_into_each() -> None:
    rows = [
        [("Plan", 2, 1), ("Quota", 1, 2)],
        [("Jobs", 1, 1), ("GB", 1, 1)],
        [("team", 2, 1), ("5", 1, 1), ("20", 1, 1)],
        [("50", 1, 1), ("", 1, 1)],
    ]
    told = [["Plan", "Quota Jobs", "Quota GB"], ["team", "5", "20"], ["team", "50", ""]]
    assert spread(rows, 2) == told


CELL = st.tuples(st.text(max_size=8), st.integers(-3, 10**6), st.integers(-3, 10**6))


@given(st.lists(st.lists(CELL, max_size=4), max_size=5), st.integers(0, 6))
def test_any_spans_make_rows_of_one_width(rows: list[list[tuple[str, int, int]]], heads: int) -> None:
    told = spread(rows, heads)
    assert len({len(row) for row in told}) <= 1 and len(told) <= len(rows)


@given(st.text("|-`\\: \nab1", max_size=120), st.text("ab1 |", max_size=30))
def test_any_table_is_read(markdown: str, question: str) -> None:
    told = row_for(markdown, question)
    assert told is None or all(line in markdown for line in told.split("\n"))


@pytest.mark.parametrize(
    "markdown",
    [
        "a | b\n--- | ---\n`1` | 2\n",
        "a | b\n:-- | --:\n`1` | 2",
        "| a | b\n|---|---\n| `1` | 2",
        "a|b\n-|-\n`1`|2|",
    ],
)
def test_a_table_may_leave_out_the_bars_at_its_ends(markdown: str) -> None:
    told = statements(f"These are known:\n{markdown}\n\nAnd no more.")
    assert [one.kind for one in told] == ["paragraph", "table", "paragraph"]
    written = joined(told)
    assert "\n| a | b |\n" in written and "\n| `1` | 2 |\n" in written, "every platform reads it"
    table = table_of(told[1].text)
    assert table and table.names == ("a", "b")


@pytest.mark.parametrize("line", ["- do `x | y`", "## x | y", "> x | y", "```sh\nps | wc\n```"])
def test_a_table_ends_where_something_else_begins(line: str) -> None:
    told = split(f"a | b\n--- | ---\n1 | 2\n| 3 | 4 |\n{line}")
    assert told[0].text == "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |" and told[1].text == line


@pytest.mark.parametrize(
    "text",
    [
        "a | b\nis a union",
        "Use `ps | wc`\n---",
        "a | b | c\n--- | ---",
        "```\na | b\n--- | ---\n```",
        "- a | b\n---|---",
    ],
)
def test_a_bar_alone_makes_no_table(text: str) -> None:
    assert "table" not in [block.kind for block in split(text)]


HEAD = "| Set | Sent | Result |\n| --- | --- | --- |\n"
FIRST, SECOND, LAST = (
    '| `"*"` | `Lid: on` | boils |\n',
    '| `"*"` | `Lid: off` | cools |\n',
    '| `"1"` | `Lid: on`, `Ring: off` | `LidMismatch()` is raised |\n',
)


def test_a_row_that_alone_has_a_name_in_code_is_what_the_question_is_about() -> None:
    table = f"{HEAD}{FIRST}{SECOND}{LAST}".rstrip()
    assert row_for(table, "it answers LidMismatch, we send Lid: on") == f"{HEAD}{LAST}".rstrip()
    again = f"{table}\n{LAST.replace('1', '2')}".rstrip()
    assert row_for(again, "it answers LidMismatch, we send Lid: on") != f"{HEAD}{LAST}".rstrip()


def test_a_table_that_was_too_long_for_a_page_is_one_again() -> None:
    whole = f"Known:\n\n{HEAD}{FIRST}{SECOND}{LAST}\nMore."
    assert one_again(f"Known:\n\n{HEAD}{FIRST}{SECOND}\n{HEAD}{LAST}\nMore.") == whole
    assert one_again(f"{HEAD}{FIRST}\n{HEAD}{SECOND}\n{HEAD}{LAST}") == f"{HEAD}{FIRST}{SECOND}{LAST}"
    apart = f"{HEAD}{FIRST}\nAnd:\n\n{HEAD}{LAST}"
    assert one_again(apart) == apart
    other = f"{HEAD}{FIRST}\n{HEAD.replace('Sent', 'Got')}{LAST}"
    assert one_again(other) == other
    shown = f"As Markdown:\n\n```\n{HEAD}{FIRST}\n{HEAD}{LAST}```"
    assert one_again(shown) == shown
