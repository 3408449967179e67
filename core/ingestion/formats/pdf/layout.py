"""The layout of a PDF's pages: lines in reading order, without what is printed on every page.

Positions are in points (1/72 inch) from the top left corner of the page.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from core.text.words import one_line

MARGIN = 0.12
"""Part of a page's height at its top and its foot where running lines are looked for; ours."""
REPEATED = 0.3
"""Share of the pages on which a line must stand to be a running one; half of them may be left-hand."""
NUMBERED = 0.5
"""Share of the pages whose printed number must stand where it is looked for; ours."""
GUTTER = 12.0
"""Points between two columns, at least."""
_MONOSPACED = re.compile(r"mono|courier|consol|typewriter|cmtt|code|menlo|inconsolata", re.I)
_BOLD = re.compile(r"bold|black|heavy|semibold|-bd\b", re.I)
_MARK = re.compile(r"^\(cid:\d+\)\s+")
_UNREADABLE = re.compile(r"\(cid:\d+\)")
"""Signs of fonts that do not say what they mean; before a text it is a bullet."""
_WORD = re.compile(r"(?<![^\W_])(?<![^\W_]-)[^\W_]++(?:-[^\W_]++)*+(?![\w-])")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.I)
_ENDS = re.compile(r"^(\d{1,4})\b(?![.:)])|(?<![\d.])\b(\d{1,4})$")
_PAGE_NUMBER = re.compile(
    r"^\W*+(?:(?:page|seite|página|第)\W*+)?(?:\d{1,4}|[ivxlc]{1,6})"
    r"(?:(?:\W*+(?:of|von|de)\W*+|(?=[^\w/]*/)\W++)\d++)?\W*+$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text with where it stands and how it is printed."""

    text: str
    left: float
    top: float
    bottom: float
    size: float
    bold: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a page, row by row."""

    rows: tuple[tuple[str, ...], ...]
    top: float


@dataclass(frozen=True, slots=True)
class Page:
    """The lines and tables of a page, in reading order."""

    number: int
    height: float
    items: tuple[Line | Grid, ...]


def lines_of(words: Iterable[dict[str, Any]], width: float) -> list[Line]:
    """Join the words of a page to lines, one column after the other."""
    found = list(words)
    split = _gutter(found, width)
    if split is None:
        return _joined(found)
    wide = [w for w in found if w["x0"] < split < w["x1"]]
    lines: list[Line] = []
    # what runs over both columns (a title) parts the page into bands that are read one by one
    borders = [0.0, *sorted({w["top"] for w in wide}), float("inf")]
    for top, below in pairwise(borders):
        band = [w for w in found if top <= w["top"] < below]
        lines += _joined([w for w in band if w in wide])
        lines += _joined([w for w in band if w not in wide and w["x1"] <= split])
        lines += _joined([w for w in band if w not in wide and w["x1"] > split])
    return lines


def _gutter(words: Sequence[dict[str, Any]], width: float) -> float | None:
    """Return where the page parts into two columns, None where it does not."""
    if len(words) < 60:
        return None
    edges = sorted((w["x0"], w["x1"]) for w in words)
    middle = [x * width / 100 for x in range(35, 66)]
    crossing = {x: sum(1 for a, b in edges if a - GUTTER / 2 < x < b + GUTTER / 2) for x in middle}
    best = min(crossing, key=lambda x: (crossing[x], abs(x - width / 2)))
    left = sum(1 for _, b in edges if b <= best)
    right = sum(1 for a, _ in edges if a >= best)
    if crossing[best] > 0.02 * len(words) or min(left, right) < 0.25 * len(words):
        return None
    # the cells of a table without rules stand level with each other; two columns of text are full
    rows = {round(w["top"]) for w in words}
    full = sum(1 for a, b in edges if b <= best and b > best - width * 0.12)
    return best if full > len(rows) / 6 else None


def _joined(words: Sequence[dict[str, Any]]) -> list[Line]:
    rows: list[list[dict[str, Any]]] = []
    for word in sorted(words, key=lambda w: (w["bottom"], w["x0"])):
        height = word["bottom"] - word["top"]
        if rows and word["bottom"] - median(w["bottom"] for w in rows[-1]) < 0.5 * height:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [_line(sorted(row, key=lambda w: w["x0"])) for row in rows]


def _line(row: Sequence[dict[str, Any]]) -> Line:
    code = all(_MONOSPACED.search(str(w.get("fontname"))) for w in row)
    text = ""
    for before, word in zip([None, *row], row, strict=False):
        if before is not None:
            gap = word["x0"] - before["x1"]
            letter = max(1.0, (word["x1"] - word["x0"]) / max(1, len(word["text"])))
            text += " " * max(1, round(gap / letter)) if code else " "
        text += word["text"]
    return Line(
        _UNREADABLE.sub("", _MARK.sub("• ", text)),
        row[0]["x0"],
        min(w["top"] for w in row),
        max(w["bottom"] for w in row),
        median(w["size"] for w in row),
        all(_BOLD.search(str(w.get("fontname"))) for w in row),
        code,
    )


def without_running_lines(pages: Sequence[Page]) -> list[Page]:
    """Drop headers, footers and page numbers: what stands at the edge of many pages, whatever its numbers."""
    seen: Counter[str] = Counter()
    at: defaultdict[str, set[int]] = defaultdict(set)
    for page in pages:
        for line in page.items:
            if isinstance(line, Line) and _at_edge(line, page):
                at[_shape(line.text)].add(page.number)
    for shape, numbers in at.items():
        seen[shape] = len(numbers)
    needed = max(3, REPEATED * len(pages))
    offset = _offset(pages)

    def runs(item: Line | Grid, page: Page) -> bool:
        if not isinstance(item, Line) or not _at_edge(item, page):
            return False
        if offset is not None and page.number - offset in _ends(item.text) and _is_outermost(item, page):
            return True  # a chapter's title with the number of the page
        return seen[_shape(item.text)] >= needed or bool(_PAGE_NUMBER.match(item.text))

    return [
        Page(page.number, page.height, tuple(item for item in page.items if not runs(item, page)))
        for page in pages
    ]


def _offset(pages: Sequence[Page]) -> int | None:
    """Return how far the printed numbers of most pages are behind the count of pages, None without any."""
    found = Counter(
        page.number - number
        for page in pages
        for number in {
            number
            for item in page.items
            if isinstance(item, Line) and _at_edge(item, page) and _is_outermost(item, page)
            for number in _ends(item.text)
        }
    )
    offset, count = found.most_common(1)[0] if found else (0, 0)
    return offset if count >= max(3, NUMBERED * len(pages)) else None


def _ends(text: str) -> set[int]:
    """Return the numbers that a line begins or ends with."""
    found = _ENDS.finditer(text)
    return {int(match[1] or match[2]) for match in found}


def _is_outermost(line: Line, page: Page) -> bool:
    tops = [item.top for item in page.items]
    return line.top - min(tops) < line.size or max(tops) - line.top < line.size


def known_words(pages: Sequence[Page]) -> frozenset[str]:
    """Return the words of a document as they stand inside of lines, hyphened ones whole, in lower case."""
    found: set[str] = set()
    for page in pages:
        for item in page.items:
            text = item.text if isinstance(item, Line) else " ".join(" ".join(row) for row in item.rows)
            found.update(_WORD.findall(re.sub(r"(?<!\S)\S*-$", "", text.lower())))
    return frozenset(found)


def _at_edge(line: Line, page: Page) -> bool:
    return line.bottom < MARGIN * page.height or line.top > (1 - MARGIN) * page.height


def _shape(text: str) -> str:
    return one_line(_NUMBER.sub("#", text.lower()))


def body_size(pages: Sequence[Page]) -> float:
    """Return the size in points that most text is printed in."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for item in page.items:
            if isinstance(item, Line):
                sizes[round(item.size, 1)] += len(item.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0
