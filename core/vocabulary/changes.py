"""What a release may do to something: the words that ask for it, and those that changelogs write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


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
    return next((kind for kind, change in CHANGES.items() if change.asked.search(question)), "")


def tells(kind: str, text: str) -> bool:
    """Return True if a text speaks of that kind of change; any text does of ""."""
    return not kind or CHANGES[kind].told.search(text) is not None
