"""The set of answers: what people ask, and what an answer to it has to hold.

The format is described in `tests/golden/README.md`. What an answer must or must not hold is a text of
alternatives `a||b`; an alternative is a string, `re:` and a regular expression (both on text as
`evaluation.gold.plain` makes it), or `code:` and a line of code, compared without spaces and kind of quotes.
Lines of the golden sets are read as well, as far as they stand alone and draw on one release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.errors import UsageError
from evaluation.gold import UNKNOWN_RELEASE, GoldLine, Half, parse_line, plain, read_lines, said

HALVES = ("tune", "report")
CODE, REGEX = "code:", "re:"

_EMPHASIS = re.compile(r"(?<![\w*])_(\w[^_\n]*)_(?!\w)")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\([^()\s]*\)")
_INLINE = re.compile(r"`([^`\n]+)`")
_FENCE = ("```", "~~~")
_QUOTES = str.maketrans({'"': "'", "‘": "'", "’": "'", "“": "'", "”": "'"})


@dataclass(frozen=True, slots=True)
class Section:
    """Where an answer stands: a page, and the heading of the section; without one the whole page."""

    page: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """One question, and what a right answer holds.

    `release` is the one an answer must speak for, `ask_release` what is passed where words do not say it.
    """

    id: str
    product: str
    release: str
    kind: str
    question: str
    answerable: bool
    half: str
    ask_release: str = ""
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def has_code(self) -> bool:
        """Return True if a right answer shows code."""
        return any(entry.startswith(CODE) for entry in self.must)


@dataclass(frozen=True, slots=True)
class Said:
    """A text in the forms in which it is compared: words, and its code without spaces."""

    plain: str
    code: str

    @classmethod
    def of(cls, markdown: str) -> Said:
        """Read an answer; its code is what is fenced or in backticks."""
        code, prose = [""], []
        fence = ""
        for line in markdown.split("\n"):
            mark = line.lstrip("> ")[:3]
            if mark in _FENCE and fence in ("", mark):
                fence = "" if fence else mark
                code.append("")
            elif fence:
                code[-1] += line
            else:
                prose.append(line)
        code += _INLINE.findall("\n".join(prose))
        return cls(words_of(markdown), "\n".join(map(squeezed, code)))

    def holds(self, wanted: str) -> bool:
        """Return True if it has one of the alternatives."""
        return any(self._has(option) for option in options(wanted))

    def _has(self, option: str) -> bool:
        if option.startswith(CODE):
            return squeezed(option.removeprefix(CODE)) in self.code
        if option.startswith(REGEX):
            return expression(option.removeprefix(REGEX)).search(self.plain) is not None
        return said(plain(option)).search(self.plain) is not None


def options(wanted: str) -> list[str]:
    """Return the alternatives `a||b`."""
    return [option for option in wanted.split("||") if option]


def words_of(markdown: str) -> str:
    """Return the words of Markdown as they are compared: no marks, no targets of links, small letters."""
    return plain(_EMPHASIS.sub(r"\1", _LINK.sub(r"\1", markdown)))


def squeezed(code: str) -> str:
    """Return code without spaces, line breaks and kind of quotes."""
    return re.sub(r"\s+", "", code.translate(_QUOTES))


@lru_cache(maxsize=4096)
def expression(pattern: str) -> re.Pattern[str]:
    """Return what follows `re:` as a pattern."""
    return re.compile(pattern, re.IGNORECASE)


def read_expected(path: Path, half: Half = "all", product: str = "") -> tuple[Expected, ...]:
    """Read the questions of a half and a product, or all; raises UsageError that names bad lines.

    Golden lines do not name their product: they are about `product`.
    """
    read = read_lines(path, either)
    lines = [of_gold(line, product) if isinstance(line, GoldLine) else line for line in read]
    kept = tuple(
        line
        for line in lines
        if line
        and half in ("all", line.half)
        and (not product or line.product.casefold() == product.casefold())
    )
    if not kept:
        about = f" about {product}" if product else ""
        raise UsageError(f"{path.name} has no question{about} in the half '{half}'.")
    return kept


def of_gold(line: GoldLine, product: str) -> Expected | None:
    """Return a golden line as one of answers: it has to hold what must be in it, or else the evidence.

    None for one that needs a history, several releases, or to be refused for its release.
    """
    if line.history or len(line.places) > 1 or line.type == UNKNOWN_RELEASE:
        return None
    place = next(iter(line.places.values()), None)
    return Expected(
        id=line.id,
        product=product,
        release=line.release,
        kind=line.type,
        question=line.question,
        answerable=line.answerable,
        half=line.split,
        ask_release=line.ask_release,
        must=line.must_contain or (place.evidence if place else ()),
        must_not=line.must_not_contain,
        sections=tuple(map(Section, place.files)) if place else (),
    )


def either(entry: Mapping[str, Any]) -> Expected | GoldLine:
    """Read a line of a golden set or of a set of answers; raises ValueError."""
    return parse_line(entry) if "split" in entry else parse(entry)


def parse(entry: Mapping[str, Any]) -> Expected:
    """Read one JSON object; raises ValueError that says what is wrong with it."""
    texts = {name: _text(entry, name) for name in ("id", "product", "release", "kind", "question", "half")}
    if texts["half"] not in HALVES:
        raise ValueError(f'"half" must be one of {", ".join(HALVES)}')
    answerable = entry.get("answerable")
    if not isinstance(answerable, bool):
        raise ValueError('"answerable" must be true or false')
    line = Expected(
        **texts,
        answerable=answerable,
        ask_release=str(entry.get("ask_release") or ""),
        must=_entries(entry, "must"),
        must_not=_entries(entry, "must_not"),
        sections=tuple(_sections(entry)),
    )
    if answerable and not (line.must and line.sections):
        raise ValueError('"must" and "section" are needed for what is answerable')
    return line


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'"{name}" is missing or no text')
    return value


def _entries(entry: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = entry.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str) and options(one) for one in value):
        raise ValueError(f'"{name}" must be a list of texts')
    for option in (option for one in value for option in options(one)):
        try:
            expression(option.removeprefix(REGEX) if option.startswith(REGEX) else "")
        except re.error as error:
            raise ValueError(f'"{name}" has a bad expression {option!r}: {error}') from None
    return tuple(value)


def _sections(entry: Mapping[str, Any]) -> Iterable[Section]:
    for one in entry.get("section") or []:
        if not isinstance(one, dict) or not isinstance(one.get("page"), str):
            raise ValueError('"section" must be a list of {"page", "heading"}')
        yield Section(one["page"], str(one.get("heading") or ""))
