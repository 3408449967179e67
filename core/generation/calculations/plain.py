"""What is nothing but a calculation, by its whole wording: sums, conversions, rates, dates, percentages.

A question is taken only where every word of it belongs to a form; whatever has one word more is a question
for the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from itertools import pairwise

from core.errors import UsageError
from core.generation.calculations import dates, units
from core.generation.calculations.amounts import MISFITS, Amount, NoAmount, amount
from core.generation.calculations.measured import measured, shown
from core.generation.calculations.wording import Calculation, Said, Token, said
from core.generation.calculator import calculate

_WORDS = {"plus": "+", "minus": "-", "times": "*", "x": "*"}
_CALLS = ("sqrt", "abs", "ceil", "exp", "floor", "log", "log10", "log2", "max", "min", "round")
_OPERATORS = frozenset({"+", "-", "*", "/", "//", "%", "**", "^"})
_LISTS = ("sum", "average", "mean")
_ALWAYS_ON = frozenset({"24/7", "50/50", "9/11"})
_PERCENT = frozenset({"%", "percent", "percentage"})


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
    working = re.sub(r"\( | (?=[),])", lambda match: match[0].strip(), " ".join(written))
    return Calculation(result, re.sub(r"(?<=[a-z]) \(", "(", working))


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


def percentages(told: Said) -> Calculation | None:
    """Work out a question about percentages; None for every other one, and MISFITS for no amounts."""
    tokens = list(told.tokens)
    words = [token.low for token in tokens]
    if not _PERCENT & set(words):
        return None
    if tokens[0].kind == "number" and words[1:3] in (["%", "of"], ["percent", "of"]):
        share, whole = tokens[0].number, _amount_or_number(tokens[3:])
        return _of(whole, share / 100, f"{units.written(share)}% of {shown(tokens[3:])}")
    for frame in (
        ["what", "percentage", "is"], ["what", "percent", "is"], ["how", "many", "percent", "is"],
        ["how", "many", "percent", "are"], ["which", "percentage", "is"],
    ):  # fmt: skip
        if words[: len(frame)] == frame:
            return _share(tokens[len(frame) :])
    if words[-2:] in (["in", "percent"], ["in", "%"], ["as", "percentage"]):
        return _share(tokens[:-2])
    for frame in (["is", "what", "percent", "of"], ["is", "what", "percentage", "of"]):
        for at in range(1, len(words) - len(frame)):
            if words[at : at + len(frame)] == frame:
                return _share([*tokens[:at], tokens[at + 3], *tokens[at + 4 :]])
    if words[0] == "the":
        tokens, words = tokens[1:], words[1:]
    if words[:2] in (["percentage", "change"], ["percent", "change"], ["percentage", "increase"],
                     ["percentage", "decrease"], ["percentage", "difference"]):  # fmt: skip
        return _change(tokens[2:])
    return _raised(tokens)


def _amount_or_number(tokens: Sequence[Token]) -> Amount:
    found = amount(tokens)
    if found.measure is None and not found.value.unitless:
        raise NoAmount
    return found


def _of(whole: Amount, share: Fraction, working: str) -> Calculation:
    if whole.measure is None:
        return Calculation(units.written(Fraction(whole.value.magnitude) * share), working)
    value = units.converted(whole.value, whole.measure.name) * share
    return Calculation(whole.measure.of(value), working)


def _share(tokens: Sequence[Token]) -> Calculation | None:
    """Return how many per cent the first of two amounts, parted by "of", is of the second."""
    words = [token.low for token in tokens]
    if words.count("of") != 1:
        return None
    at = words.index("of")
    part, whole = _amount_or_number(tokens[:at]), _amount_or_number(tokens[at + 1 :])
    ratio = part.value / whole.value
    if not ratio.dimensionless:
        return None
    value = Fraction(ratio.to("").magnitude) * 100
    return Calculation(f"{units.written(value)}%", f"{shown(tokens[:at])} / {shown(tokens[at + 1 :])} × 100")


def _change(tokens: Sequence[Token]) -> Calculation | None:
    words = [token.low for token in tokens]
    if words[:1] not in (["from"], ["between"]) or not {"to", "and"} & set(words):
        return None
    at = next(n for n, word in enumerate(words) if word in ("to", "and"))
    old, new = _amount_or_number(tokens[1:at]), _amount_or_number(tokens[at + 1 :])
    ratio = (new.value - old.value) / old.value
    value = Fraction(ratio.to("").magnitude) * 100
    working = f"({shown(tokens[at + 1 :])} - {shown(tokens[1:at])}) / {shown(tokens[1:at])} × 100"
    return Calculation(f"{units.written(value)}%", working)


def _raised(tokens: Sequence[Token]) -> Calculation | None:
    """Read "80 + 20%"."""
    words = [token.low for token in tokens]
    if len(tokens) < 4 or words[-1] not in ("%", "percent") or tokens[-2].kind != "number":
        return None
    way = {"+": 1, "plus": 1, "-": -1, "minus": -1}.get(words[-3])
    if way is None:
        return None
    base, share = _amount_or_number(tokens[:-3]), tokens[-2].number
    sign = "+" if way > 0 else "-"
    return _of(base, 1 + way * share / 100, f"{shown(tokens[:-3])} {sign} {units.written(share)}%")


def plain(text: str, today: datetime) -> Calculation | None:
    """Work out a question that is nothing but a calculation; None for every other one."""
    told = said(text)
    if told is None:
        return None
    if any(token.kind in ("date", "clock") for token in told.tokens) or _speaks_of_today(told.tokens):
        of_dates = dates.worked(told.tokens, today)
        return Calculation(*of_dates) if of_dates else None
    for form in (percentages, measured, arithmetic):
        try:
            if found := form(told):
                return found
        except MISFITS:
            continue
    return None


def _speaks_of_today(tokens: Sequence[Token]) -> bool:
    return any(token.low in ("today", "ago") for token in tokens)
