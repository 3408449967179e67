"""Tables of Markdown: the line under their header, and their cells."""

from __future__ import annotations

import re

BELOW_HEADER = r"\|?(?:[ \t]*+:?-{1,200}+:?[ \t]*+\|){1,200}+[ \t]*+(?::?-{1,200}+:?[ \t]*+)?"
"""The line of dashes under the header of a table, without what it is indented by; a regular expression."""
BAR = re.compile(r"(?<!\\)\|")
"""What ends the cell of a table."""


def cells(line: str) -> tuple[str, ...]:
    """Return the cells of a line of a table."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.strip() for cell in BAR.split(inner))
