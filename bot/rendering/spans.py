"""What in Markdown is torn by no cut: code, links, emphasis, and characters that people see as one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_MARKER = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*|__|~~|\|\|)(?=\S)[^\n]{1,300}?(?<=\S)\1|<[^<>\s]{1,500}>")
_LONGEST_LINK = 2048
"""Characters after which an open bracket is taken for text: what browsers take as an address."""


def spans(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a paragraph that stay whole, in order and apart from each other."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(_found(text)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _found(text: str) -> Iterator[tuple[int, int]]:
    runs = [(m.start(), m.end()) for m in re.finditer("`+", text)]
    later: dict[int, list[int]] = {}
    for start, end in reversed(runs):
        later.setdefault(end - start, []).append(start)
    code: list[tuple[int, int]] = []
    for start, end in runs:
        if code and start < code[-1][1]:
            continue
        same = later[end - start]
        while same and same[-1] <= start:
            same.pop()
        if same:
            code.append((start, same[-1] + end - start))
    yield from code
    yield from (m.span() for m in _EMPHASIS.finditer(text))
    yield from ((m.start(), m.end() + 1) for m in _MARKER.finditer(text))
    plain = re.sub(r"\\.", "  ", text, flags=re.DOTALL)
    for start, end in code:
        plain = plain[:start] + " " * (end - start) + plain[end:]
    opened: list[int] = []
    for match in re.finditer(r"[\[\]]", plain):
        if match.group() == "[":
            opened.append(match.start())
        elif opened:
            start, end = opened.pop(), match.end()
            after = plain[end : end + 1]
            if after == "(":
                end = _closing(plain, end)
            elif after == "[":
                end = plain.find("]", end, end + _LONGEST_LINK) + 1 or end
            yield start - (plain[start - 1 : start] == "!"), end


def _closing(text: str, start: int) -> int:
    """Return the end of the bracketed stretch that opens at `start`, or `start` if it never ends."""
    depth = 0
    for match in re.finditer(r"[()]", text[start : start + _LONGEST_LINK]):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return start + match.end()
    return start


def boundary(text: str, place: int) -> bool:
    """Return True if no character that people see as one is torn by a cut at this place."""
    if not 0 < place < len(text):
        return True
    before, after = text[place - 1], text[place]
    if after in "\u200d\u200c" or before == "\u200d" or unicodedata.category(after).startswith("M"):
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False  # skin tones, and the tags that spell the flags of regions
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if "\uac00" <= before <= "\ud7a3" or "\u1100" <= before <= "\u11ff":
        return not "\u1100" <= after <= "\u11ff"  # Hangul syllables spelled in their letters
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff":
        count = 0
        while place - 1 - count >= 0 and "\U0001f1e6" <= text[place - 1 - count] <= "\U0001f1ff":
            count += 1
        return count % 2 == 0  # a flag is two letters
    return True
