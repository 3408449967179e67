"""Properties of components that hold a reference: lists of objects with a name, a type and what they do.

They are read as data, never run: strings, numbers, words, arrays and objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.ingestion.formats._shared import bullets, inline_code, labelled
from core.text.words import one_line

MAX_DEPTH = 20
"""Arrays and objects inside each other above which a property is not read; ours."""
MAX_LONE = 100
"""Quotes and apostrophes that close nothing above which it is not read either; ours."""

_NAMES = ("name", "prop", "property", "parameter", "param", "option", "attribute", "field", "term", "title")
_TOLD = ("description", "desc", "details", "summary", "text")
_DEFAULTS = ("default", "defaultValue", "initial")
_CODE = frozenset({"type", *_DEFAULTS})
"""What is code, in which angle brackets are no tags."""
_ELSEWHERE = frozenset({"href", "link", "to", "url"})
_SPACE = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/)){0,300}+\*/)*+")
_STRING = re.compile(
    r'"(?P<a>(?:[^"\\\n]|\\.)*+)"|\'(?P<b>(?:[^\'\\\n]|\\.)*+)\'|`(?P<c>(?:[^`\\]|\\.)*+)`', re.S
)
_KEY = re.compile(r"[\w$-]++")
_ESCAPED = re.compile(r"\\(.)", re.S)
_NAME = re.compile(r"(?:[\w$]+(?:\.[\w$]+){0,9})?")
_OPEN = re.compile(r"(?P<code>`[^`\n]++`)|<(?=[\w/!?])")
_TAG = re.compile(r"(?P<code>`[^`\n]++`)|</?[A-Za-z][^<>]{0,300}+>|</?>")
_OPENING = {"[": "]", "{": "}", "(": ")"}


def listed(value: str) -> str:
    """Return the entries that a property holds as a list; empty where it holds none, or only links."""
    if value.lstrip()[:1] not in ("[", "{"):
        return ""
    try:
        return bullets(_items(_Reader(value).whole()))
    except _Unread:
        return ""


def text_of(value: str) -> str:
    """Return the text of a property that is a string, or several on lines of their own; else nothing."""
    value = value.strip()
    try:
        read = _Reader(value).whole() if value[:1] in ("'", '"', "`", "[") else value
    except _Unread:
        return ""
    if _NAME.fullmatch(value):
        return ""  # a variable's name, that no reader sees
    lines = read if isinstance(read, list) else [read]
    is_text = all(isinstance(line, str) and not isinstance(line, _Source) for line in lines)
    return "\n".join(lines) if is_text else ""


def headed(name: str, kind: str, default: str, is_required: bool) -> str:
    """Return what an entry is called, with its type and default: "`size` (`number`, default `2`)"."""
    said = [inline_code(one_line(kind))] if kind else []
    said += ["required"] if is_required else []
    said += [f"default {inline_code(one_line(default))}"] if default else []
    return inline_code(name) + (f" ({', '.join(said)})" if said else "")


class _Unread(Exception):
    """Say that a property is no plain data."""


class _Source(str):
    """What stands in a property and is no string: a number, a word, an expression."""


class _Reader:
    """Reads one value; what is neither array, object nor string is kept as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lone = 0

    def whole(self) -> Any:
        value = self._value(0)
        if self._sign():
            raise _Unread
        return value

    def _sign(self) -> str:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _Unread
        sign = self._sign()
        if sign == "[":
            return self._array(depth)
        if sign == "{":
            return self._object(depth)
        start = self._at
        if (string := self._string()) is not None and self._sign() in ("", ",", "]", "}", ":"):
            return string
        self._at = start
        return self._expression()

    def _array(self, depth: int) -> list[Any]:
        self._at += 1
        found: list[Any] = []
        while (sign := self._sign()) != "]":
            if not sign:
                raise _Unread
            if sign == ",":
                self._at += 1
            else:
                found.append(self._value(depth + 1))
        self._at += 1
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        self._at += 1
        found: dict[str, Any] = {}
        while (sign := self._sign()) != "}":
            if sign == ",":
                self._at += 1
                continue
            key = self._string()
            if key is None:
                named = _KEY.match(self._text, self._at)
                if named is None:
                    raise _Unread
                key, self._at = named[0], named.end()
            if self._sign() == ":":
                self._at += 1
                found[key] = self._value(depth + 1)
            elif self._text[self._at : self._at + 1] in (",", "}"):
                found[key] = _Source(key)
            else:
                raise _Unread
        self._at += 1
        return found

    def _string(self) -> str | None:
        found = _STRING.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        said = next(part for part in found.groups() if part is not None)
        return _ESCAPED.sub(lambda one: "\n" if one[1] == "n" else one[1], said)

    def _expression(self) -> _Source:
        start, awaited = self._at, list[str]()
        while self._at < len(self._text) and self._lone <= MAX_LONE:
            sign = self._text[self._at]
            if not awaited and sign in ",]}":
                break
            if sign in "\"'`":
                if self._string() is None:
                    self._at += 1
                    self._lone += 1
                continue
            if sign in _OPENING:
                awaited.append(_OPENING[sign])
            elif awaited and sign == awaited[-1]:
                awaited.pop()
            self._at += 1
        if awaited or self._at == start or self._lone > MAX_LONE:
            raise _Unread
        return _Source(self._text[start : self._at].strip())


def _items(value: Any) -> list[list[str]]:
    """Return each entry of a value as the blocks of a list's item."""
    entries = value if isinstance(value, list) else list(_named(value)) if isinstance(value, dict) else []
    items: list[list[str]] = []
    for entry in entries:
        if isinstance(entry, dict):
            items += _item(entry, len(entries) == 1)
    return items


def _named(value: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Return the entries of an object whose keys are their names."""
    for name, entry in value.items():
        if isinstance(entry, dict) and any(key in entry for key in (*_TOLD, "type")):
            yield {"name": name, **entry}


def _item(entry: Mapping[str, Any], is_alone: bool) -> list[list[str]]:
    below = [item for inner in entry.values() if isinstance(inner, list) for item in _items(inner)]
    name = _said(entry, _NAMES)
    told, kind = _said(entry, _TOLD), _said(entry, ("type",))
    if not name:
        # One of the types that a property may have, with what it holds.
        is_type = kind and below and not is_alone
        return [[f"{inline_code(kind)}:", bullets(below)]] if is_type else below
    if not _ELSEWHERE.isdisjoint(entry) or not (told or kind or below):
        return []
    is_required = _said(entry, ("required", "isRequired")) == "true"
    head = headed(name, kind, _said(entry, _DEFAULTS), is_required)
    blocks = [labelled(f"{head}:", [told])] if told else [head]
    return [[*blocks, bullets(below)] if below else blocks]


def _said(entry: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first of these that an entry says, as one line without tags."""
    for key in keys:
        if isinstance(value := entry.get(key), str) and value not in ("undefined", "null"):
            return one_line(value if key in _CODE else _unmarked(value, key in _TOLD))
    return ""


def _unmarked(value: str, is_text: bool) -> str:
    """Take the tags out of what an entry says; where none is closed, angle brackets stay in a text."""
    if "</" in value or "/>" in value:
        return _TAG.sub(lambda one: one["code"] or "", value)
    return _OPEN.sub(lambda one: one["code"] or "\\<", value) if is_text else value
