import warnings

import pytest

from core.errors import UsageError
from core.generation.calculator import calculate, fill, without_unfinished
from tests.processor import at_most


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("3*7", "21"),
        ("0.1 + 0.2", "0.3"),
        ("2^10", "1024"),
        ("1,000 × 3", "3000"),
        ("max(100,200)", "200"),
        ("max(1,500)", "500"),
        ("max(1,000, 500)", "1000"),
        ("sum(1,200, 300)", "1500"),
        ("max(500, 1,500,000) / 2", "750000"),
        ("round(2.5) + 1,500", "1502"),
        ("sqrt(1,024)", "32"),
        ("7 // 2 + 10 % 3", "4"),
        ("-(2 - 5)", "3"),
        ("sqrt(2) ** 2", "2"),
        ("round(2.567, 1)", "2.6"),
        ("1/3", "0.333333333333"),
        ("2*pi", "6.28318530718"),
    ],
)
def test_arithmetic_is_worked_out(expression: str, result: str) -> None:
    assert calculate(expression) == result


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('x')",
        "(1).__class__",
        "open",
        "[1][0]",
        "lambda: 1",
        "'a' * 9",
        "True + 1",
        "9**9**9",
        "256**256",
        "1e308 * 10",
        "(-8) ** 0.5",
        "1/0",
        "sqrt(-1)",
        "factorial(9)",
        "sqrt(1, 2)",
        "max(*[1, 2])",
        "round(1, ndigits=1)",
        "3 km",
        "",
        "-" * 150 + "1",
        "1" * 300,
        "9" * 190 + "**9",
    ],
)
def test_anything_else_is_refused_at_once(expression: str) -> None:
    with at_most(0.5), pytest.raises(UsageError):
        calculate(expression)


def test_markers_are_filled_in_and_bad_ones_keep_their_words() -> None:
    assert fill("It is {{calc: 3*7}} and {{ Calc: 1/0 }}.") == "It is 21 and 1/0."
    assert fill("{{ template }} stays") == "{{ template }} stays"
    assert without_unfinished("It is {{calc: 3") == "It is "


@pytest.mark.parametrize(
    "expression", ["1(2)", "0x 1 in", "lambda.5is 1", "f1.1jor 2", r"'\d'", "2if 1else 3"]
)
def test_what_is_no_arithmetic_makes_python_warn_of_nothing(expression: str) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(UsageError):
            calculate(expression)
    assert not warned
