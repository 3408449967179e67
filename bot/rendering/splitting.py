"""Cuts long Markdown into messages that each stand on their own.

A platform takes only so much in one message. Each part reads as whole Markdown: a code fence is
closed and opened again with its language, a table gets its header again, a link stays in one piece.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from bot.rendering.spans import boundary, spans
from core.text.words import closes_fence

Measure = Callable[[str], int]

SMALLEST = 50
"""Least limit that leaves room for text beside a fence that is closed and opened again."""

_LEAST_FILL = 1 / 3
"""Share of a part below which a worse place that fills it better is taken."""

_FENCE = re.compile(r"([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,8}(?=[^`]*$)|~{3,8}(?!~))(.*)")
_RULE = re.compile(r"[ \t>]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]")
_UNDERLINE = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*")
_QUOTE = re.compile(r"(?:[ \t]{0,3}>)+[ \t]?")
_GAP = re.compile(r"\s*\n|[^\S\n]+")
_SENTENCE_END = re.compile(r"(?<!\d)[.!?…:;][\"')\]*_]*(?=\s)|[。！？]")
_LONGEST_LEAD = 8
_FENCED = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_STARTS = re.compile(r"[ \t]*(?:[-*+>|#]|\d{1,9}[.)][ \t]|`{3,}|~{3,}|\Z)")
"""How a line begins that starts something of its own, or is blank."""
"""Characters of quote marks and indentation that are repeated before a fence."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One part: a stretch of the text, between what is added to make it stand on its own."""

    opening: str
    body: str
    closing: str

    def __str__(self) -> str:
        return self.opening + self.body + self.closing


def split(markdown: str, limit: int, measure: Measure = len) -> list[str]:
    """Cut Markdown to parts of at most `limit` by `measure`, in order; blank text gives `[""]`.

    `measure` must not fall as text grows (`len`, or bytes of UTF-8). Cuts fall between paragraphs
    where they can, then between lines, sentences and words. Raises ValueError for a limit under 50.
    """
    return [str(piece) for piece in pieces(markdown, limit, measure)]


def pieces(markdown: str, limit: int, measure: Measure = len) -> list[Piece]:
    """Cut as `split` does, telling text and additions apart.

    The bodies in order are the text again, but for white space at the cuts.
    """
    if limit < SMALLEST:
        raise ValueError(f"a limit of {limit} is too small to cut Markdown; give at least {SMALLEST}")
    text = re.sub(r"\A(?:[^\S\n]*\n)+", "", markdown.replace("\r\n", "\n")).rstrip()
    return list(_Cutter(text, limit, measure)) if text else [Piece("", "", "")]


@dataclass(slots=True)
class _Block:
    """A paragraph, fence or table at text[start:end], and what surrounds it after a cut inside.

    `rows` are the places where a fence or table may be cut; `openings` go from full to nothing.
    """

    kind: str
    start: int
    end: int
    rows: list[int] = field(default_factory=list)
    openings: tuple[str, ...] = ("",)
    closing: str = ""
    closed: bool = True


