"""A short question as tokens, its polite frame taken off, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Literal

from core.vocabulary import word_list

LONGEST = 200
"""Characters of a plain calculation at most."""

Kind = Literal["number", "word", "sign", "date", "clock"]

_NAMES = "january february march april may june july august september october november december"
_MONTHS = tuple(_NAMES.split())
_MONTH = "|".join((*_MONTHS, *(month[:3] for month in _MONTHS), "sept"))
_TOKEN = re.compile(
    rf"(?P<iso>(?<![\w.-])\d{{4}}-\d{{1,2}}-\d{{1,2}}(?:(?:T|\ )\d{{1,2}}:\d{{2}}(?::\d{{2}})?)?(?![\w.-]))"
    rf"|(?P<dotted>(?<![\w.])\d{{1,2}}\.\d{{1,2}}\.\d{{4}}(?![\w.]))"
    rf"|(?P<told>(?<!\w)\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?(?:{_MONTH})\.?,?\ \d{{4}}(?!\w))"
    rf"|(?P<turned>(?<!\w)(?:{_MONTH})\.?\ \d{{1,2}}(?:st|nd|rd|th)?,?\ \d{{4}}(?!\w))"
    r"|(?P<clock>(?<![\w:])\d{1,2}:\d{2}(?![\w:]))"
    r"|(?P<number>\d[\d.,_]{0,60}+|\.\d{1,30}+)"
    r"|(?P<word>°?[^\W\d_]{1,40}+)"
    r"|(?P<sign>\*\*|//|\S)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"\d{1,50}(?:\.\d{1,50})?|\.\d{1,30}")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3}){1,12}(?:\.\d{1,30})?|\d{1,3}(?:_\d{3}){1,12}")
_SAME = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "’": "'", "‘": "'"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a question: as it is written, in small letters, and what it stands for.

    `spaced` tells that something stands between it and the piece before.
    """

    kind: Kind
    text: str
    low: str
    spaced: bool
    number: Fraction = Fraction(0)
    moment: datetime | None = None
    dotted: bool = False
    """Whether a number has one dot in it, as the names of releases have."""


@dataclass(frozen=True, slots=True)
class Said:
    """The tokens between the frame of a question, and what the frame makes of them."""

    tokens: tuple[Token, ...]
    explicit: bool = False
    """Whether it says that something is to be worked out."""
    asked: bool = False
    """Whether it asks what something is."""


@dataclass(frozen=True, slots=True)
class Calculation:
    """What comes out, of what it was worked out, and by which facts: `1 day = 86400 seconds`."""

    result: str
    working: str
    facts: tuple[str, ...] = ()


_POLITE = frozenset(word_list("please pls hey hi hello ok okay so then thanks thank you now just quickly"))
_EXPLICIT = (("calculate",), ("compute",), ("evaluate",), ("work", "out"), ("convert",), ("solve",))
_ASKED = (
    ("what", "is"),
    ("what", "'", "s"),
    ("whats",),
    ("what", "are"),
    ("what", "was"),
    ("how", "much", "is"),
    ("how", "much", "are"),
    ("how", "much", "does"),
)
_TRY = (("can", "you"), ("could", "you"), ("tell", "me"))


def said(text: str) -> Said | None:
    """Cut a question to tokens without its frame; None for what is too long, or has a number like `1.2.3`."""
    if len(text) > LONGEST or "\n" in text:
        return None
    tokens = _tokens(text.translate(_SAME))
    if tokens is None:
        return None
    explicit = asked = False
    while tokens and (tokens[0].low in _POLITE or tokens[0].low == ","):
        tokens = tokens[1:]
    tokens = _without(tokens, _TRY)[0]
    while tokens and tokens[0].low in _POLITE:
        tokens = tokens[1:]
    tokens, explicit = _without(tokens, _EXPLICIT)
    tokens, asked = _without(tokens, _ASKED)
    while tokens and (tokens[-1].low in _POLITE or tokens[-1].low in "?!.=,"):
        asked = asked or tokens[-1].low == "="
        tokens = tokens[:-1]
    return Said(tuple(tokens), explicit, asked) if tokens else None


def _without(tokens: list[Token], frames: Sequence[tuple[str, ...]]) -> tuple[list[Token], bool]:
    for frame in frames:
        if tuple(token.low for token in tokens[: len(frame)]) == frame:
            return tokens[len(frame) :], True
    return tokens, False


def _tokens(text: str) -> list[Token] | None:
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        told, kind = match[0], str(match.lastgroup)
        spaced, end = match.start() > end or not found, match.end()
        if kind in ("word", "sign"):
            found.append(Token("word" if kind == "word" else "sign", told, told.lower(), spaced))
        elif kind == "number":
            # a full stop or comma that ends the sentence is not the number's
            bare = told.rstrip(".,_")
            number = _number(bare)
            if number is None:
                return None
            found.append(Token("number", bare, bare, spaced, number, dotted=bare.count(".") == 1))
            if bare != told:
                found.append(Token("sign", told[len(bare) :], told[len(bare) :], False))
        else:
            moment = _moment(kind, told)
            if moment is None:
                return None
            found.append(Token("clock" if kind == "clock" else "date", told, told, spaced, moment=moment))
    return found


def _number(text: str) -> Fraction | None:
    if _PLAIN.fullmatch(text):
        return Fraction(text)
    return Fraction(text.replace(",", "").replace("_", "")) if _GROUPED.fullmatch(text) else None


def _moment(kind: str, text: str) -> datetime | None:
    """Return the time that is written; None for a day that no calendar has."""
    try:
        if kind == "clock":
            hour, minute = map(int, text.split(":"))
            return datetime(1, 1, 1, hour, minute)
        if kind == "iso":
            day, _gap, clock = text.replace("T", " ").replace("t", " ").partition(" ")
            parts = [*map(int, day.split("-")), *(map(int, clock.split(":")) if clock else ())]
            return datetime(*parts)
        if kind == "dotted":
            number, month, year = map(int, text.split("."))
            return datetime(year, month, number)
        words = re.findall(r"\d{1,4}|[a-z]{3,9}", text.lower())
        name = next(word for word in words if word[:3] in {month[:3] for month in _MONTHS})
        month = 1 + [month[:3] for month in _MONTHS].index(name[:3])
        number, year = (int(word) for word in words if word.isdigit())
        return datetime(year, month, number)
    except ValueError:
        return None
