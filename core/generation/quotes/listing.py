"""The extractive answer to "what changed in 3.1?": entries of the release notes, as the notes list them."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import Citation, Evidence
from core.generation.citations import citation
from core.generation.quotes.blocks import split
from core.generation.quotes.writing import heading_over
from core.text.markup import inert
from core.text.words import one_line
from core.vocabulary.changes import tells

MAX_PAGES = 4
"""Pages of notes in one answer; ours."""
CHARACTERS = 1_600
"""Length at which no further entry is listed; ours: about what one Discord message shows."""
_GAP = "…"


def listed(
    evidence: Sequence[Evidence], kind: str, product: str, release: str, matched: bool = False
) -> tuple[str, tuple[Citation, ...]]:
    """List the entries of release notes in their order, as Markdown, with citations numbered from 1.

    Where any entry tells of the asked kind of change, only those that do are listed. Pages that have
    nothing to quote are left out; without any the text is empty. `release` names what is asked about;
    notes that all are of one release's pages are told to be from there. With `matched` only the lines
    are listed that retrieval found to tell it.
    """
    if matched:
        pages = [(item, list(item.matched)) for item in evidence if item.matched]
    else:
        pages = [(item, _entries(item.chunk.page)) for item in evidence]
    if any(tells(kind, entry) for _, entries in pages for entry in entries):
        pages = [(item, [entry for entry in entries if tells(kind, entry)]) for item, entries in pages]
    of = {item.chunk.release for item in evidence}
    release = of.pop() if len(of) == 1 else release
    parts: list[str] = []
    citations: list[Citation] = []
    left, above = CHARACTERS, ""
    for item, entries in pages:
        shown: list[str] = []
        for entry in entries:
            if not (fitted := _fitted(entry, left)):
                break
            shown.append(fitted)
            left -= len(fitted)
        if not shown or len(citations) == MAX_PAGES:
            continue
        citations.append(citation(item, len(citations) + 1))
        lines = [*shown, _GAP] if len(shown) < len(entries) else shown
        body = "\n".join(f"> {line}".rstrip() for entry in lines for line in entry.split("\n"))
        heading = heading_over(item.chunk, product, release) or item.chunk.path
        over = f"**{heading}**\n" if heading != above else ""
        parts.append(inert(f"{over}{body} [{len(citations)}]"))
        above = heading
    if not citations:
        return "", ()
    return "\n\n".join(parts), tuple(citations)


def _entries(page: str) -> list[str]:
    """Return list items with what is nested in them, and paragraphs; code and tables say too much."""
    found = []
    for block in split(page):
        if block.kind == "item" and "```" not in block.text:
            found.append(block.text.strip())
        elif block.kind == "paragraph":
            found.append(one_line(block.text))
    return found


def _fitted(entry: str, room: int) -> str:
    """Return as many of an entry's lines as have room; "" where its first has none."""
    kept: list[str] = []
    for line in entry.split("\n"):
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)
