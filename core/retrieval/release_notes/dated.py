"""Find when something came or went: notes of versions that tell of it, pages with "Added in version 2.2"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.domain import ContextChunk, Dated, Evidence
from core.text.words import index_terms, stem, whole_word
from core.vocabulary import kind_of, tells

MAX_PAGES = 3
"""Pages that tell when; ours."""
_MARKER = re.compile(
    r"\b(?P<what>added|new|introduced|changed|deprecated|removed)\s+(?:in|since)\s+(?:version\s+|release\s+)?v?\d+(?:\.\d+)*",
    re.IGNORECASE,
)


def dated(asked: Dated, found: Sequence[Evidence], notes: Iterable[ContextChunk]) -> tuple[Evidence, ...]:
    """Return pages that say when, with the lines that do as `matched`: marked ones, then notes in order.

    `found` is what a search found, `notes` are pages of release notes.
    """
    told: list[Evidence] = []
    for item in found:
        heading = item.chunk.heading.rpartition(" > ")[2]
        lines = [line for line in _lines(item.chunk.page) if _marks(line, heading, asked)]
        if lines:
            told.append(replace(item, matched=tuple(lines)))
    known = {item.chunk.id for item in told}
    for page in notes:
        lines = [line for line in _lines(page.page) if tells(asked.kind, line) and _speaks(line, asked)]
        if lines and page.id not in known:
            told.append(Evidence(0, page, 0.0, tuple(lines)))
    best = told[:MAX_PAGES]
    return tuple(replace(item, number=n, score=1.0 / n) for n, item in enumerate(best, start=1))


def _lines(page: str) -> list[str]:
    return [line.strip() for line in page.split("\n") if line.strip()]


def _marks(line: str, heading: str, asked: Dated) -> bool:
    """Tell whether a line says in which version the subject, named there or by the heading, came or went."""
    marker = _MARKER.search(line)
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
