"""Tables of Markdown: how they are written, the line under their header, and their cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.words import one_line

BELOW_HEADER = r"\|?(?:[ \t]*+:?-{1,200}+:?[ \t]*+\|){1,200}+[ \t]*+(?::?-{1,200}+:?[ \t]*+)?"
"""The line of dashes under the header of a table, without what it is indented by; a regular expression."""
BAR = re.compile(r"(?<!\\)\|")
"""What ends the cell of a table."""


def cells(line: str) -> tuple[str, ...]:
    """Return the cells of a line of a table."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.strip() for cell in BAR.split(inner))


def table(rows: Sequence[Sequence[str]], caption: str = "", *, headed: bool = True) -> str:
    """Write rows as a Markdown table, the first as its header if it has one; empty without any text."""
    cleaned = [[one_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    cleaned = [row for row in cleaned if any(row)]
    if not cleaned:
        return ""
    width = max(len(row) for row in cleaned)
    filled = [row + [""] * (width - len(row)) for row in cleaned]
    kept = [at for at in range(width) if any(row[at] for row in filled)]  # others only keep columns apart
    width = len(kept)
    lines = ["| " + " | ".join(row[at] for at in kept) + " |" for row in filled]
    if not headed:
        lines.insert(0, "|" + "  |" * width)
    lines.insert(1, "|" + " --- |" * width)
    body = "\n".join(lines)
    return f"{caption}\n\n{body}" if caption else body


Cell = tuple[str, int, int]
"""What a cell says, and over how many rows and columns."""
MOST_COLUMNS = 60
"""Columns of a table that are read; ours."""


def spread(rows: Sequence[Sequence[Cell]], heads: int = 0) -> list[list[str]]:
    """Write cells over several rows or columns into each of them; `heads` rows of a header become one.

    A column whose header has two rows is named by both: `Quota Jobs`. A cell over all columns heads the rows
    under it, and is written once.
    """
    filled: list[dict[int, str]] = [{} for _ in rows]
    for number, row in enumerate(rows):
        column = 0
        for text, down, across in row:
            while column in filled[number]:
                column += 1
            for line in filled[number : number + max(down, 1)]:
                for place in range(column, min(column + max(across, 1), MOST_COLUMNS)):
                    line.setdefault(place, text)
    width = max((max(line) + 1 for line in filled if line), default=0)
    told = [
        [rows[number][0][0], *[""] * (width - 1)]
        if number >= heads and over_all(rows[number], width)
        else [line.get(place, "") for place in range(width)]
        for number, line in enumerate(filled)
    ]
    if heads < 2 or not width:
        return told
    names = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*told[:heads], strict=True)]
    return [names, *told[heads:]]


def over_all(row: Sequence[Cell], width: int) -> bool:
    """Return True for a row that is one cell over all of a table's `width` columns."""
    return len(row) == 1 and row[0][2] >= width > 1
