"""The default of a quoted parameter, where only the signature of what it belongs to tells it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.generation.quotes.sections import Whole
from core.generation.quotes.writing import Piece

_WHOLE = 240
"""Characters up to which a signature is shown whole; of a longer one only what is quoted; ours."""
_PARAMETER = re.compile(r"[-*] `\*{0,2}([A-Za-z_]\w*)`")
_SIGNATURE = re.compile(r"`([^`(]{1,120})\(([^`\n]{1,3000})\)[^`()\n]{0,200}`")
_TELLS = re.compile(r"\bdefault", re.IGNORECASE)
_GIVEN = re.compile(r"([A-Za-z_]\w*)(?:\s*:[^=]*)?\s*=\s*(?!None\b)\S")


def signed(piece: Piece, whole: Whole | None) -> Piece:
    """Add the signature above quoted parameters that do not tell their default: from the `whole` section.

    What is quoted anyway, and a default of None, need no line.
    """
    silent = [
        found[1]
        for block in piece.blocks
        if block.kind == "item" and (found := _PARAMETER.match(block.text)) and not _TELLS.search(block.text)
    ]
    text = whole.text if whole else piece.evidence.chunk.page
    for line in map(str.strip, text.split("\n") if silent else ()):
        called = _SIGNATURE.fullmatch(line)
        parts = list(_parameters(called[2])) if called else []
        told = [part for part in parts if (given := _GIVEN.match(part)) and given[1] in silent]
        if called and told:
            if any(line in block.text for block in piece.blocks):
                return piece
            shown = line if len(line) <= _WHOLE else f"`{called[1]}({_some(parts, told)})`"
            return replace(piece, signature=shown)
    return piece


def _parameters(inner: str) -> Iterator[str]:
    """Cut what stands between the brackets at its own commas, not at those of a default."""
    depth, start, quote = 0, 0, ""
    for at, sign in enumerate(inner):
        if quote:
            quote = "" if sign == quote and inner[at - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and not depth:
            yield inner[start:at].strip()
            start = at + 1
    yield inner[start:].strip()


def _some(parts: Sequence[str], told: Sequence[str]) -> str:
    """Return these of a signature's parts, with an ellipsis where others stand."""
    kept = [part if part in told else "…" for part in parts]
    return ", ".join(part for at, part in enumerate(kept) if part != "…" or kept[at - 1 : at] != ["…"])
