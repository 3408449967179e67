"""Word lists that question understanding and the guard on reuse share.

Lower case throughout. They hold general knowledge of the field, never of one product; a community
adds its own words by the glossary.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from core.vocabulary.changes import in_english, languages_of_changes


@cache
def words_of(package: str) -> dict[str, Any]:
    """Read the word lists of a package, which are in its `words.toml`."""
    return tomllib.loads(files(package).joinpath("words.toml").read_text("utf-8"))


def word_list(text: str) -> list[str]:
    """Split a list of words; long lists read better as text."""
    return text.split()


def word_groups(text: str) -> tuple[frozenset[str], ...]:
    """Return the words of each line."""
    return tuple(frozenset(line.split()) for line in text.splitlines())


def spellings(text: str) -> dict[str, str]:
    """Map every word of a line to the line's first word; `~` stands for a space inside a word."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        spelled = [word.replace("~", " ") for word in line.split()]
        found.update((word, spelled[0]) for word in spelled)
    return found


__all__ = [
    "BARE_HEADINGS",
    "BEFORE_VERSIONS",
    "FORMATS",
    "NEGATIONS",
    "NUMBER_WORDS",
    "OPPOSITES",
    "RIVALS",
    "SOFTWARE",
    "SYNONYMS",
    "UNITS",
    "VARIABLES",
    "in_english",
    "languages_of_changes",
    "word_list",
    "words_of",
]

_WORDS = words_of(__package__)
_LEFT_AND_RIGHT = (line.partition("|") for line in _WORDS["opposites"].splitlines())

NEGATIONS = frozenset(_WORDS["negations"].split())
"""Words that turn a statement around; words in `n't` count as well."""

SYNONYMS = word_groups(_WORDS["synonyms"])
"""Words of which one may stand for the other in a question; a word may be in several groups."""

RIVALS = word_groups(_WORDS["rivals"])
"""Words of one kind: where two questions differ in them, they ask about different things."""

OPPOSITES = tuple((frozenset(left.split()), frozenset(right.split())) for left, _, right in _LEFT_AND_RIGHT)
"""Words of which one question may not have the left and the other the right."""

SOFTWARE: dict[str, str] = {name: name for name in _WORDS["names"].split()} | spellings(_WORDS["aliases"])
"""Spellings of software, formats, protocols and services, each to one canonical spelling."""

BEFORE_VERSIONS = frozenset(_WORDS["names_before_versions"].split()) | SOFTWARE.keys()
"""Words after which a version is another product's."""

BARE_HEADINGS = frozenset(word.replace("~", " ") for word in _WORDS["bare_headings"].split())
"""Headings that say nothing without the one around them."""

FORMATS = frozenset(_WORDS["formats"].split())
"""Names among `SOFTWARE` that are formats, protocols, systems or words of everyday language."""

UNITS = spellings(_WORDS["units"])
"""Units after a number, each to one spelling."""

VARIABLES = tuple(pair.partition("=")[::2] for pair in _WORDS["variables"].split())
"""What people call a variable, each with a class that it is mostly of."""

NUMBER_WORDS = dict(pair.split("=") for pair in _WORDS["numbers"].split())
"""Numbers in words, to digits."""


@dataclass(frozen=True, slots=True)
class Change:
    """A kind of change: how a question asks for it, and how an entry of a changelog tells it."""

    asked: re.Pattern[str]
    told: re.Pattern[str]


def _change(asked: str, told: str) -> Change:
    return Change(re.compile(rf"\b(?:{asked})", re.I), re.compile(rf"\b(?:{told})", re.I))


CHANGES: Mapping[str, Change] = {
    "breaking": _change(
        r"break|broke|incompatib|backwards?[- ]incompat",
        r"break|incompatib|remov|drop|no longer|renam|must\b|requires?\b|minimum",
    ),
    "removed": _change(
        r"remov|dropp?|delet|discontinu|gone\b|disappear",
        r"remov|drop|delet|no longer|discontinu|end of life",
    ),
    "deprecated": _change(r"deprecat", r"deprecat"),
    "fixed": _change(r"fix|bugfix", r"fix|bug|correct|regress|restor|work around|prevent|avoid"),
    "added": _change(
        r"add(?:s|ed|itions?)?\b|features?\b|introduc", r"add|new\b|introduc|support|can\b|allow"
    ),
}
"""The kinds, in the order in which a question is tried for them."""


def kind_of(question: str) -> str:
    """Return the kind of change that a question asks for; "" where it asks for all of them."""
    question = in_english(question)
    return next((kind for kind, change in CHANGES.items() if change.asked.search(question)), "")


def tells(kind: str, text: str) -> bool:
    """Return True if a text speaks of that kind of change; any text does of ""."""
    return not kind or CHANGES[kind].told.search(in_english(text)) is not None
