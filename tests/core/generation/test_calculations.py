"""Plain calculations by rule: what is taken, what is left, what comes out, and how long it takes."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generation.calculations import units
from core.generation.calculations.figures import converted, wanted
from core.generation.calculations.plain import plain
from tests.bench.calculator import worst_of
from tests.core.generation.plain_questions import LEFT, TAKEN

TODAY = datetime(2024, 3, 10)


@pytest.mark.parametrize(("question", "result"), TAKEN, ids=[question for question, _ in TAKEN])
def test_what_is_nothing_but_a_calculation_is_worked_out(question: str, result: str) -> None:
    found = plain(question, TODAY)
    assert found is not None and found.result == result
    assert isinstance(found.working, str) and found.working


@pytest.mark.parametrize("question", LEFT)
def test_what_is_more_than_a_calculation_is_left_to_the_documentation(question: str) -> None:
    assert plain(question, TODAY) is None


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("16 MB in bytes", ("1 MB = 1000000 bytes", "1 MiB = 1048576 bytes")),
        ("31 days in seconds", ("1 day = 86400 seconds",)),
        ("2 GB at 10 MB/s", ("1 GB = 1000 MB", "200 seconds = 3 minutes 20 seconds")),
        ("how many weeks is 1 year?", ("1 year = 365 days", "1 year = 52.1428571429 weeks")),
        ("2 + 2", ()),
    ],
)
def test_the_working_names_the_facts_that_it_rests_on(question: str, facts: tuple[str, ...]) -> None:
    found = plain(question, TODAY)
    assert found is not None and found.facts == facts


DATES = st.dates(date(1900, 1, 1), date(2200, 1, 1))


@given(DATES, st.integers(0, 40_000))
def test_dates_agree_with_the_calendar(start: date, days: int) -> None:
    moved = plain(f"{days} days after {start}", TODAY)
    assert moved is not None and moved.result == str(start + timedelta(days))
    between = plain(f"days between {start} and {moved.result}", TODAY)
    assert between is not None and between.result.split()[0] == str(days)


TIMES = st.sampled_from(["milliseconds", "seconds", "minutes", "hours", "days", "weeks"])
SIZES = st.sampled_from(["bytes", "kB", "KiB", "MB", "MiB", "GB", "GiB", "Mbit"])
PAIR = st.one_of(st.tuples(TIMES, TIMES), st.tuples(SIZES, SIZES))


@given(st.integers(1, 10**6), PAIR)
def test_there_and_back_is_the_same_amount(number: int, pair: tuple[str, str]) -> None:
    first, second = pair
    there = units.converted(
        units.quantity(Fraction(number), units.units_of(first)[0].name), units.units_of(second)[0].name
    )
    back = units.converted(
        units.quantity(there, units.units_of(second)[0].name), units.units_of(first)[0].name
    )
    assert back == number


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6), st.sampled_from("+*"))
def test_sums_agree_with_python(first: int, second: int, sign: str) -> None:
    found = plain(f"what is ({first}) {sign} {second}?", TODAY)
    assert found is not None and found.result == str(eval(f"({first}) {sign} {second}"))


@given(st.text(max_size=250))
def test_any_text_is_worked_out_or_left(text: str) -> None:
    found = plain(text, TODAY)
    assert found is None or found.result


def test_hostile_texts_come_to_a_number_or_nothing_and_soon() -> None:
    """A share of what `python -m tests.bench.calculator` tries, which is 100,000."""
    worst = worst_of(5_000, random.Random(16))
    assert worst.seconds < 0.25, worst


def test_nothing_imports_pint_before_somebody_writes_a_quantity() -> None:
    code = (
        "import sys, datetime; from core.generation.calculations.plain import plain;"
        "import core.recipes.threadlore; now = datetime.datetime(2024, 1, 1);"
        "plain('how do I limit uploads?', now); plain('2 + 2', now); assert 'pint' not in sys.modules;"
        "plain('16 MB in bytes', now); assert 'pint' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- figures of the documentation ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "answer", "line"),
    [
        ("How many hours is it?", "> Default: `timedelta(days=31)` [1]", ("31 days", 1, "744 hours")),
        ("What is the limit in bytes?", "> At most 16 megabytes. [2]", ("16 MB", 2, "16000000 bytes")),
        ("the default is 16 MB: how many bytes?", "> It is set by X. [1]", ("16 MB", 0, "16000000 bytes")),
        ("the default is 16 MB: how many bytes?", "> It is 16 MB. [1]", ("16 MB", 1, "16000000 bytes")),
        ("timeout in minutes?", "> It ends after 7_200 seconds. [1]", ("7200 seconds", 1, "120 minutes")),
        ("How many minutes does it wait?", "> It waits 90 s [3].", ("90 seconds", 3, "1.5 minutes")),
        # told in that unit already, several figures, another one than the question's, no such figure
        ("How many minutes does it wait?", "> It waits 45 minutes. [1]", None),
        ("How many minutes does it wait?", "> It waits 90 s, then 30 s. [1]", None),
        ("the default is 16 MB: how many bytes?", "> The limit is 500 kB. [1]", None),
        ("How many bytes can I send?", "> Set `X` to limit it. [1]", None),
        ("How many bytes?", "> It takes 5 minutes. [1]", None),
        ("How many days and how many hours is it?", "> It takes 90 minutes. [1]", None),
        # no unit is asked for
        ("How do I set the timeout in Flask?", "> It waits 90 s [1].", None),
        ("what is new in second edition", "> It waits 90 s [1].", None),
        ("how many workers are there", "> It waits 90 s [1].", None),
        ("What does it do in 5 minutes?", "> It waits 90 s [1].", None),
    ],
)  # fmt: skip
def test_a_cited_figure_is_told_in_the_unit_that_is_asked_for(
    question: str, answer: str, line: tuple[str, int, str] | None
) -> None:
    found = converted(question, answer)
    assert (None if found is None else (found[0].text, found[0].source, found[1])) == line


@given(st.text(max_size=300), st.text(max_size=300))
def test_figures_of_any_text_are_read_or_left(question: str, answer: str) -> None:
    wanted(question)
    found = converted(f"in bytes? {question}", f"16 MB {answer}")
    assert found is None or found[1]
