"""Plain text: paragraphs between blank lines, and headings only where they cannot be anything else."""

from __future__ import annotations

import re
import textwrap

from core.domain import Document, RawDocument
from core.ingestion.formats import Kind
from core.ingestion.formats._outline import Outline
from core.ingestion.formats._shared import fence
from core.text.words import one_line

KIND = Kind((".txt",), ("text/plain",))

MAX_HEADING = 80
"""Characters above which a line is no heading; ours."""

_UNDERLINE = re.compile(r"^\s*([=\-~^*#])\1{2,}\s*$")
_LEVELS = {"=": 1, "#": 1, "*": 1, "-": 2, "~": 3, "^": 4}
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+\S")
_PAGE_NUMBER = re.compile(r"^\s*+(?:page\s++)?(?:-\s*+)?\d++\s*+(?:-\s*+)?(?:(?<=\s)of\s++\d++\s*+)?$", re.I)


def parse(raw: RawDocument, text: str) -> Document:
    """Parse plain text; nothing in it has an anchor."""
    outline = Outline()
    title = ""
    # A chapter's number is part of no other heading, so an underlined line is the only sure one.
    for block in re.split(r"\n[ \t]*\n+", text.expandtabs(4)):
        lines = [line.rstrip() for line in block.split("\n") if line.strip()]
        if not lines or (len(lines) == 1 and (_PAGE_NUMBER.match(lines[0]) or _UNDERLINE.match(lines[0]))):
            continue
        level = _heading_level(lines)
        if level:
            name = one_line(lines[0] if not _UNDERLINE.match(lines[0]) else lines[1])
            title = title or name
            outline.heading(level, name, "")
            lines = lines[3:] if _UNDERLINE.match(lines[0]) else lines[2:]
        if lines:
            outline.add(_block(lines))
    sections = outline.sections()
    if not title and sections:
        first = text.strip().split("\n", 1)[0].strip()
        title = first if len(first) <= MAX_HEADING and not first.endswith((".", ",", ";", ":")) else ""
    return Document(raw.path, title or raw.path, raw.url, sections)


def _heading_level(lines: list[str]) -> int:
    """Return the level of the heading that a block begins with, 0 for none."""
    over = _UNDERLINE.match(lines[0])
    at = 1 if over else 0
    if len(lines) < at + 2:
        return 0
    under = _UNDERLINE.match(lines[at + 1])
    name = lines[at].strip()
    if not under or not re.search(r"\w", name) or len(name) > MAX_HEADING:
        return 0
    # A row of dashes under a longer text, or under several words far apart, is a table's.
    if len(lines[at + 1].strip()) < len(name) - 2 or re.search(r"\S\s{3,}\S", name):
        return 0
    return _LEVELS[under.group(1)]


def _block(lines: list[str]) -> str:
    if any(_ITEM.match(line) for line in lines):
        joined: list[list[str]] = []
        for line in lines:
            if joined and not _ITEM.match(line):
                joined[-1].append(line.strip())
            else:
                joined.append([line.replace("•", "-", 1)])
        return textwrap.dedent("\n".join(" ".join(parts) for parts in joined))
    # Indented or aligned lines (code, tables drawn with spaces) would not survive being joined.
    if all(line.startswith("    ") for line in lines) or sum(
        bool(re.search(r"\S\s{3,}\S", line)) for line in lines
    ) * 2 > len(lines):
        return fence(textwrap.dedent("\n".join(lines)))
    return one_line(" ".join(lines))