class _Cutter:
    """Knows where one text may be cut, and cuts it."""

    def __init__(self, text: str, limit: int, measure: Measure) -> None:
        self._text, self._limit, self._measure = text, limit, measure
        self._blocks = list(_blocks(text))
        self._starts = [block.start for block in self._blocks]
        self._wholes: list[tuple[int, int]] = []
        # Places to cut, best kind first: paragraphs, lines, sentences, words, gaps in code and rows.
        self._places: tuple[list[int], ...] = ([], [], [], [], [])
        heading = True
        for block in self._blocks:
            body = text[block.start : block.end]
            if not heading:
                self._places[0].append(block.start)
            if block.kind == "text":
                self._survey(block.start, body)
            else:
                self._places[1].extend(block.rows)
                # before the end of its first line a fence is not open yet
                first = body.find("\n") + 1 if block.kind == "fence" else 0
                self._wholes += [(block.start, block.start + first)] if first else []
                self._places[4].extend(block.start + gap.end() for gap in _GAP.finditer(body, first))
            heading = block.kind == "text" and _HEADING.match(body, body.rfind("\n") + 1) is not None
        self._ends = [end for _, end in self._wholes]

    def _survey(self, start: int, body: str) -> None:
        wholes = spans(body)
        ends = [end for _, end in wholes]

        def free(place: int) -> bool:
            index = bisect_right(ends, place)
            return index == len(wholes) or wholes[index][0] >= place

        _, lines, sentences, words, _ = self._places
        breaks = [0, *(gap.end() for gap in re.finditer("\n", body)), len(body) + 1]
        for (a, b), (_, c) in pairwise(pairwise(breaks)):
            stranded = _HEADING.match(body, a) or _UNDERLINE.fullmatch(body, b, c - 1)
            if not stranded and free(b):
                lines.append(start + b)
        words += (start + gap.end() for gap in _GAP.finditer(body) if free(gap.end()))
        for match in _SENTENCE_END.finditer(body):
            gap = _GAP.match(body, match.end())
            place = gap.end() if gap else match.end()
            if free(place):
                sentences.append(start + place)
        self._wholes += ((start + a, start + b) for a, b in wholes)

    def __iter__(self) -> Iterator[Piece]:
        start, size = 0, len(self._text)
        while start < size:
            end = self._end(start)
            piece = self._piece(start, end)
            if piece.body.strip() or piece.opening:
                yield piece
            inside = self._inside(end)
            if not (inside and inside.kind == "fence") and self._text[end - 1] != "\n":
                gap = _GAP.match(self._text, end)
                end = gap.end() if gap else end
            start = end

    def _inside(self, place: int) -> _Block | None:
        """Return the block that a cut at this place would tear."""
        index = bisect_left(self._starts, place) - 1
        block = self._blocks[index] if index >= 0 else None
        return block if block and (place < block.end or not block.closed) else None

    def _piece(self, start: int, end: int) -> Piece:
        first, last = self._inside(start), self._inside(end)
        body = self._text[start:end]
        closing = ""
        if last and last.kind == "fence":
            closing = ("" if body.endswith("\n") else "\n") + last.closing
        else:
            body = body.rstrip()
        opening = ""
        if first and first.kind == "fence":
            room = self._limit * 2 // 3 - self._measure(first.closing)
            opening = next((o for o in first.openings if self._measure(o) <= room), "")
        elif first and first.kind == "table" and start in first.rows:
            row = self._text.find("\n", start, first.end)
            rest = self._text[start : row if row >= 0 else first.end]
            opening = next((o for o in first.openings if self._measure(o + rest) <= self._limit), "")
        elif first and self._text[start - 1] != "\n":
            quote = _QUOTE.match(self._text, self._text.rfind("\n", 0, start) + 1)
            opening = quote.group() if quote and len(quote.group()) <= SMALLEST // 4 else ""
        return Piece(opening, body, closing)

    def _fits(self, start: int, end: int) -> bool:
        return self._measure(str(self._piece(start, end))) <= self._limit

    def _end(self, start: int) -> int:
        """Find where the part that starts here should end."""
        size = len(self._text)
        step = self._limit
        while start + step < size and self._fits(start, start + step):
            step *= 2
        if start + step >= size and self._fits(start, size):
            return size
        low, high = start + 1, min(size, start + step)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._fits(start, middle) else (low, middle - 1)
        while True:
            end = self._best(start, low)
            # A closing fence makes a shorter stretch the longer part, so the choice is checked.
            if end <= start + 1 or self._fits(start, end):
                return self._unbroken(start, end)
            low = end - 1

    def _best(self, start: int, reach: int) -> int:
        least = start + int((reach - start) * _LEAST_FILL)
        for floor, kinds in ((least, self._places[:3]), (start, self._places)):
            for places in kinds:
                index = bisect_right(places, reach) - 1
                if index >= 0 and places[index] > floor:
                    return places[index]
        boundaries = [place for place in range(reach, start, -1) if boundary(self._text, place)]
        return next((p for p in boundaries if not self._torn(p)), boundaries[0] if boundaries else reach)

    def _torn(self, place: int) -> bool:
        index = bisect_right(self._ends, place)
        return index < len(self._ends) and self._wholes[index][0] < place

    def _unbroken(self, start: int, end: int) -> int:
        """Cut before a fence or table instead of inside where it fits whole into the next part."""
        block = self._inside(end)
        if not block or block.kind == "text" or block.start <= start:
            return end
        index = bisect_right(self._places[0], block.start) - 1
        before = self._places[0][index] if index >= 0 else 0
        return before if before > start and self._fits(before, block.end) else end


def _blocks(text: str) -> Iterator[_Block]:
    """Find paragraphs, fences and tables; blank lines outside of fences belong to none."""
    lines: list[tuple[int, str]] = []
    at = 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    at = 0
    while at < len(lines):
        start, line = lines[at]
        first = at
        at += 1
        if not line.strip():
            continue
        if fence := _FENCE.fullmatch(line):
            lead, mark, info = fence.groups()
            quoted = ">" in lead
            closed = False
            while at < len(lines) and not closed and not (quoted and ">" not in lines[at][1][:12]):
                closed = closes_fence(lines[at][1], mark, " \t>")
                at += 1
            body = lines[first + 2 : at - 1 if closed else at]
            lead = re.sub(r"[^ \t>]", " ", lead) if len(lead) <= _LONGEST_LEAD else ""
            word = (info.split() or [""])[0]
            yield _Block(
                "fence",
                start,
                lines[at - 1][0] + len(lines[at - 1][1]),
                [place for place, _ in body],
                (f"{lead}{mark}{word}\n", f"{lead}{mark}\n", f"{mark}\n"),
                lead + mark,
                closed or quoted,
            )
            continue
        if "|" in line and at < len(lines) and "|" in lines[at][1] and _RULE.fullmatch(lines[at][1]):
            at += 1
            while at < len(lines) and lines[at][1].strip() and not _FENCE.fullmatch(lines[at][1]):
                at += 1
            header = text[start : lines[first + 1][0]] + lines[first + 1][1] + "\n"
            end = lines[at - 1][0] + len(lines[at - 1][1])
            yield _Block("table", start, end, [place for place, _ in lines[first + 3 : at]], (header,))
            continue
        while at < len(lines) and lines[at][1].strip() and not _FENCE.fullmatch(lines[at][1]):
            if at + 1 < len(lines) and "|" in lines[at][1] and _RULE.fullmatch(lines[at + 1][1]):
                break
            at += 1
        yield _Block("text", start, lines[at - 1][0] + len(lines[at - 1][1]))


def broken(markdown: str) -> str:
    """Make the line ends of a text hard ones, as CommonMark knows them: a list of sources is no paragraph."""
    lines = markdown.split("\n")
    fence = ""
    for at, line in enumerate(lines[:-1]):
        if found := _FENCED.match(line):
            fence = "" if fence and found[1].startswith(fence) else fence or found[1]
        ends = _STARTS.match(lines[at + 1]) or not line.strip() or line.lstrip().startswith(("|", "#"))
        if not (fence or found or ends or line.endswith("  ")):
            lines[at] = line + "  "
    return "\n".join(lines)
