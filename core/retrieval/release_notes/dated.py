"""In which version something came or went, by notes that say so and by marks ("Added in version 2.2")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.domain import ContextChunk, Dated, Evidence
from core.retrieval.release_notes.gone import entries_of
from core.retrieval.release_notes.names import named
from core.retrieval.release_notes.verdict import is_added
from core.text.words import index_terms, one_line, sentences, stem, whole_word
from core.vocabulary import in_english, kind_of, tells

MAX_PAGES = 3
"""Pages that tell when; ours."""
_MARKER = re.compile(
    r"\b(?P<what>added|new|introduced|changed|deprecated|removed)\s+(?:in|since)\s+(?:version\s+|release\s+)?v?\d+(?:\.\d+)*",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"^[^\w`\n]{0,20}(?:added|new|introduced)[*_ ]{1,4}(?:in|since)(?: version| release)? v?"
    r"(?P<version>\d{1,4}(?:\.\d{1,4}){0,3})[ .*_]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A mark that says nothing of a part: "Added in version 3.9."."""


def marked(asked: Dated, found: Sequence[Evidence]) -> list[Evidence]:
    """Return what a search found that says when by a mark, with the lines that do as `matched`."""
    told: list[Evidence] = []
    for item in found:
        heading = item.chunk.heading.rpartition(" > ")[2]
        lines = [line for line in _lines(item.chunk.page) if _marks(line, heading, asked)]
        if lines:
            told.append(replace(item, matched=tuple(lines)))
    return told


def entries_on(asked: Dated, page: ContextChunk) -> list[str]:
    """Return the lines of a page of release notes that tell the kind of change and name the subject."""
    return [line for line in _lines(page.page) if tells(asked.kind, line) and _speaks(line, asked)]


def _lines(page: str) -> list[str]:
    return [line.strip() for line in page.split("\n") if line.strip()]


def _marks(line: str, heading: str, asked: Dated) -> bool:
    """Tell whether a line says in which version the subject, named there or by the heading, came or went."""
    marker = _MARKER.search(line := in_english(line))
    if marker is None or not tells(asked.kind, line):
        return False
    if marker["what"].lower() == "changed":
        # what changed is a part of what the heading names: the line itself has to say what, and how
        said = line[marker.end() :]
        here = any(_speaks(said, Dated(asked.kind, (word,))) for word in asked.subject)
        if not here or kind_of(said) != asked.kind:
            return False
    return _speaks(f"{heading} {line}", asked)


def _speaks(text: str, asked: Dated) -> bool:
    """Return True if a text names the whole subject: plain words in any form, names as they are."""
    terms = set(index_terms(text))
    return all(
        stem(word) in terms if word.isalpha() else whole_word(_name(word)).search(text) is not None
        for word in asked.subject
    )


def _name(word: str) -> str:
    """Return a name without what it belongs to: `from_file` for `config.from_file()`."""
    return word.removesuffix("()").rpartition(".")[2]


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
        Came(name, tuple(map(int, mark["version"].split("."))), page, one_line(line).strip(" *_"))
        for page in entries
        for line in page.page.split("\n")
        if (mark := _MARK.match(in_english(line)))
    ]
    told: list[Came] = []
    first: tuple[int, ...] = ()
    for version, page in notes:
        for _above, line in entries_of(page.page):
            if known.search(line):
                first = min(first, version) if first else version
                if any(is_added(known, sentence) for sentence in sentences(in_english(line))):
                    told.append(Came(name, version, page, line))
    found = min([*told, *marked], key=lambda one: one.version, default=None)
    return found if found and not (first and first < found.version) else None
