"""Units by pint, which is only imported once somebody has written a quantity: it takes .2 s."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pint

Quantity: TypeAlias = Any
"""A quantity of pint, exact: its magnitude is a fraction."""

DIGITS = 12
"""Significant digits of what has no end."""
_PLAIN = (-9, 20)
"""Powers of ten between which a number is written without an exponent."""

_TIME, _DATA, _COUNT, _OTHER = "time", "data", "count", "other"
_LETTERS = {"k": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_METRIC = ("kilo", "mega", "giga", "tera", "peta")
_BINARY = ("kibi", "mebi", "gibi", "tebi", "pebi")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its name for pint, how one and several are written, its kind, and how people spell it.

    `exact` are spellings in which capitals count: `Mb` is a megabit, `MB` and `mb` are megabytes.
    """

    name: str
    one: str
    many: str
    kind: str
    spelled: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    def of(self, value: Fraction) -> str:
        """Write a number of it."""
        return f"{written(value)} {self.one if value == 1 else self.many}"


def _times() -> Iterable[Unit]:
    for name, short in (
        ("microsecond", ("us", "µs", "μs", "usec")),
        ("millisecond", ("ms", "msec", "msecs", "millis")),
        ("second", ("s", "sec", "secs")),
        ("minute", ("min", "mins", "m")),
        ("hour", ("h", "hr", "hrs")),
        ("day", ("d",)),
        ("week", ("wk", "wks")),
        ("month", ()),
        ("year", ("yr", "yrs")),
    ):
        yield Unit(name, name, f"{name}s", _TIME, (name, f"{name}s", *short))


def _data() -> Iterable[Unit]:
    yield Unit("byte", "byte", "bytes", _DATA, ("byte", "bytes"), ("B",))
    yield Unit("bit", "bit", "bits", _DATA, ("bit", "bits"))
    for (letter, _power), metric, binary in zip(_LETTERS.items(), _METRIC, _BINARY, strict=True):
        upper = letter.upper()
        yield _sized(f"{metric}byte", f"{letter}B", (f"{letter}b", f"{letter}byte", f"{letter}bytes"))
        bits = (f"{letter}bit", f"{letter}bits")
        yield _sized(f"{metric}bit", f"{letter}bit", bits, (f"{upper}b",))
        yield _sized(f"{binary}byte", f"{upper}iB", (f"{letter}ib",))
        yield _sized(f"{binary}bit", f"{upper}ibit", (f"{letter}ibit", f"{letter}ibits"))


def _sized(name: str, short: str, spelled: tuple[str, ...], exact: tuple[str, ...] = ()) -> Unit:
    return Unit(name, short, short, _DATA, (name, f"{name}s", *(one.lower() for one in spelled)), exact)


def _others() -> Iterable[Unit]:
    short_ones: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("millimetre", "mm", ("mm", "millimeter", "millimeters")),
        ("centimetre", "cm", ("cm", "centimeter", "centimeters")),
        ("metre", "m", ("m", "meter", "meters")),
        ("kilometre", "km", ("km", "kilometer", "kilometers")),
        ("milligram", "mg", ("mg",)),
        ("gram", "g", ("g",)),
        ("kilogram", "kg", ("kg", "kgs", "kilo", "kilos")),
        ("hertz", "Hz", ("hz",)),
        ("kilohertz", "kHz", ("khz",)),
        ("megahertz", "MHz", ("mhz",)),
        ("gigahertz", "GHz", ("ghz",)),
    )
    for name, short, spelled in short_ones:
        yield Unit(name, short, short, _OTHER, (name, f"{name}s", *spelled))
    long_ones: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("inch", "inches", ()),
        ("foot", "feet", ("ft",)),
        ("yard", "yards", ("yd",)),
        ("mile", "miles", ("mi",)),
        ("ounce", "ounces", ("oz",)),
        ("pound", "pounds", ("lb", "lbs")),
        ("radian", "radians", ("rad",)),
        ("degree", "degrees", ("deg",)),
    )
    for name, many, spelled in long_ones:
        yield Unit(name, name, many, _OTHER, (name, many, *spelled))
    yield Unit("celsius", "°C", "°C", _OTHER, ("°c", "celsius", "centigrade"), ("C",))
    yield Unit("fahrenheit", "°F", "°F", _OTHER, ("°f", "fahrenheit"), ("F",))
    yield Unit("kelvin", "K", "K", _OTHER, ("kelvin", "kelvins"), ("K",))


def _counted() -> Iterable[Unit]:
    nouns = "call connection email event file item job line message page query record request row task user"
    for noun in nouns.split():
        many = "queries" if noun == "query" else f"{noun}s"
        yield Unit(noun, noun, many, _COUNT, (noun, many))


_DEFINED = """\
second = [time]
microsecond = 1/1000000 * second
millisecond = 1/1000 * second
minute = 60 * second
hour = 60 * minute
day = 24 * hour
week = 7 * day
year = 365 * day
month = year / 12
bit = [information]
byte = 8 * bit
metre = [length]
millimetre = 1/1000 * metre
centimetre = 1/100 * metre
kilometre = 1000 * metre
inch = 0.0254 * metre
foot = 0.3048 * metre
yard = 0.9144 * metre
mile = 1609.344 * metre
gram = [mass]
milligram = 1/1000 * gram
kilogram = 1000 * gram
pound = 453.59237 * gram
ounce = pound / 16
hertz = [cycles]
kilohertz = 1000 * hertz
megahertz = 1000000 * hertz
gigahertz = 1000000000 * hertz
radian = [angle]
degree = 3.14159265358979323846 / 180 * radian
kelvin = [temperature]; offset: 0
celsius = kelvin; offset: 273.15
fahrenheit = 5/9 * kelvin; offset: 233.15 + 200/9
"""
"""All that is known, so that making the registry takes a millisecond instead of a tenth of a second."""

UNITS = (*_times(), *_data(), *_others(), *_counted())
_BY_NAME = {unit.name: unit for unit in UNITS}


@cache
def _spellings() -> dict[str, list[Unit]]:
    found: dict[str, list[Unit]] = {}
    for unit in UNITS:
        for spelled in dict.fromkeys(unit.spelled):
            found.setdefault(spelled, []).append(unit)
    return found


@cache
def _exact() -> dict[str, Unit]:
    return {spelled: unit for unit in UNITS for spelled in unit.exact}


def units_of(word: str) -> list[Unit]:
    """Return the units that a word may be: `m` is a minute or a metre; none for other words."""
    exact = _exact().get(word)
    return [exact] if exact else _spellings().get(word.lower(), [])


_PER_SECOND = {f"{letter}bps": f"{name}bit" for letter, name in zip("kmgt", _METRIC, strict=False)}


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
    lines = _DEFINED.splitlines()
    for power, (metric, binary) in enumerate(zip(_METRIC, _BINARY, strict=True), start=1):
        for what in ("byte", "bit"):
            lines += [
                f"{metric}{what} = {1000**power} * {what}",
                f"{binary}{what} = {1024**power} * {what}",
            ]
    lines += [f"{unit.name} = [{unit.name}]" for unit in UNITS if unit.kind == _COUNT]
    for line in lines:
        made.define(line)
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
