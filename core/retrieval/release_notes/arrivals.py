"""In which version a name came, by the notes that say so or by the mark below its entry (*ours*)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.domain import ContextChunk
from core.retrieval.release_notes.gone import entries_of, named
from core.retrieval.release_notes.verdict import is_added
from core.text.words import one_line, sentences

_MARK = re.compile(
    r"^[^\w`\n]{0,20}(?:added|new|introduced)[*_ ]{1,4}(?:in|since)(?: version| release)? v?"
    r"(?P<version>\d{1,4}(?:\.\d{1,4}){0,3})[ .*_]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A mark that says nothing of a part: "Added in version 3.9."."""


@dataclass(frozen=True, slots=True)
class Came:
    """A name, the version in which it came, the page and the line that tell it."""

    name: str
    version: tuple[int, ...]
    page: ContextChunk
    line: str


def came(
    name: str, notes: Iterable[tuple[tuple[int, ...], ContextChunk]], entries: Iterable[ContextChunk] = ()
) -> Came | None:
    """Return the first version that tells that a name came; None where none does, or an older one knows it.

    `notes` are pages with their versions, `entries` pages headed by the name.
    """
    known = named(name)
    marked = [
        Came(name, tuple(map(int, mark["version"].split("."))), page, one_line(mark[0]).strip(" *_"))
        for page in entries
        if (mark := _MARK.search(page.page))
    ]
    told: list[Came] = []
    first: tuple[int, ...] = ()
    for version, page in notes:
        for _above, line in entries_of(page.page):
            if known.search(line):
                first = min(first, version) if first else version
                if any(is_added(known, sentence) for sentence in sentences(line)):
                    told.append(Came(name, version, page, line))
    found = min([*told, *marked], key=lambda one: one.version, default=None)
    return found if found and not (first and first < found.version) else None
