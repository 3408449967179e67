"""Differences of dates, and dates some days before or after others."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from core.generation.calculations.units import units_of, written
from core.generation.calculations.wording import Token
from core.text.plurals import plural

_SECONDS = {
    "millisecond": Fraction(1, 1000),
    "second": Fraction(1),
    "minute": Fraction(60),
    "hour": Fraction(3600),
    "day": Fraction(86_400),
    "week": Fraction(604_800),
}
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_FILL = frozenset(["are", "is", "there", "were", "was", "lie", "the", "number", "of", "full"])
_NOW = frozenset({"today", "now"})
_WEEKDAY = (
    ("what", "day", "of", "the", "week"),
    ("which", "day", "of", "the", "week"),
    ("what", "weekday"),
    ("which", "weekday"),
)

Worked = tuple[str, str]
"""What comes out, and how."""


def worked(tokens: Sequence[Token], today: datetime) -> Worked | None:
    """Work out a question about dates; None where it is no such question, and for days of no calendar."""
    try:
        return _between(tokens, today) or _moved(tokens, today) or _of_week(tokens, today)
    except (ValueError, OverflowError):
        return None


def _at(token: Token, today: datetime) -> datetime | None:
    return today if token.low in _NOW else token.moment


def _between(tokens: Sequence[Token], today: datetime) -> Worked | None:
    """Read "how many days between D and D", "from D to D", "until D", "since D"."""
    low = [token.low for token in tokens]
    for frame in (["how", "many"], ["the", "number", "of"], ["number", "of"], ["the"]):
        if low[: len(frame)] == frame:
            tokens, low = tokens[len(frame) :], low[len(frame) :]
            break
    if not low or (unit := _unit(low[0])) is None:
        return None
    rest = [token for token in tokens[1:] if token.low not in _FILL]
    match [token.low if token.kind == "word" else "" for token in rest]:
        case ["between", _, "and", _] | ["from", _, "to" | "until" | "till", _]:
            first, last = _at(rest[1], today), _at(rest[3], today)
            if rest[1].kind != rest[3].kind and "clock" in (rest[1].kind, rest[3].kind):
                return None
        case ["until" | "till", _]:
            first, last = today, _at(rest[1], today)
        case ["since", _]:
            first, last = _at(rest[1], today), today
        case _:
            return None
    if first is None or last is None or (rest[-1].kind == "clock" and len(rest) == 2):
        return None
    is_clock = rest[-1].kind == "clock"
    told = [one.strftime("%H:%M") if is_clock else _written(one) for one in (first, last)]
    return _difference(first, last, unit), f"from {told[0]} to {told[1]}"


def _difference(first: datetime, last: datetime, unit: str) -> str:
    if unit in ("month", "year"):
        return _calendar(first, last, unit)
    seconds = Fraction(round((last - first).total_seconds()))
    days = seconds / 86_400
    if unit == "week" and days.denominator == 1 and days % 7:
        weeks, rest = divmod(abs(int(days)), 7)
        sign = "-" if days < 0 else ""
        return (
            f"{sign}{_count(weeks, 'week')} and {_count(rest, 'day')}" if weeks else _count(int(days), "day")
        )
    return _count(seconds / _SECONDS[unit], unit)


def _calendar(first: datetime, last: datetime, unit: str) -> str:
    """Return whole months or years and the days that are left."""
    early, late = sorted((first, last))
    months = (late.year - early.year) * 12 + late.month - early.month
    if _later(early, months) > late:
        months -= 1
    whole = months if unit == "month" else months // 12
    left = (late - _later(early, whole * (12 if unit == "year" else 1))).days
    parts = [*([_count(whole, unit)] if whole or not left else []), *([_count(left, "day")] if left else [])]
    return ("-" if first > last else "") + " and ".join(parts)


def _moved(tokens: Sequence[Token], today: datetime) -> Worked | None:
    """Read "90 days after D", "D + 90 days", "10 days ago"."""
    low = [token.low for token in tokens]
    frames = (
        ["what", "date", "is"],
        ["which", "date", "is"],
        ["the", "date"],
        ["what", "date", "was"],
        ["which", "day", "is"],
        ["what", "day", "is"],
        ["when", "is"],
    )
    for frame in frames:
        if low[: len(frame)] == frame:
            tokens, low = tokens[len(frame) :], low[len(frame) :]
            break
    if len(tokens) == 4 and tokens[0].kind in ("date", "word") and _at(tokens[0], today):
        start, sign, (count, unit) = _at(tokens[0], today), low[1], tokens[2:]
        way = {"+": 1, "plus": 1, "-": -1, "minus": -1}.get(sign)
    elif len(tokens) == 4 and low[2] in ("after", "from", "before", "since"):
        (count, unit), start = tokens[:2], _at(tokens[3], today)
        way = -1 if low[2] == "before" else 1
    elif len(tokens) == 3 and low[2] == "ago":
        (count, unit), start, way = tokens[:2], today, -1
    else:
        return None
    name = _unit(unit.low)
    if way is None or start is None or name is None or count.kind != "number":
        return None
    if tokens[-1].kind == "clock" or tokens[0].kind == "clock":
        return None
    moved = _shifted(start, way * count.number, name)
    if moved is None:
        return None
    sign = "+" if way > 0 else "-"
    return _written(moved), f"{_written(start)} {sign} {_count(count.number, name)}"


def _shifted(start: datetime, count: Fraction, unit: str) -> datetime | None:
    if unit in ("month", "year"):
        return _later(start, int(count) * (12 if unit == "year" else 1)) if count.denominator == 1 else None
    return start + timedelta(seconds=float(count * _SECONDS[unit]))


def _later(start: datetime, months: int) -> datetime:
    """Return the same day some months later; the last of the month where it has no such day."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError("No calendar has that year.")
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return start.replace(year=year, month=month + 1, day=day)


def _of_week(tokens: Sequence[Token], today: datetime) -> Worked | None:
    low = [token.low for token in tokens]
    for frame in _WEEKDAY:
        if tuple(low[: len(frame)]) == frame and len(low) == len(frame) + 2:
            day = _at(tokens[-1], today)
            if low[-2] in ("is", "was", "will") and day is not None and tokens[-1].kind != "clock":
                return _DAYS[day.weekday()], _written(day)
    return None


def _unit(word: str) -> str | None:
    """Return the unit of time that a word names; letters alone name none here."""
    if len(word) < 3:
        return None
    return next((one.name for one in units_of(word) if one.name in (*_SECONDS, "month", "year")), None)


def _count(number: Fraction | int, unit: str) -> str:
    return f"{written(Fraction(number))} {plural(number, unit)}"


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M") if moment.hour or moment.minute else moment.strftime("%Y-%m-%d")
