"""The tags and braces of MDX: read into a tree, however they are nested and where they are never closed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_EXPRESSION = 5_000
"""Characters of one expression above which a brace is only a brace; ours."""
MAX_TAGS = 20_000
"""Tags of a page above which it is left as it is; ours."""

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]*)?(?=[\s/>])")
_ATTRIBUTE = re.compile(
    r"""\s*(?P<name>[\w:.-]+)(?:\s*=\s*(?:"(?P<a>[^"]*)"|'(?P<b>[^']*)'|(?P<brace>\{)))?"""
)
_BRACE = re.compile(r"[{}]")
_END = re.compile(r"\s*(/?)>")
_SPREAD = re.compile(r"\s*\{")


@dataclass(slots=True)
class Element:
    """A tag with its properties, and its text and tags in their order."""

    name: str
    props: dict[str, str]
    parts: list[str | Element] = field(default_factory=list)


def tree_of(text: str) -> Element | None:
    """Read the tags of a text; None where there are too many. What is never closed holds nothing."""
    top = Element("", {})
    stack = [top]
    opened: dict[str, list[int]] = {}
    last = position = count = 0
    braces = braces_of(text)
    while found := _TAG.search(text, position):
        count += 1
        if count > MAX_TAGS:
            return None
        end, props, closed = _attributes(text, found.end(), braces)
        name = found["name"] or ""
        if end < 0:
            position = found.end()
            continue
        stack[-1].parts.append(text[last : found.start()])
        last = position = end
        if found["close"]:
            if places := opened.get(name):
                _close(stack, opened, places[-1])
            continue
        element = Element(name, props)
        stack[-1].parts.append(element)
        if not closed and name.lower() not in ("br", "img", "hr", "input", "source", "link", "meta"):
            opened.setdefault(name, []).append(len(stack))
            stack.append(element)
    _close(stack, opened, 0)
    top.parts.append(text[last:])
    return top


def _close(stack: list[Element], opened: dict[str, list[int]], depth: int) -> None:
    """Close the element at this depth of the stack; what was left open inside of it holds nothing."""
    outer = stack[depth]
    for inner in stack[depth + 1 :]:
        outer.parts += inner.parts
        inner.parts = []
    for element in reversed(stack[depth:] if depth else stack[1:]):
        opened[element.name].pop()
    del stack[max(depth, 1) :]


def _attributes(text: str, position: int, braces: dict[int, int]) -> tuple[int, dict[str, str], bool]:
    """Read a tag's attributes; return where it ends (-1: nowhere), them, and whether it closes itself."""
    props: dict[str, str] = {}
    while True:
        if end := _END.match(text, position):
            return end.end(), props, bool(end[1])
        found = _ATTRIBUTE.match(text, position)
        if found and found["brace"]:
            closing = braces.get(found.end() - 1, -1)
            if closing < 0:
                return -1, {}, False
            props[found["name"]] = text[found.end() : closing - 1].strip()
            position = closing
        elif found:
            props[found["name"]] = found["a"] or found["b"] or ""
            position = found.end()
        elif spread := _SPREAD.match(text, position):
            position = braces.get(spread.end() - 1, -1)
            if position < 0:
                return -1, {}, False
        else:
            return -1, {}, False


def braces_of(text: str) -> dict[int, int]:
    """Return where each brace is closed (the place behind it), but for those that are too far apart."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            if match.end() - start <= MAX_EXPRESSION:
                found[start] = match.end()
    return found
