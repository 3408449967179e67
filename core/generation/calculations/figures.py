"""A figure of the documentation in the unit that a question asks for: "how many hours is the timeout?"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from core.generation.calculations import units
from core.generation.calculations.amounts import Measure
from core.generation.calculations.units import Unit, units_of

_KINDS = frozenset({"time", "data"})
_ASKS = re.compile(
    r"\bhow\s+many\s+(?P<many>[^\W\d_]{1,14})\b(?!\s+(?:ago|of)\b)"
    r"|\b(?:in|into|to|as)\s+(?P<into>[^\W\d_]{2,14})(?=\s{0,2}+(?:[?.!,]|$|by\s+default\b))",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"(?<![\w.,:/-])(?P<number>\d{1,15}(?:[.,_]\d{1,15}){0,4}+)(?P<code>`?)[ \u00a0-]?"
    r"(?P<unit>[^\W\d_]{1,12})(?![\w(=])"
)
_CODE = re.compile(
    r"(?:timedelta\()?\b(?P<unit>days|hours|minutes|seconds|weeks)\s?=\s?(?P<number>\d{1,12})\b"
)
_MARK = re.compile(r"\[(\d{1,3})\]")
_ALONE = frozenset({"s", "h"})
"""Letters that name a unit behind a figure by themselves."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as it stands in a text, in its unit, with the number of its source, 0 for none."""

    text: str
    value: Fraction
    unit: Unit
    source: int = 0


def wanted(question: str) -> Unit | None:
    """Return the unit of time or size that a question asks for; None for none and for several."""
    found: dict[str, Unit] = {}
    for match in _ASKS.finditer(question):
        word = match["many"] or match["into"]
        unit = next((one for one in units_of(word) if one.kind in _KINDS), None)
        if unit is not None and len(word) > 1:
            found[unit.name] = unit
    return next(iter(found.values())) if len(found) == 1 else None


def figures(text: str) -> list[Figure]:
    """Return the times and sizes in a text, each with the number of the source that follows it."""
    marks = [(match.start(), int(match[1])) for match in _MARK.finditer(text)]
    found: list[tuple[int, Figure]] = []
    for match in (*_FIGURE.finditer(text), *_CODE.finditer(text)):
        word = match["unit"]
        unit = next((one for one in units_of(word) if one.kind in _KINDS), None)
        if unit is None or (len(word) == 1 and word not in _ALONE):
            continue
        number = match["number"].replace("_", "")
        number = number.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number) else number
        if not re.fullmatch(r"\d+(?:\.\d+)?", number):
            continue
        source = next((n for at, n in marks if at >= match.end()), 0)
        told = f"{units.written(Fraction(number))} {unit.one if number == '1' else unit.many}"
        found.append((match.start(), Figure(told, Fraction(number), unit, source)))
    return [figure for _at, figure in sorted(found, key=lambda one: one[0])]


def converted(question: str, answer: str) -> tuple[Figure, str] | None:
    """Return the one figure of an answer that is of the kind asked for, and what it is in that unit.

    None where the answer tells it in that unit already, or tells several that differ: nobody knows then which
    one is meant. A figure that the question tells itself has to be among them; it stands in for one where the
    answer has none.
    """
    unit = wanted(question)
    if unit is None:
        return None
    here = [one for one in figures(answer) if one.unit.kind == unit.kind]
    own = [one for one in figures(question) if one.unit.kind == unit.kind]
    if any(one.unit == unit for one in here):
        return None
    candidates = here or own
    sizes = {_base(one) for one in candidates}
    if len(sizes) != 1 or {_base(one) for one in own} - sizes:
        return None
    figure = candidates[0]
    value = units.converted(units.quantity(figure.value, figure.unit.name), unit.name)
    return figure, Measure(unit).of(value)


def _base(figure: Figure) -> Fraction:
    return units.converted(
        units.quantity(figure.value, figure.unit.name), "second" if figure.unit.kind == "time" else "bit"
    )
