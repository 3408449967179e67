"""Amounts with units: converted, added, at a rate, over a time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from core.generation.calculations import units
from core.generation.calculations.amounts import MISFITS, Amount, Measure, amount, measures
from core.generation.calculations.wording import Calculation, Said, Token

_INTO = frozenset({"in", "to", "into", "as"})
_MAKES = frozenset({"is", "are", "in", "make", "makes", "equal", "equals"})
_CARRIES = frozenset(
    ["copy", "download", "upload", "send", "transfer", "move", "write", "read", "process", "handle", "stream"]
)
_LASTS = frozenset({"take", "takes", "last", "lasts"})


def measured(told: Said) -> Calculation | None:
    """Work out a question about amounts; None for every other one, and MISFITS for no amounts."""
    tokens = told.tokens
    if len(tokens) > 40 or not any(token.kind == "word" for token in tokens):
        return None
    if found := _how_many(tokens) or _how_long(tokens) or _how_fast(tokens):
        return found
    for at in range(len(tokens) - 1, 0, -1):
        if tokens[at].low in _INTO and (wanted := measures(tokens[at + 1 :])):
            return _converted(tokens[:at], wanted)
    if tokens[-1].low in _LASTS:
        tokens = tokens[:-1]
    found_amount = amount(tokens)
    if found_amount.measure is None and not found_amount.value.unitless:
        return None
    if not found_amount.loose or not found_amount.used:
        return None
    if not (told.explicit or told.asked) and not {"+", "for", "at"} & set(found_amount.loose):
        return None
    return _told(tokens, found_amount)


def _how_many(tokens: Sequence[Token]) -> Calculation | None:
    """Read "how many bytes are there in 16 MB"."""
    words = [token.low for token in tokens]
    if words[:2] != ["how", "many"]:
        return None
    for at in range(3, min(len(words), 6)):
        wanted = measures(tokens[2:at])
        if not wanted:
            continue
        rest = list(tokens[at:])
        if rest and rest[0].low == "do" and rest[-1].low == "make":
            return _converted(rest[1:-1], wanted)
        if not rest or rest[0].low not in _MAKES:
            continue
        while rest and rest[0].low in (*_MAKES, "there"):
            rest = rest[1:]
        return _converted(rest, wanted)
    return None


def _how_long(tokens: Sequence[Token]) -> Calculation | None:
    """Read "how long does it take to copy 2 GB at 10 MB/s"."""
    words = [token.low for token in tokens]
    if words[:2] != ["how", "long"]:
        return None
    rest = list(tokens[2:])
    for frame in (("does", "it", "take"), ("will", "it", "take"), ("does",), ("do",), ("will",), ("for",)):
        if tuple(token.low for token in rest[: len(frame)]) == frame:
            rest = rest[len(frame) :]
            break
    if len(rest) > 2 and rest[0].low in ("to", "for"):
        rest = rest[2:] if rest[1].low in _CARRIES else rest[1:]
    rest = [token for token in rest if token.low not in _LASTS]
    if not any(token.low == "at" for token in rest):
        return None
    return _told(rest, amount(rest))


def _how_fast(tokens: Sequence[Token]) -> Calculation | None:
    """Read "how fast is 2 GB in 5 minutes"."""
    words = [token.low for token in tokens]
    if words[:3] != ["how", "fast", "is"] or words.count("in") != 1:
        return None
    at = words.index("in")
    much, time = amount(tokens[3:at]), amount(tokens[at + 1 :])
    if much.measure is None or much.measure.under or not units.alike(time.value, "second"):
        return None
    second = units.named("second")
    best = Measure(much.measure.over, second)
    value = units.converted(much.value / time.value, best.name)
    for smaller in ("gigabyte", "megabyte", "kilobyte", "byte"):
        if value < 1 and much.measure.over.kind == "data":
            best = Measure(units.named(smaller), second)
            value = units.converted(much.value / time.value, best.name)
    working = f"{shown(tokens[3:at])} / {shown(tokens[at + 1 :])}"
    return Calculation(best.of(value), working, _facts((*much.used, *time.used), best))


def _converted(tokens: Sequence[Token], wanted: Sequence[Measure]) -> Calculation | None:
    """Tell an amount in the first of the measures that it can be told in."""
    for measure in wanted:
        try:
            found = amount(tokens, measure)
            if found.measure is None or not units.alike(found.value, measure.name):
                continue
            value = units.converted(found.value, measure.name)
        except MISFITS:
            continue
        return Calculation(measure.of(value), shown(tokens), _facts(found.used, measure))
    return None


def _told(tokens: Sequence[Token], found: Amount) -> Calculation | None:
    """Tell an amount in the unit that it was first told in; a time also in hours, minutes and seconds."""
    if found.value.unitless or found.value.dimensionless:
        value = Fraction(found.value.to("").magnitude)
        return Calculation(units.written(value), shown(tokens), _facts(found.used, None))
    if found.measure is None or not units.alike(found.value, found.measure.name):
        return None
    value = units.converted(found.value, found.measure.name)
    facts = _facts(found.used, found.measure)
    if "at" in found.loose and (told := _spelled(value)):
        facts += (f"{found.measure.of(value)} = {told}",)
    return Calculation(found.measure.of(value), shown(tokens), facts)


def _spelled(seconds: Fraction) -> str:
    """Return seconds in days, hours and minutes; empty for less than a minute, and for parts of one."""
    parts: list[str] = []
    if seconds < 60 or seconds.denominator != 1:
        return ""
    left = int(seconds)
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        parts += [units.named(name).of(Fraction(count))] if count else []
    return " ".join(parts)


_SHOWN = {"for": "×", "at": "÷", "*": "×", "x": "×", "times": "×"}


def shown(tokens: Sequence[Token]) -> str:
    """Write what was worked out as somebody would on paper."""
    parts: list[str] = []
    for at, token in enumerate(tokens):
        tight = at and not token.spaced and (token.text in "/),°" or tokens[at - 1].text in "/(")
        parts.append(f"{'' if tight or not at else ' '}{_SHOWN.get(token.low, token.text)}")
    return "".join(parts)


_BINARY = {"kilobyte": "kibibyte", "megabyte": "mebibyte", "gigabyte": "gibibyte", "terabyte": "tebibyte"}
_INEXACT = frozenset({"month", "year"})


def _facts(used: Sequence[units.Unit], measure: Measure | None) -> tuple[str, ...]:
    """Return by what the units of an amount become those of the result, and of a size what `MB` counts in."""
    wanted = [one for one in (measure.over, measure.under) if one] if measure else []
    told = ["1 year = 365 days"] if _INEXACT & {unit.name for unit in (*used, *wanted)} else []
    for kind in ("data", "time"):
        here = [unit for unit in used if unit.kind == kind]
        target = next((unit for unit in wanted if unit.kind == kind), here[-1] if here else None)
        for unit in here if target else ():
            if unit != target:
                told.append(_fact(unit, target))  # type: ignore[arg-type]
                other_size = _BINARY.get(unit.name)
                if other_size and target.name in ("byte", "bit"):  # type: ignore[union-attr]
                    told.append(_fact(units.named(other_size), target))  # type: ignore[arg-type]
    return tuple(dict.fromkeys(told))


def _fact(unit: units.Unit, other: units.Unit) -> str:
    ratio = units.converted(units.quantity(Fraction(1), unit.name), other.name)
    if ratio < 1:
        return _fact(other, unit)
    return f"1 {unit.one} = {other.of(ratio)}"
