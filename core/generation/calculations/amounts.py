"""Numbers with units, added, multiplied, at a rate: read by descent over tokens, worked out exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from core.generation.calculations import units
from core.generation.calculations.units import Quantity, Unit, per_second, units_of
from core.generation.calculations.wording import Token

DEPTH = 20
"""Parentheses inside each other."""
_ARTICLES = {"a": Fraction(1), "an": Fraction(1), "one": Fraction(1), "half": Fraction(1, 2)}
_PER = frozenset({"/", "per"})
_SIGNS = {
    "plus": "+", "minus": "-", "times": "*", "x": "*", "+": "+", "-": "-", "*": "*", "/": "/",
}  # fmt: skip


class NoAmount(Exception):
    """What stands there is no amount."""


MISFITS = (NoAmount, ArithmeticError, ValueError, TypeError, KeyError, AttributeError)
"""What says that something is no amount: ours, and what pint and fractions raise."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A unit, or one by another (`MB/s`)."""

    over: Unit
    under: Unit | None = None

    @property
    def name(self) -> str:
        """Return what pint calls it."""
        return f"{self.over.name} / {self.under.name}" if self.under else self.over.name

    def of(self, value: Fraction) -> str:
        """Write a number of it."""
        if self.under is None:
            return self.over.of(value)
        time = {"second": "s", "minute": "min", "hour": "h", "day": "day"}.get(
            self.under.name, self.under.one
        )
        return f"{units.written(value)} {self.over.many}/{time}"


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount, the measure that it was first told in (None for a mere number), and what it is made of.

    `loose` are the signs between its parts: what has none is a quantity as it stands. `used` are its units.
    """

    value: Quantity
    measure: Measure | None
    loose: tuple[str, ...] = ()
    used: tuple[Unit, ...] = ()


def amount(tokens: Sequence[Token], wanted: Measure | None = None) -> Amount:
    """Read an amount from all of the tokens; raises NoAmount, and pint's errors for what cannot be added.

    `wanted` tells letters apart that name several units, as `m` does.
    """
    reader = _Reader(tokens, wanted)
    found = reader.whole()
    if reader.at != len(tokens):
        raise NoAmount
    return found


def measures(tokens: Sequence[Token]) -> list[Measure]:
    """Return what all of the tokens may measure: a unit, or one by another; nothing where they are none."""
    words = [token.low for token in tokens]
    if words[:1] in (["the"], ["full"], ["whole"]):
        tokens = tokens[1:]
    if len(tokens) == 1 and tokens[0].kind == "word":
        if fast := per_second(tokens[0].text):
            return [Measure(fast, units.named("second"))]
        return [Measure(unit) for unit in units_of(tokens[0].text)]
    if len(tokens) == 3 and tokens[1].low in _PER:
        under = [unit for unit in units_of(tokens[2].text) if unit.kind == "time"]
        return [Measure(over, unit) for over in units_of(tokens[0].text) for unit in under]
    return []


class _Reader:
    def __init__(self, tokens: Sequence[Token], wanted: Measure | None) -> None:
        self._tokens = tokens
        self._wanted = wanted
        self.at = 0
        self._loose: list[str] = []
        self._measure: Measure | None = None
        self._used: list[Unit] = []

    def whole(self) -> Amount:
        value = self._sum(0)
        told: Measure | None = self._measure
        word = self._low()
        if word in ("for", "at") and told is not None:
            self.at += 1
            other, first = self._afresh(), told
            second = self._measure
            if second is None:
                raise NoAmount
            if word == "for":
                if first.under is None or not units.alike(other, "second"):
                    raise NoAmount
                value, told = value * other, Measure(first.over)
            else:
                if second.under is None or first.under is not None:
                    raise NoAmount
                value, told = value / other, Measure(units.named("second"))
                if not units.alike(value, "second"):
                    raise NoAmount
            self._loose.append(word)
        return Amount(value, told, tuple(self._loose), tuple(dict.fromkeys(self._used)))

    def _afresh(self) -> Quantity:
        self._measure = None
        return self._sum(0)

    def _low(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self._tokens[at].low if at < len(self._tokens) else ""

    def _sum(self, depth: int) -> Quantity:
        value = self._product(depth)
        while (sign := _SIGNS.get(self._low())) in ("+", "-"):
            self.at += 1
            self._loose.append(str(sign))
            other = self._product(depth)
            value = value + other if sign == "+" else value - other
        return value

    def _product(self, depth: int) -> Quantity:
        value = self._atom(depth)
        while True:
            word, sign = self._low(), _SIGNS.get(self._low())
            if word == "divided" and self._low(1) == "by":
                self.at += 1
                sign = "/"
            if word == "x" and not self._tokens[self.at].spaced:
                raise NoAmount
            if sign not in ("*", "/"):
                return value
            self.at += 1
            self._loose.append(sign)
            other = self._atom(depth)
            value = value * other if sign == "*" else value / other

    def _atom(self, depth: int) -> Quantity:
        if depth > DEPTH or self.at >= len(self._tokens):
            raise NoAmount
        if self._low() == "(":
            self.at += 1
            value = self._sum(depth + 1)
            if self._low() != ")":
                raise NoAmount
            self.at += 1
            measure = self._unit()
            return value * units.quantity(Fraction(1), measure.name) if measure else value
        value = self._plain()
        # "1 h 30 min": what follows is told in a smaller unit
        while self._measure is not None and self._goes_on():
            self.at += self._low() in ("and", ",")
            other = self._plain()
            if other.unitless or not other.check(value.dimensionality) or not abs(other) < abs(value):
                raise NoAmount
            value = value + other
        return value

    def _goes_on(self) -> bool:
        ahead = 1 if self._low() in ("and", ",") else 0
        at = self.at + ahead
        return at < len(self._tokens) and self._tokens[at].kind == "number"

    def _plain(self) -> Quantity:
        number = self._number()
        measure = self._unit()
        if measure is None:
            return units.quantity(number)
        self._measure = self._measure or measure
        return units.quantity(number, measure.name)

    def _number(self) -> Fraction:
        token = self._tokens[self.at] if self.at < len(self._tokens) else None
        if token is None:
            raise NoAmount
        if token.kind == "number":
            self.at += 1
            return token.number
        if token.low in _ARTICLES and self.at + 1 < len(self._tokens):
            self.at += 1
            if token.low == "half" and self._low() in ("a", "an"):
                self.at += 1
            return _ARTICLES[token.low]
        if units_of(token.text) and self.at == 0 and len(self._tokens) <= 2:
            return Fraction(1)  # "bytes in MB"
        raise NoAmount

    def _unit(self) -> Measure | None:
        if self.at >= len(self._tokens) or self._tokens[self.at].kind != "word":
            return None
        word = self._tokens[self.at].text
        if fast := per_second(word):
            self.at += 1
            self._used.append(fast)
            return Measure(fast, units.named("second"))
        known = units_of(word)
        if not known:
            return None
        over = self._fitting(known)
        self._used.append(over)
        self.at += 1
        if self._low() in _PER and self.at + 1 < len(self._tokens):
            times = [unit for unit in units_of(self._tokens[self.at + 1].text) if unit.kind == "time"]
            if times:
                self.at += 2
                self._used.append(times[0])
                return Measure(over, times[0])
        return Measure(over)

    def _fitting(self, known: Sequence[Unit]) -> Unit:
        wanted = self._wanted
        if wanted is not None and wanted.under is None:
            return next((one for one in known if one.kind == wanted.over.kind), known[0])
        return known[0]
