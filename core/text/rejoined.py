"""A section put together again from the pages that it was cut into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_FENCE = re.compile(r"(`{3,})([^`]*)$")
Fenced = tuple[int, int, str, str]
"""The lines of an opening and of a closing fence, the mark, and the language."""


def rejoined(pages: Iterable[str], size: int) -> str:
    """Join pages; a block of code that was too long for one page is one block again.

    Two blocks beside each other were one if they have one language and are longer than a page's `size`.
    """
    lines: list[str] = []
    last: Fenced | None = None
    for page in pages:
        added = page.split("\n")
        fences = _fences(added)
        if last and fences and last[1] == len(lines) - 1 and not fences[0][0] and last[2:] == fences[0][2:]:
            first = fences[0]
            if sum(map(len, (*lines[last[0] :], *added[: first[1] + 1]))) > size:
                at = len(lines) - 2
                lines[-1:] = added[1:]
                start, end, *_ = fences[-1]
                last = (last[0] if len(fences) == 1 else at + start, at + end, *fences[-1][2:])
                continue
        if lines:
            lines.append("")
        at = len(lines)
        lines += added
        last = (at + fences[-1][0], at + fences[-1][1], *fences[-1][2:]) if fences else None
    return "\n".join(lines)


def _fences(lines: Sequence[str]) -> list[Fenced]:
    found: list[Fenced] = []
    start, mark, language = -1, "", ""
    for at, line in enumerate(lines):
        fence = _FENCE.match(line)
        if start >= 0:
            if fence and len(fence[1]) >= len(mark) and not fence[2].strip():
                found.append((start, at, mark, language))
                start = -1
        elif fence:
            start, mark, language = at, fence[1], fence[2]
    return found
