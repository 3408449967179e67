"""The entries of release notes: items of lists and paragraphs, and which of them tell a kind of change."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Evidence
from core.generation.quotes.blocks import split, without_notes
from core.text.words import one_line
from core.vocabulary import kind_of, tells

_LABEL = re.compile(r"(?:\*\*[^*\n]{1,80}\*\*|__[^_\n]{1,80}__):?")
"""A paragraph that stands for a heading: "**Bug fixes**"."""


def entries_of(page: str) -> list[str]:
    """Return list items with what is nested in them, and paragraphs; code and tables say too much."""
    found = []
    for block in split(without_notes(page)):
        if block.kind == "item" and "```" not in block.text:
            found.append(block.text.strip())
        elif block.kind == "paragraph":
            found.append(one_line(block.text))
    return found


def telling(kind: str, item: Evidence, entries: Sequence[str]) -> list[str]:
    """Return the entries that tell of a kind of change: all below a heading, or a label, that names it.

    A label is none of them, and stands before those below it.
    """
    if not kind or kind_of(item.chunk.heading.rpartition(" > ")[2]) == kind:
        return list(entries)
    found: list[str] = []
    label, is_named = "", False
    for entry in entries:
        if _LABEL.fullmatch(entry):
            label, is_named = entry, kind_of(entry) == kind
        elif is_named or tells(kind, entry):
            found += [label, entry] if label and is_named else [entry]
            label = ""
    return found


def fitting(entry: str, room: int) -> str:
    """Return as many of an entry's lines as have room; "" where its first has none."""
    kept: list[str] = []
    for line in entry.split("\n"):
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept).rstrip()
