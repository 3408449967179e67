"""A TOML file a person wrote: what it says, where each key stands, and what is wrong with it, by its line."""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.errors import ConfigurationError

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


def quoted(value: object) -> str:
    """Write a text, a number, a truth or a list of these as TOML does; other scripts stay readable."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


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


_AT_LINE = re.compile(r"(?<!\s)\s*+\(at (?:line (\d+), column \d+|end of document)\)")
_BARE_COLON = re.compile(r"\s*+\[[^\"'#]*:")


class TomlFile:
    """Hold what a TOML file says, and word what is wrong with it."""

    def __init__(self, path: Path, what: str) -> None:
        """Read the file; `what` says what it is for, in the error where there is none.

        Raises ConfigurationError with the line where it is not TOML.
        """
        self.path = path
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise ConfigurationError(f"{path} does not exist; create it, {what}.") from None
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise self._at(line, "this is not UTF-8; allowed here: text saved as UTF-8") from None
        text = text.replace("\r\n", "\n")
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except ValueError as error:  # a TOMLDecodeError, or a number with too many digits
            raise self._syntax(str(error), text) from None
        except RecursionError:
            raise self._at(1, "lists are nested too deeply; allowed here: what corpora.toml shows") from None
        self._lines = TomlLines(text)

    def line(self, place: Place) -> int:
        """Return the line of the deepest part of the place that stands in the file."""
        return self._lines.line(place)

    def mistake(self, place: Place, what: str, allowed: str) -> ConfigurationError:
        """Word a mistake: where it is, what it is, and what may stand there."""
        return self._at(self.line(place), f"{what}; allowed here: {allowed}")

    def unknown(self, place: Place, what: str, name: str, allowed: Iterable[str]) -> ConfigurationError:
        """Word a name that is none of the allowed ones, with the one it was perhaps meant to be."""
        names = list(allowed)
        near = get_close_matches(name.lower(), names, n=1)
        guess = f' (did you mean "{near[0]}"?)' if near else ""
        return self.mistake(place, f"{what}{guess}", ", ".join(names) or "nothing")

    def invalid(self, error: ValidationError, table: Place, keys: Sequence[str] = ()) -> ConfigurationError:
        """Word the mistake that pydantic found in a table; `keys` are those the table may have."""
        first = next((e for e in error.errors() if e["type"] == "extra_forbidden"), error.errors()[0])
        place = (*table, *first["loc"])
        name, where = place[-1], label(place[:-1])
        if isinstance(name, int):  # an item is called by its list
            name, where = place[-2], label(place[:-2])
        match first["type"]:
            case "extra_forbidden":
                return self.unknown(place, f'unknown key "{name}" in {where}', str(name), keys)
            case "missing" if len(place) == 1:
                brackets = f"[{name}]" if name == "product" else f"[[{name}]]"
                return self.mistake(place, f"table {brackets} is missing", ", ".join(keys))
            case "missing":
                return self.mistake(place, f'key "{name}" is missing in {where}', ", ".join(keys))
            case "list_type" if isinstance(first["input"], dict):
                double = f"[[{label(place).strip('[]')}]]"
                return self.mistake(place, f"{label(place)} has single brackets", double)
        return self.mistake(place, f'"{name}" in {where} is {_toml(first["input"])}', _allowed(first))

    def _syntax(self, message: str, text: str) -> ConfigurationError:
        found = _AT_LINE.search(message)
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        what = _AT_LINE.sub("", message)
        written = text.split("\n")[line - 1] if line <= text.count("\n") + 1 else ""
        if "Cannot overwrite" in what or "Cannot declare" in what:
            return self._at(line, f"a key or table stands twice ({what}); allowed here: each once")
        if _BARE_COLON.match(written):
            return self._at(
                line, 'a name with a colon needs quotes; allowed here: for example [channels."slack:C0123"]'
            )
        return self._at(line, f"this is not TOML ({what}): {written.strip()}; allowed here: key = value")

    def _at(self, line: int, what: str) -> ConfigurationError:
        return ConfigurationError(f"{self.path}, line {line}: {what}.")


def label(place: Place) -> str:
    """Write a place as the header of its table: `[[release.source]]`, `[channels."slack:C1"]`."""
    if not place:
        return "the file"
    names = [key if BARE_KEY.fullmatch(key) else f'"{key}"' for key in place if isinstance(key, str)]
    path = ".".join(names)
    return f"[[{path}]]" if isinstance(place[-1], int) else f"[{path}]"


def keys_of(*models: type[BaseModel]) -> list[str]:
    """Return the keys that tables of these models may have, sorted."""
    return sorted({field.alias or name for model in models for name, field in model.model_fields.items()})


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{shorten(value, 60, placeholder="…")}"' if value.strip() else f'"{value}"'
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else str(value)


def _allowed(mistake: ErrorDetails) -> str:
    """Say what may stand where pydantic found another value."""
    value = mistake["input"]
    match mistake["type"]:
        case "list_type":
            return 'a list, ["…", "…"]'
        case "string_type" if isinstance(value, int | float) and not isinstance(value, bool):
            return f'text in quotes, "{value}"'
        case "string_type":
            return "text in quotes"
        case "bool_type":
            return "true or false"
        case "dict_type" | "model_type" | "model_attributes_type":
            return "a table"
        case "literal_error":
            return str(mistake["ctx"]["expected"]).replace("'", '"')
        case "value_error":
            return str(mistake["ctx"]["error"])
        case _:
            return mistake["msg"].removeprefix("Input should be ")
