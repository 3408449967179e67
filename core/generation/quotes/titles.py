"""What a page is shown under: its title, and those of its headings that tell which section it is."""

from __future__ import annotations

import re

from core.domain import ContextChunk
from core.retrieval.release_notes.notes import is_version
from core.text.words import one_line
from core.vocabulary import BARE_HEADINGS

_VERSION = re.compile(r"\d\.\d")
_LEVELS = re.compile(r"(?<!\s)\s+>\s+")
"""What stands between the headings of a path; "/" may stand in one: `tests / conftest.py files`."""


def headings(title: str, heading: str, *, whole: bool = False, is_alike: bool = False) -> str:
    """Join a page's title and the heading of a passage: `Quickstart › Sessions`, `Changes › 2.1 › Docs`.

    Of release notes that are named after their newest version, that name is left out.
    `heading` may be a path from the outermost heading; all of it is used where `whole` is true, else what
    names a version, the innermost, and the one around that where it says nothing alone (`PNG › Saving`) or
    where another section of the page has it, too (`is_alike`).
    """
    levels = [one_line(title), *(one_line(level) for level in _LEVELS.split(heading))]
    levels = list(dict.fromkeys(level for level in levels if level))
    if len(levels) > 1 and is_version(levels[0]) and is_version(levels[1]):
        levels = levels[1:]  # release notes without a title are named after their newest version
    inner = levels[1:]
    says_little = inner[-1:] and (is_alike or inner[-1].lower().rstrip(":") in BARE_HEADINGS)
    told = [
        level
        for n, level in enumerate(inner[:-1], 2)
        if _VERSION.search(level) or (says_little and n == len(inner))
    ]
    return " › ".join(levels if whole else [*levels[:1], *told, *inner[-1:]])


def headings_of(chunk: ContextChunk) -> str:
    """Return the title and heading that a page is shown under."""
    return headings(chunk.title, chunk.heading, is_alike=chunk.is_alike)


def last_heading(title: str, heading: str) -> str:
    """Return the innermost heading of a passage."""
    return one_line(_LEVELS.split(heading)[-1]) or one_line(title)
