"""Units by pint, which is only imported once somebody has written a quantity: it takes .2 s."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pint

Quantity: TypeAlias = Any
"""A quantity of pint, exact: its magnitude is a fraction."""

DIGITS = 12
"""Significant digits of what has no end."""
_PLAIN = (-9, 20)
"""Powers of ten between which a number is written without an exponent."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its name for pint, how one and several are written, its kind, and how people spell it.

    `exact` are spellings in which capitals count: `Mb` is a megabit, `MB` and `mb` are megabytes.
    """

    name: str
    one: str
    many: str
    kind: str
    spelled: tuple[str, ...]
    exact: tuple[str, ...]
    definition: str

    def of(self, value: Fraction) -> str:
        """Write a number of it."""
        return f"{written(value)} {self.one if value == 1 else self.many}"


UNITS = tuple(
    Unit(name, one, many, kind, tuple(spelled.split()), tuple(exact.split()), definition)
    for kind, rows in tomllib.loads(Path(__file__).with_name("units.toml").read_text("utf-8")).items()
    for name, one, many, spelled, exact, definition in rows
)
_BY_NAME = {unit.name: unit for unit in UNITS}
_PER_SECOND = {"kbps": "kilobit", "mbps": "megabit", "gbps": "gigabit", "tbps": "terabit"}


@cache
def _spellings() -> dict[str, list[Unit]]:
    found: dict[str, list[Unit]] = {}
    for unit in UNITS:
        for spelled in unit.spelled:
            found.setdefault(spelled, []).append(unit)
    return found


@cache
def _exact() -> dict[str, Unit]:
    return {spelled: unit for unit in UNITS for spelled in unit.exact}


def units_of(word: str) -> list[Unit]:
    """Return the units that a word may be: `m` is a minute or a metre; none for other words."""
    exact = _exact().get(word)
    return [exact] if exact else _spellings().get(word.lower(), [])


def per_second(word: str) -> Unit | None:
    """Return what a word counts by the second: `Mbps` megabits, `MBps` megabytes."""
    if word.lower() not in _PER_SECOND:
        return None
    return _BY_NAME[_PER_SECOND[word.lower()].replace("bit", "byte" if "B" in word else "bit")]


@cache
def registry() -> pint.UnitRegistry[Any]:
    """Return the one registry, with no other units than ours."""
    import pint

    made: pint.UnitRegistry[Any] = pint.UnitRegistry(
        None, non_int_type=Fraction, autoconvert_offset_to_baseunit=False
    )
    for unit in UNITS:  # no others, so that this takes a millisecond instead of a tenth of a second
        made.define(f"{unit.name} = {unit.definition}")
    return made


def quantity(value: Fraction, unit: str = "") -> Quantity:
    """Return a quantity of a unit, or of several (`mebibyte / second`); a mere number without one."""
    return registry().Quantity(value, unit or None)


def converted(value: Quantity, unit: str) -> Fraction:
    """Return how many of a unit a quantity is; raises pint's errors, which are TypeErrors or ValueErrors."""
    return Fraction(value.to(unit).magnitude)


def alike(value: Quantity, unit: str) -> bool:
    """Return True if a quantity can be told in a unit."""
    return bool(value.is_compatible_with(unit))


def named(name: str) -> Unit:
    """Return a unit by pint's name; raises KeyError."""
    return _BY_NAME[name]


def written(value: Fraction) -> str:
    """Write a number: whole where it is, else with twelve significant digits at most."""
    if value.denominator == 1:
        return str(value.numerator)
    context = Context(prec=DIGITS)
    exact = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if _PLAIN[0] < exact.adjusted() < _PLAIN[1]:
        return f"{exact.normalize(context):f}"
    return f"{exact.normalize(context)}"
