"""Patterns that choose files: `**/*.rst`, `guide/`, `*.{md,mdx}`."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]{0,200}\]|\{[^{}/]*\}|.", re.DOTALL)


class Patterns:
    """Match paths below a folder, as `pathlib` globs do.

    `**/` stands for any number of folders, none included; `*`, `?`, `[…]` and `{a,b}` for parts of
    one name. A pattern that matches a folder takes everything in it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._written = tuple(patterns)
        self._expression = re.compile("|".join(map(_translated, patterns)) or r"(?!)", re.DOTALL)

    def match(self, path: str) -> bool:
        """Return True if the path, with `/` between its parts, or a folder it lies in, is meant."""
        return self._expression.fullmatch(path) is not None

    def names(self, folder: str) -> bool:
        """Return True if a pattern spells this folder's name out."""
        return any(folder in pattern.split("/") for pattern in self._written)


def _translated(pattern: str) -> str:
    pattern = pattern.removeprefix("./").strip("/")
    inside = "" if pattern.endswith("**") else "(?:/.*)?"
    return "".join(_piece(found[0]) for found in _PIECE.finditer(pattern)) + inside


def _piece(text: str) -> str:
    if text == "**/":
        return "(?:[^/]+/)*"
    if text == "**":
        return ".*"
    if text == "*":
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if text.startswith("[") and len(text) > 2:
        inside = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[{'^/' + inside[1:] if inside.startswith('!') else inside}]"
    if text.startswith("{") and len(text) > 1:
        alternatives = text[1:-1].split(",")
        return f"(?:{'|'.join(''.join(_piece(f[0]) for f in _PIECE.finditer(a)) for a in alternatives)})"
    return re.escape(text)
