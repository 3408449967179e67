"""Sums of mere numbers, in signs or in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from core.errors import UsageError
from core.generation.calculations import units
from core.generation.calculations.wording import Calculation, Said, Token
from core.generation.calculator import calculate

_WORDS = {"plus": "+", "minus": "-", "times": "*", "x": "*"}
_CALLS = ("sqrt", "abs", "ceil", "exp", "floor", "log", "log10", "log2", "max", "min", "round")
_OPERATORS = frozenset({"+", "-", "*", "/", "//", "%", "**", "^"})
_LISTS = ("sum", "average", "mean")
_ALWAYS_ON = frozenset({"24/7", "50/50", "9/11"})


def arithmetic(told: Said) -> Calculation | None:
    """Work out a sum; None for what is a range, a version, a date or a telephone number, and for words."""
    tokens = list(told.tokens)
    if found := _listed(tokens):
        return found
    written = _expression(tokens)
    if not written or not _is_sum(told, written):
        return None
    try:
        result = calculate(" ".join(written))
    except UsageError:
        return None
    shown = re.sub(r"\( | (?=[),])", lambda match: match[0].strip(), " ".join(written))
    return Calculation(result, re.sub(r"(?<=[a-z]) \(", "(", shown))


def _expression(tokens: Sequence[Token]) -> list[str]:
    """Return the parts of an expression; nothing where a word or sign is in it that is of none."""
    written: list[str] = []
    left = list(tokens)
    if [token.low for token in left[:4]] == ["the", "square", "root", "of"]:
        left = left[1:]
    while left:
        token, words = left[0], [one.low for one in left[:4]]
        if words[:3] == ["square", "root", "of"] and len(left) > 3 and left[3].kind == "number":
            written += ["sqrt", "(", left[3].text.replace(",", ""), ")"]
            left = left[4:]
        elif words[:4] == ["to", "the", "power", "of"]:
            written.append("**")
            left = left[4:]
        elif words[:2] == ["divided", "by"]:
            written.append("/")
            left = left[2:]
        elif words[:2] == ["multiplied", "by"]:
            written.append("*")
            left = left[2:]
        elif token.low in _WORDS:
            if token.low == "x" and not (token.spaced and len(left) > 1 and left[1].spaced):
                return []
            written.append(_WORDS[token.low])
            left = left[1:]
        elif token.kind == "number":
            written.append(units.written(token.number) if "," in token.text else token.text)
            left = left[1:]
        elif token.low in _CALLS and len(left) > 1 and left[1].text == "(":
            written.append(token.low)
            left = left[1:]
        elif token.text in _OPERATORS or token.text in "(),":
            written.append("**" if token.text == "^" else token.text)
            left = left[1:]
        else:
            return []
    return written


def _is_sum(told: Said, written: Sequence[str]) -> bool:
    """Return True if an expression is meant to be worked out: no range, version, date or telephone number."""
    signs = [one for one in written if one in _OPERATORS]
    numbers = [token for token in told.tokens if token.kind == "number"]
    called = any(one in _CALLS for one in written)
    if not numbers or not (called or (signs and len(numbers) > 1)):
        return False
    if told.explicit or called:
        return True
    tight = not any(token.spaced for token in told.tokens[1:])
    versions = all(token.dotted for token in numbers)
    if set(signs) <= {"-", "/"}:
        if not told.asked or "".join(written) in _ALWAYS_ON or versions:
            return False
        return not (tight and len(numbers) > 2)
    return told.asked or not versions or "+" not in signs


def _listed(tokens: Sequence[Token]) -> Calculation | None:
    """Read "the average of 3, 4 and 8"."""
    words = [token.low for token in tokens]
    if words[:1] == ["the"]:
        tokens, words = tokens[1:], words[1:]
    if words[1:2] != ["of"] or words[0] not in _LISTS:
        return None
    rest = tokens[2:]
    values = [token.number for token in rest if token.kind == "number"]
    if len(values) < 2 or any(token.kind != "number" and token.low not in (",", "and") for token in rest):
        return None
    if any(one.kind == other.kind == "number" for one, other in pairwise(rest)):
        return None
    total = sum(values, Fraction(0))
    shown = " + ".join(map(units.written, values))
    if words[0] == "sum":
        return Calculation(units.written(total), shown)
    return Calculation(units.written(total / len(values)), f"({shown}) / {len(values)}")
