"""Large JSON in parts: a list far larger than memory should be, and reading and writing that holds nobody up.

Python reads and writes a JSON text in one go, in which no other thread runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

CHUNK = 1 << 20
"""Characters read at once; twice as many each time an element does not fit."""
_SPACE = " \t\n\r"
_AFTER = f"{_SPACE},:]}}"
"""What may follow a value."""


class _Text:
    """What was read of a file and not yet taken."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._decoder = json.JSONDecoder()
        self._buffer, self._at, self._ended = "", 0, False

    def next(self) -> str:
        """Return the next character that is no space, without taking it; empty at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _SPACE:
                    return self._buffer[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._fill()

    def take(self, wanted: str) -> str:
        """Take the next character, one of the wanted; raises ValueError for another."""
        found = self.next()
        if not found or found not in wanted:
            raise ValueError(f"{found or 'the end'} where one of {wanted} should be")
        self._at += 1
        return found

    def value(self) -> Any:
        """Take the next value; raises ValueError."""
        self.next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
            except ValueError:
                if self._ended:
                    raise
            else:
                after = self._buffer[end : end + 1]
                if self._ended or (after and after in _AFTER):  # else a number may go on
                    self._at = end
                    return value
            self._fill()

    def _fill(self) -> None:
        rest = self._buffer[self._at :]
        more = self._file.read(max(CHUNK, len(rest)))
        self._buffer, self._at, self._ended = rest + more, 0, not more


def whole(place: Path) -> Any:
    """Read a file in one go: for a worker. Raises OSError and ValueError."""
    return json.loads(place.read_text(encoding="utf-8-sig"))


def lines_of(text: str) -> list[str]:
    """Return the lines of a file of JSON lines: a text inside may hold what else ends a line, as U+2028."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def written(thing: Any, depth: int = 2) -> Iterator[str]:
    """Yield the parts of a JSON text, whose lists and objects are written one by one so many levels deep."""
    if depth and isinstance(thing, dict):
        for at, (name, value) in enumerate(thing.items()):
            yield f"{',' if at else '{'}{json.dumps(name)}:"
            yield from written(value, depth - 1)
        yield "}" if thing else "{}"
    elif depth and isinstance(thing, list):
        for at, value in enumerate(thing):
            yield "," if at else "["
            yield from written(value, depth - 1)
        yield "]" if thing else "[]"
    else:
        yield json.dumps(thing)


def members(file: IO[str], *listed: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of a JSON object, lists that are `listed` as one member for each element.

    What is no object has no members. Raises ValueError for what is no JSON.
    """
    text = _Text(file)
    if text.next() != "{":
        text.value()
        return
    text.take("{")
    while text.next() != "}":
        name = text.value()
        if not isinstance(name, str):
            raise ValueError(f"{name!r} is no name")
        text.take(":")
        if name in listed and text.next() == "[":
            for element in _elements(text):
                yield name, element
        else:
            yield name, text.value()
        if text.next() != "}":
            text.take(",")
    text.take("}")


def _elements(text: _Text) -> Iterator[Any]:
    text.take("[")
    while text.next() != "]":
        yield text.value()
        if text.next() != "]":
            text.take(",")
    text.take("]")
