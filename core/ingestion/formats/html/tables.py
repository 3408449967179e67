"""Tables of HTML: data, code with numbered lines, histories of versions, and those that lay a page out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bs4 import Tag

from core.ingestion.formats._shared import bullets, fence, labelled, listed
from core.ingestion.formats.html.changes import history
from core.ingestion.formats.html.tags import HEADINGS, code_text, language_of
from core.text.tables import BELOW_HEADER, Cell, cells, spread, table
from core.text.words import one_line

_BELOW_HEADER = re.compile(BELOW_HEADER)
LEAST_PROPERTIES = 2
"""Rows from which names with their values are a list; ours."""


class Written(NamedTuple):
    """What a table says, and whether it is a history of versions."""

    blocks: list[str]
    history: bool = False


def table_of(tag: Tag, blocks: Callable[[Tag], list[str]], above: str) -> Written:
    """Write a table; `blocks` writes what is in a cell, `above` names a table that has no caption."""
    rows = [row for row in tag.find_all("tr") if row.find_parent("table") is tag]
    code = tag.find("td", class_=re.compile("code"))
    if isinstance(code, Tag) and code.find("pre") and len(rows) == 1:
        return Written([fence(code_text(code), language_of(tag))])
    if _lays_out(tag, rows):
        cells = (cell for row in rows for cell in row.find_all(["td", "th"], recursive=False))
        return Written([block for cell in cells for block in blocks(cell)])
    head = tag.find("thead")
    heads = sum(1 for row in rows if head is not None and row.find_parent("thead") is head)
    filled = [_row(row, blocks) for row in rows]
    caption = tag.find("caption")
    named = one_line(caption.get_text().replace("¶", "")) if isinstance(caption, Tag) else ""
    name = named or above
    headed = bool(rows) and (head is not None or _is_headed(rows))
    if not headed and (lists := listed(filled)):
        return Written([lists])
    if not headed and not named and (told := _properties(rows, blocks)):
        return Written([told])
    spread_out = spread(filled, heads)
    if headed and (marks := history(spread_out, name)):
        return Written(marks, True)
    written = table(spread_out, f"Table: {name}" if name else "", headed=headed)
    return Written([written] if written else [])


def _lays_out(tag: Tag, rows: list[Tag]) -> bool:
    """Return True if a table lays the page out: it holds tables or headings without a head, or is one row."""
    return (
        (tag.find("table") is not None and not _is_headed(rows))
        or (tag.find(list(HEADINGS)) is not None and not (tag.find("thead") and len(rows) > 2))
        or (len(rows) == 1 and tag.find("thead") is None and rows[0].find("th") is None)
        or (len(rows) == 1 and len(rows[0].find_all(["td", "th"])) == 1)
    )


def _is_headed(rows: Sequence[Tag]) -> bool:
    """Return True if the first row of several names the columns."""
    cells = rows[0].find_all(["td", "th"], recursive=False) if rows else []
    return bool(cells) and all(cell.name == "th" for cell in cells)


def _in_a_cell(block: str) -> str:
    """Return a block as it fits into a cell: the rows of a table inside of it one after another."""
    lines = block.split("\n")
    if not any(map(_BELOW_HEADER.fullmatch, lines)):
        return block
    rows = [cells(line) for line in lines if line.startswith("|") and not _BELOW_HEADER.fullmatch(line)]
    told = (": ".join(filter(None, row)) for row in rows if any(row))
    return "; ".join(told).replace("\\|", "|")


def _properties(rows: Sequence[Tag], blocks: Callable[[Tag], list[str]]) -> str:
    """Write what a thing has, a name and its value in each row, as a list; empty for other tables."""
    cells = [row.find_all(["td", "th"], recursive=False) for row in rows]
    if len(rows) < LEAST_PROPERTIES or any([cell.name for cell in row] != ["th", "td"] for row in cells):
        return ""
    named = [(one_line(" ".join(blocks(name))).rstrip(" :"), blocks(value)) for name, value in cells]
    return bullets([[labelled(f"{name}:", value)] for name, value in named if value])


def _row(row: Tag, blocks: Callable[[Tag], list[str]]) -> list[Cell]:
    """Return the cells of a row; one over several rows or columns says the same of each of them."""
    return [
        (one_line(" ".join(map(_in_a_cell, blocks(cell)))), _span(cell, "rowspan"), _span(cell, "colspan"))
        for cell in row.find_all(["td", "th"], recursive=False)
    ]


def _span(cell: Tag, name: str) -> int:
    """Return over how many rows or columns a cell goes; 1 for what is no sensible number."""
    written = str(cell.get(name) or "1")
    return int(written) if re.fullmatch(r"[1-9]\d{0,2}", written) else 1
