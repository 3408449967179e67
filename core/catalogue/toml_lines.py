"""On which line each key of a TOML file stands, which `tomllib` does not keep."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Sequence

Place = tuple[str | int, ...]
"""Keys and list positions that lead to a value: `("release", 0, "source", 1, "kind")`."""

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_SPACE = re.compile(r"[ \t]*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'  # a closing delimiter may follow up to two quotes of the text
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


class TomlLines:
    """Know the lines of a file that `tomllib` has accepted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newlines = [i for i, character in enumerate(text) if character == "\n"]
        self._at: dict[Place, int] = {}
        self._lengths: dict[Place, int] = {}
        self._position = 0
        self._scan()

    def line(self, path: Sequence[str | int]) -> int:
        """Return the line, from 1, of the deepest part of the path that stands in the file."""
        for length in range(len(path), 0, -1):
            position = self._at.get(tuple(path[:length]))
            if position is not None:
                return self._line_of(position)
        return 1

    def __contains__(self, path: Sequence[str | int]) -> bool:
        return tuple(path) in self._at

    def _line_of(self, position: int) -> int:
        return bisect_right(self._newlines, position - 1) + 1

    def _scan(self) -> None:
        table: Place = ()
        self._skip(_BLANK)
        while self._position < len(self._text):
            start = self._position
            if self._text.startswith("[", start):
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)
            if self._position == start:  # beyond the grammar of TOML 1.0: keep what was found
                return

    def _header(self) -> Place:
        start = self._position
        double = self._text.startswith("[[", start)
        self._position += 2 if double else 1
        keys = list(self._keys())
        self._position += 2 if double else 1
        path: Place = ()
        for key in keys[:-1]:
            path = self._inside((*path, key))
            self._note(path, start)
        path = (*path, *keys[-1:])
        self._note(path, start)
        if double:
            index = self._lengths.get(path, 0)
            self._lengths[path] = index + 1
            path = (*path, index)
            self._note(path, start)
        return path

    def _inside(self, path: Place) -> Place:
        """Step into the latest element where the path names an array of tables."""
        return (*path, self._lengths[path] - 1) if path in self._lengths else path

    def _pair(self, table: Place) -> None:
        start = self._position
        path = table
        for key in self._keys():
            path = (*path, key)
            self._note(path, start)
        self._position += 1  # the equals sign
        self._value(path)

    def _keys(self) -> Iterator[str]:
        while True:
            self._skip(_SPACE)
            if bare := BARE_KEY.match(self._text, self._position):
                self._position = bare.end()
                yield bare.group()
            elif quoted := _STRING.match(self._text, self._position):
                self._position = quoted.end()
                yield str(tomllib.loads(f"key = {quoted.group()}")["key"])
            else:
                return
            self._skip(_SPACE)
            if not self._text.startswith(".", self._position):
                return
            self._position += 1

    def _value(self, path: Place) -> None:
        self._skip(_SPACE)
        if self._text.startswith("[", self._position):
            self._items(path)
        elif self._text.startswith("{", self._position):
            self._position += 1
            while self._more("}"):
                self._pair(path)
        else:
            self._skip(_STRING if self._text[self._position : self._position + 1] in ("'", '"') else _SCALAR)

    def _items(self, path: Place) -> None:
        self._position += 1
        index = 0
        while self._more("]"):
            self._note((*path, index), self._position)
            self._value((*path, index))
            index += 1

    def _more(self, end: str) -> bool:
        """Move to the next item; False, and past the bracket, where there is none."""
        self._skip(_BLANK)
        if self._text.startswith(",", self._position):
            self._position += 1
            self._skip(_BLANK)
        if self._position >= len(self._text) or self._text.startswith(end, self._position):
            self._position += 1
            return False
        return True

    def _note(self, path: Place, position: int) -> None:
        self._at.setdefault(path, position)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        if match := pattern.match(self._text, self._position):
            self._position = match.end()
