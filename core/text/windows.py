"""A page cut into windows of one or two sentences: what a second look compares with a question (*ours*).

A passage of 150 words has one vector, in which a single line of a changelog or of a list is lost. Windows
are embedded beside the passages, and only those of the pages that were found are compared.
"""

from __future__ import annotations

import re

from core.domain import ContextChunk, content_hash
from core.text.words import sentences

WINDOW_CHARACTERS = 220
"""Length at which a window is closed: a sentence or two, an item of a list, three lines of code."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_LINES = 4
"""Lines from which a paragraph is cut at its lines: code, a table, a list."""


def windows(page: str) -> list[str]:
    """Cut a page into windows in order; a page without text is one window."""
    found: list[str] = []
    for paragraph in filter(None, (block.strip() for block in _PARAGRAPH.split(page))):
        by_line = paragraph.startswith("```") or paragraph.count("\n") >= _LINES
        pieces = paragraph.split("\n") if by_line else sentences(paragraph)
        space = "\n" if by_line else " "
        current = ""
        for piece in pieces:
            if current and len(current) + len(piece) > WINDOW_CHARACTERS:
                found.append(current)
                current = piece
            else:
                current = f"{current}{space}{piece}" if current else piece
        if current.strip():
            found.append(current)
    return found or [page]


def embedded_windows(title: str, heading: str, page: str) -> list[str]:
    """Return the windows of a page as they are embedded, under the innermost heading."""
    above = heading.rpartition(" > ")[2] or title
    return [f"{above}\n{window}" for window in windows(page)]


def window_hashes(title: str, heading: str, page: str) -> list[str]:
    """Return the hashes under which the vectors of a page's windows are kept."""
    return [content_hash(text) for text in embedded_windows(title, heading, page)]


def window_texts(chunk: ContextChunk) -> dict[str, str]:
    """Return the windows of a context chunk as they are embedded, by hash."""
    texts = embedded_windows(chunk.title, chunk.heading, chunk.page)
    return {content_hash(text): text for text in texts}
