"""Arithmetic by a whitelist over the syntax tree: no names, no attributes, no evaluation of code."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from core.errors import UsageError
from core.text.words import quantities
from core.vocabulary import NUMBER_WORDS, UNITS

MAX_CHARACTERS: Final = 200
MAX_DEPTH: Final = 30
MAX_EXPONENT: Final = 256
MAX_BITS: Final = 2048
"""Size of the largest whole number on the way; about 616 digits. It bounds time as well."""
SIGNIFICANT_DIGITS: Final = 12

Number = int | float

_MARKER = re.compile(r"\{\{\s*+calc\s*+:([^{}]{1,400})\}\}", re.IGNORECASE)
_KEYWORDS = ("and", "else", "for", "if", "in", "is", "not", "or")
"""What Python reads with a warning where it stands behind a number in one word (`lambda.5is 1`, too)."""
_UNFINISHED = re.compile(r"\{\{?[^{}]*\}?$")

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "abs": (abs, 1, 1),
    "ceil": (math.ceil, 1, 1),
    "exp": (math.exp, 1, 1),
    "floor": (math.floor, 1, 1),
    "log": (math.log, 1, 2),
    "log10": (math.log10, 1, 1),
    "log2": (math.log2, 1, 1),
    "max": (max, 2, 20),
    "min": (min, 2, 20),
    "round": (round, 1, 2),
    "sqrt": (math.sqrt, 1, 1),
    "sum": (lambda *values: math.fsum(values), 2, 20),
}
_CONSTANTS = {"pi": math.pi, "e": math.e}

_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_SUM = re.compile(r"(?<![\d_,.])\d[\d_,.]{0,20}+(?:\s{0,2}+(?:\*\*|[*×x+/-])\s{0,2}+\d[\d_,.]{0,20}+){1,8}+")
_TIMES = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "week": 604800.0}
_SIZES = {
    kind: {"b": 1.0, "kb": kilo, "mb": kilo**2, "gb": kilo**3}
    for kind, kilo in (("decimal", 1000.0), ("binary", 1024.0))
}
_COUNTED = re.compile(rf"\b(?:an?|{'|'.join(NUMBER_WORDS)})(?=\s+[A-Za-z])", re.IGNORECASE)
"""A number in words before what it counts: "two weeks", "an hour"."""
FACTORS = ("1000", "1024", "60", "3600", "24", "7", "86400", "1048576", "1000000")


def calculate(expression: str) -> str:
    """Work out an arithmetic expression; `×`, `÷`, `^` and `1,000` are understood.

    Raises UsageError where it is too long, too large or no arithmetic.
    """
    text = expression.strip()
    if len(text) > MAX_CHARACTERS:
        raise UsageError(f"An expression may have {MAX_CHARACTERS} characters; shorten it.")
    words = re.findall(r"[\w.]+", text.lower())
    clings = any(not word.isalpha() and any(one in word for one in _KEYWORDS) for word in words)
    if clings or re.search(r"[\"'\\]", text):  # Python reads texts with warnings of their own
        raise UsageError(f"{text!r} is not arithmetic.")
    text = text.replace("×", "*").replace("÷", "/").replace("−", "-").replace("^", "**")
    text = _GROUPED.sub(_ungrouped, text)
    try:
        tree = ast.parse(text, mode="eval")
        value = _bounded(_value(tree.body, 0))
    except UsageError:
        raise
    except SyntaxError as error:
        raise UsageError(f"{expression.strip()!r} is not arithmetic.") from error
    except (ValueError, ArithmeticError, TypeError, RecursionError, MemoryError) as error:
        raise UsageError(f"{expression.strip()!r} cannot be worked out: {error}.") from error
    return _written(value)


def _ungrouped(found: re.Match[str]) -> str:
    """Take commas out of a number; between the values of a function they may part two numbers: `max(1,500)`.

    They part none where no number begins so (`1,000`), or where the others have a space behind them.
    """
    parts = re.search(r"[a-z0-9]\s?\([^()]{0,200}+\Z", found.string[: found.start()])
    spaced = re.search(r",\s", found.string) or ",0" in found[0]
    return found[0] if parts and not spaced else found[0].replace(",", "")


def fill(text: str) -> str:
    """Replace every `{{calc: …}}` by its result, or by the expression where there is none."""

    def result(match: re.Match[str]) -> str:
        try:
            return calculate(match.group(1))
        except UsageError:
            return match.group(1).strip()

    return _MARKER.sub(result, text)


_OFTEN = {"half": 0.5, "twice": 2, "double": 2} | {
    f"{word} times": often
    for often, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)
}
_TIMES_OF = re.compile(rf"\b(?:{'|'.join(_OFTEN)})\b", re.IGNORECASE)


def worked_out(text: str) -> list[tuple[str, str]]:
    """Return every expression that `fill` works out, with its result."""
    return [(found[1], fill(found[0])) for found in _MARKER.finditer(text)]


def without_unfinished(text: str) -> str:
    """Leave out a marker at the end that is still being written."""
    return _UNFINISHED.sub("", text) if "{{" in text[-MAX_CHARACTERS:] else text


def _value(node: ast.expr, depth: int) -> Number:
    if depth > MAX_DEPTH:
        raise UsageError("The expression is nested too deeply; split it.")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, depth + 1)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, depth + 1)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, depth + 1), _value(right, depth + 1))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _bounded(_BINARY[type(op)](_value(left, depth + 1), _value(right, depth + 1)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            function, fewest, most = _FUNCTIONS[name]
            if not fewest <= len(args) <= most:
                raise UsageError(f"{name} takes {fewest} to {most} values.")
            return _bounded(function(*(_value(argument, depth + 1) for argument in args)))
    raise UsageError("Only numbers, + - * / // % **, parentheses and a few functions can be worked out.")


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > MAX_EXPONENT:
        raise UsageError(f"An exponent may be {MAX_EXPONENT} at most.")
    # Checked beforehand: the power itself is what would take the time.
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > MAX_BITS:
        raise UsageError("The result is too large.")
    return _bounded(base**exponent)


def _bounded(value: object) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UsageError("The result is too large.")
        return value
    if not isinstance(value, int):
        raise UsageError("The result is not a real number.")
    if value.bit_length() > MAX_BITS:
        raise UsageError("The result is too large.")
    return value


def _written(value: Number) -> str:
    if isinstance(value, int):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{SIGNIFICANT_DIGITS}g}"


def follows(value: str, said: str, known: Mapping[str, Collection[str]], unit: str = "") -> bool:
    """Return True if a number is a result of, or a factor in, a sum of known numbers that stands there.

    `known` has the units of each number; the same quantity in another unit follows, too.
    """
    if not re.fullmatch(r"\d[\d.]*", value):
        return False
    for expression in _SUM.findall(said):
        operands = [
            one.rstrip(".,").replace("_", "").replace(",", "")
            for one in re.findall(r"\d[\d_,.]*", expression)
        ]
        if not any(one in known for one in operands) or not all(
            one in known or one in FACTORS for one in operands
        ):
            continue
        try:
            result = calculate(expression.replace("_", "").replace(",", "").replace("x", "*").rstrip(". "))
        except UsageError:
            continue
        if value in operands or value == result:
            return True
    return _is_converted(value, unit, known)


def multiples(text: str, numbers: Collection[str]) -> set[str]:
    """Return numbers taken as often as a text says: 60 of 20, where it has "three times the interval"."""
    times = [_OFTEN[word.lower()] for word in _TIMES_OF.findall(text)]
    plain = [float(one) for one in numbers if re.fullmatch(r"\d+(?:\.\d+)?", one)] if times else []
    return {_written(often * one) for often in times for one in plain}


def restated(text: str) -> set[tuple[str, str]]:
    """Return the times and sizes of a text in their other units, where that is whole: 14 d of "two weeks"."""
    digits = _COUNTED.sub(lambda found: NUMBER_WORDS.get(found[0].lower(), "1"), text)
    told = ((value, UNITS.get(unit, "")) for value, unit in quantities(digits))
    found = set[tuple[str, str]]()
    for value, unit in told:
        is_number = re.fullmatch(r"\d{1,9}(?:\.\d{1,3})?", value)
        for scale in (_TIMES, *_SIZES.values()):
            if is_number and unit in scale:
                amounts = {other: float(value) * scale[unit] / size for other, size in scale.items()}
                found |= {(_written(one), other) for other, one in amounts.items() if one == int(one) != 0}
    return found


def _is_converted(value: str, unit: str, known: Mapping[str, Collection[str]]) -> bool:
    """Return True if a quantity is a known one in another unit."""
    for scale in (_TIMES, *_SIZES.values()):
        ours = float(value) * scale.get(unit, 0.0) if value.count(".") < 2 else 0.0
        for other, units in known.items():
            is_number = ours and re.fullmatch(r"\d+(?:\.\d+)?", other)
            if is_number and any(abs(float(other) * scale[u] - ours) < 1e-6 for u in scale.keys() & units):
                return True
    return False


def other_kind(unit: str, units: Collection[str]) -> bool:
    """Return True if a number has a unit of time or size, and all known ones are with other such units."""
    for scale in (_TIMES, _SIZES["decimal"]):
        if unit in scale:
            return unit not in units and all(other in scale for other in units)
    return False
