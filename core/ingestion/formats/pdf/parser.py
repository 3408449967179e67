"""PDF, page by page: headings by their print, tables, code, and links to the page.

Every section lies on one page and has `page=N` for its anchor, which browsers open a PDF at.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import pdfplumber

from core.domain import Document, RawDocument, Section
from core.errors import NoDocument, SourceError
from core.ingestion.formats._shared import fence, heading_text
from core.ingestion.formats.pdf.layout import (
    Grid,
    Line,
    Page,
    body_size,
    known_words,
    lines_of,
    without_running_lines,
)
from core.text.tables import table
from core.text.words import one_line

logging.getLogger("pdfminer").setLevel(logging.ERROR)

MAX_PAGES = 3_000
LARGER = 1.12
"""How much larger than the text a heading is printed; ours."""
MAX_HEADING = 120
"""Characters above which a line is no heading."""
_FIGURE = re.compile(r"(?:^|/)_?(?:fig(?:ure)?s?|im(?:age|g)s?|pics?|pictures?|plots?|diagrams?)/")
"""Folders in which what has one page is a picture for other pages."""
_NUMBERED = re.compile(r"^(?:(?:chapter|part|appendix|section)\s+)?\d+(?:\.\d+)*\.?\s+\S", re.I)
_ITEM = re.compile(r"^(?:[•▪●◦‣–-]|\(?\d{1,2}[.)])\s+\S")
_CONTENTS = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?+){4,}+\s*+(?:\d++|[ivxlc]++)\s*+$")
_LONGEST_WORD = 100
_PARTED = re.compile(r"(?<![^\W_])([^\W_]{2,}+)[-\u00ad\u2010]$")
_OPEN = re.compile(r"[^.!?:;。！？]$")


def parse(raw: RawDocument, text: str) -> Document:
    """Parse a PDF; raises SourceError for one that is broken, locked or without text, and for a figure."""
    try:
        with pdfplumber.open(io.BytesIO(raw.content)) as pdf:
            if len(pdf.pages) > MAX_PAGES:
                raise SourceError(f"{raw.path} has more than {MAX_PAGES:,} pages; split it.")
            if raw.root and len(pdf.pages) == 1 and _FIGURE.search(raw.path.lower()):
                raise NoDocument("a figure of other pages")
            title = one_line(str((pdf.metadata or {}).get("Title") or ""))
            pages = []
            for page in pdf.pages:
                pages.append(_page(page))
                page.close()
    except SourceError:
        raise
    except Exception as error:  # noqa: BLE001 - pdfminer raises whatever a broken file makes it raise
        what = "is locked with a password" if "assword" in repr(error) else "is broken or no PDF"
        raise SourceError(f"{raw.path} {what}; mend it or leave it out of the source.") from None
    if not any(page.items for page in pages):
        raise SourceError(f"{raw.path} holds pictures of text only; run it through OCR first.")
    pages = without_running_lines(pages)
    sections = tuple(_sections(pages, known_words(pages)))
    if not title or title.lower().startswith(("untitled", "microsoft word", "(anonymous)")):
        title = sections[0].headings[0] if sections and sections[0].headings else raw.path
    return Document(raw.path, title, raw.url, sections)


def _page(page: Any) -> Page:
    grids = []
    boxes = []
    for found in page.find_tables():
        rows = [tuple(one_line(cell or "") for cell in row) for row in found.extract()]
        filled = [row for row in rows if any(row)]
        if len(filled) > 1 and max(sum(1 for cell in row if cell) for row in filled) > 1:
            grids.append(Grid(tuple(filled), found.bbox[1]))
            boxes.append(found.bbox)
    words = [
        word
        for word in page.extract_words(extra_attrs=["size", "fontname"], keep_blank_chars=False)
        if not any(
            box[0] - 1 <= (word["x0"] + word["x1"]) / 2 <= box[2] + 1
            and box[1] - 1 <= (word["top"] + word["bottom"]) / 2 <= box[3] + 1
            for box in boxes
        )
    ]
    items: list[Line | Grid] = list(lines_of(words, float(page.width)))
    for grid in grids:
        after = next((at for at, item in enumerate(items) if item.top >= grid.top), len(items))
        items.insert(after, grid)
    return Page(int(page.page_number), float(page.height), tuple(items))


def _sections(pages: Sequence[Page], known: frozenset[str]) -> Iterator[Section]:
    body = body_size(pages)
    headings = [item for page in pages for item in page.items if _is_heading(item, body)]
    sizes = sorted({round(line.size, 1) for line in headings}, reverse=True)
    stack: list[tuple[int, str]] = []
    waiting: tuple[tuple[str, ...], str, list[str]] | None = None
    for page in pages:
        anchor = f"page={page.number}"
        blocks: list[str] = []
        carried = waiting
        for kind, value in _blocks(page, body, known):
            if kind == "heading":
                if carried:
                    yield _section(*carried)
                    carried = None
                if blocks:
                    yield _section(tuple(text for _, text in stack), anchor, blocks)
                    blocks = []
                assert isinstance(value, Line)
                level = _level(value, sizes)
                while stack and stack[-1][0] >= level:
                    stack.pop()
                stack.append((level, heading_text(value.text)))
                continue
            assert isinstance(value, str)
            if carried:
                # a paragraph that runs over the page's end belongs to the page where it begins
                if kind == "text" and value[:1].islower() and _OPEN.search(carried[2][-1]):
                    carried[2][-1] = "".join((*_run_on(carried[2][-1], value, known), value))
                    yield _section(*carried)
                    carried = None
                    continue
                yield _section(*carried)
                carried = None
            blocks.append(value)
        if carried:
            yield _section(*carried)
        waiting = (tuple(text for _, text in stack), anchor, blocks) if blocks else None
    if waiting:
        yield _section(*waiting)


def _section(headings: tuple[str, ...], anchor: str, blocks: list[str]) -> Section:
    return Section(headings, anchor, "\n\n".join(blocks))


def _is_heading(item: Line | Grid, body: float) -> TypeGuard[Line]:
    if not isinstance(item, Line) or item.code or len(item.text) > MAX_HEADING:
        return False
    if not re.search(r"[^\W\d_]{2}", item.text) or _CONTENTS.search(item.text):
        return False
    larger = item.size > LARGER * body
    return larger or (item.bold and item.size >= body and bool(_NUMBERED.match(item.text)))


def _level(line: Line, sizes: Sequence[float]) -> int:
    """Return the level of a heading: by its number where it has one, else by its size."""
    if found := re.match(r"^(\d+(?:\.\d+)*)\.?\s", line.text):
        return 2 + found[1].count(".")
    return 1 + sizes.index(round(line.size, 1))


def _blocks(page: Page, body: float, known: frozenset[str]) -> Iterator[tuple[str, Line | str]]:
    """Yield headings, paragraphs, code and tables of a page."""
    paragraph: list[Line] = []

    def closed() -> Iterator[tuple[str, Line | str]]:
        if paragraph:
            code = paragraph[0].code
            yield ("code", _code(paragraph)) if code else ("text", _prose(paragraph, known))
            paragraph.clear()

    for item in page.items:
        if isinstance(item, Grid):
            yield from closed()
            yield "table", table(item.rows)
        elif _CONTENTS.search(item.text):
            continue
        elif _is_heading(item, body):
            yield from closed()
            yield "heading", item
        else:
            last = paragraph[-1] if paragraph else None
            if last is not None and (
                last.code != item.code
                or item.top - last.bottom > (2.5 if item.code else 0.7) * item.size
                or item.top < last.top
                or (not item.code and _ITEM.match(item.text))
            ):
                yield from closed()
            paragraph.append(item)
    yield from closed()


def _code(lines: Sequence[Line]) -> str:
    left = min(line.left for line in lines)
    letter = max(1.0, lines[0].size * 0.6)
    written: list[str] = []
    for before, line in zip([None, *lines], lines, strict=False):
        if before is not None and line.top - before.bottom > 0.8 * line.size:
            written.append("")
        written.append(" " * round((line.left - left) / letter) + line.text)
    return fence("\n".join(written))


def _prose(lines: Sequence[Line], known: frozenset[str]) -> str:
    parts: list[str] = []
    last = ""
    for line in (one_line(line.text) for line in lines):
        before, between = _run_on(last, line, known) if last else ("", "")
        if between:
            parts += [before, between]
            before = ""
        last = before + line
    return re.sub(r"^[•▪●◦‣]\s+", "- ", "".join([*parts, last]))


def _run_on(text: str, more: str, known: frozenset[str]) -> tuple[str, str]:
    """Return a line as it goes on in the next one, and what stands between them.

    A word that was parted at the end of the first is whole again. What the document writes elsewhere
    decides: "docu-mentation" is one word, "well-known" keeps its hyphen.
    """
    first = _PARTED.search(text, max(0, len(text) - _LONGEST_WORD))
    second = re.match(r"[^\W_]+", more)
    if not first or not second:
        return text, " "
    whole, hyphened = (f"{first[1]}{mark}{second[0]}".lower() for mark in ("", "-"))
    if whole in known or (second[0][0].islower() and hyphened not in known):
        return text[:-1], ""
    return text, "" if hyphened in known else " "
