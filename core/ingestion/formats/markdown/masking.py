"""Code put out of the way of what rewrites Markdown: a fence becomes a sign, and comes back; tags of JSX."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from core.text.tables import BAR, BELOW_HEADER, cells
from core.text.words import closes_fence

_FENCE = re.compile(
    r"^(?P<before>[ \t]*(?:(?:>|[-*+]|\d+[.)])[ \t]+)*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$"
)
_SPAN = re.compile(
    r"(?<![`\\])(?P<mark>`+)(?!`)(?P<code>(?:[^`]|(?!(?<!`)(?P=mark)(?!`))`){1,600}?)(?P=mark)(?!`)"
)
_SIGN = re.compile("\ue000(\\d+)\ue001")
_SIGNS = re.compile("[\ue000\ue001]")
_BELOW_HEADER = re.compile(rf"[ \t>]*+{BELOW_HEADER}")


class Masked:
    """A Markdown text whose code is hidden; `text` may be changed, then `restored` brings the code back.

    A fence stands on its line as one sign, without the spaces that it is indented by, so that it can be
    moved in or out; a code span stands where it stood. A span that runs over a blank
    line or is longer than 600 characters is none.
    """

    def __init__(self, text: str) -> None:
        self._kept: list[str] = []
        self.text = self._spans_out(self._fences_out(_SIGNS.sub("", text)))

    def sign(self, code: str) -> str:
        """Hide one more piece of code, and return the sign that stands for it."""
        self._kept.append(code)
        return f"\ue000{len(self._kept) - 1}\ue001"

    def shown(self, text: str) -> str:
        """Return a part of the text with its code, without changing anything."""

        def bring(found: re.Match[str]) -> str:
            code = self.shown(self._kept[int(found[1])])
            if "\n" not in code:
                return code
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            return code.replace("\n", "\n" + re.sub(r"[^\s>]", " ", line))

        return _SIGN.sub(bring, text)

    def restored(self) -> str:
        """Return the text with its code.

        Two blank lines end an admonition, also where they stand in its code: those of code are as wide as
        the code is indented, and text keeps one.
        """
        return self.shown(re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", self.text))

    def change_code(self, change: Callable[[str], str]) -> None:
        """Rewrite each fence that was hidden."""
        self._kept = [change(code) if code[:3] in ("```", "~~~") else code for code in self._kept]

    def change_cells(self) -> None:
        """Escape bars in the code of tables' cells, where they would end a cell that nobody meant to end.

        MkDocs reads them as code; on GitHub such a row has more cells than its table, and loses the last.
        """
        lines = self.text.split("\n")
        columns = 0
        for at, line in enumerate(lines):
            if "|" not in line:
                columns = 0
            elif _BELOW_HEADER.fullmatch(line) and at:
                columns = _columns(lines[at - 1])
                if _columns(line) == columns:
                    self._escape_bars(lines[at - 1], columns)
            elif columns:
                self._escape_bars(line, columns)

    def _escape_bars(self, row: str, columns: int) -> None:
        """Escape bars in the code of a row that has more cells than `columns` with them."""
        written = _SIGN.sub(lambda found: self._kept[int(found[1])], row)
        if "\n" in written or _columns(written) <= columns:
            return  # a backtick that stands alone, or as many cells as there should be
        for number in (int(found[1]) for found in _SIGN.finditer(row)):
            self._kept[number] = BAR.sub(r"\|", self._kept[number])

    def _fences_out(self, text: str) -> str:
        lines = text.split("\n")
        out: list[str] = []
        position = 0
        while position < len(lines):
            found = _FENCE.match(lines[position])
            if not found or (found["mark"][0] == "`" and "`" in found["info"]):
                out.append(lines[position])
                position += 1
                continue
            mark = found["mark"]
            end = position + 1
            while end < len(lines) and not closes_fence(lines[end], mark, " \t>"):
                end += 1
            before = found["before"]
            width = len(before.expandtabs(4))
            inner = [_without(line, before, width) for line in lines[position + 1 : end]]
            code = "\n".join([mark + found["info"], *inner, mark])
            out.append(before + self.sign(code))
            position = end + 1
        return "\n".join(out)

    def _spans_out(self, text: str) -> str:
        def hide(found: re.Match[str]) -> str:
            return (
                found[0] if re.search(r"\n\s*\n", found[0]) or "\ue000" in found[0] else self.sign(found[0])
            )

        return _SPAN.sub(hide, text)


def _columns(line: str) -> int:
    """Return how many cells a line of a table has, which may stand in a quotation."""
    return len(cells(line.strip(" \t>")))


def _without(line: str, before: str, width: int) -> str:
    """Take what stands before a fence off a line inside of it."""
    quoted = re.match(r"[ \t]*(?:>[ \t]?)*", line) if ">" in before else None
    taken = quoted.end() if quoted else 0
    line = line[taken:]
    spaces = len(line) - len(line.lstrip(" \t"))
    return line[min(spaces, max(width - taken, 0)) :]


def cut_out(text: str, opening: str, closing: str, kept: str = "\0") -> str:
    """Take out every passage from `opening` to `closing`, but those that go on with `kept`."""
    out: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0 and (end := text.find(closing, start)) >= 0:
        end += len(closing)
        hidden = not text[start + len(opening) : end].lstrip().startswith(kept)
        out.append(text[position : start if hidden else end])
        position = end
    return "".join([*out, text[position:]])


MAX_EXPRESSION = 5_000
"""Characters of one expression above which a brace is only a brace; ours."""
MAX_PROPERTY = 200_000
"""The same for what a tag's property holds: the reference of a function has 60,000; ours."""
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
    braces = braces_of(text, MAX_PROPERTY)
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


def braces_of(text: str, most: int = MAX_EXPRESSION) -> dict[int, int]:
    """Return where each brace is closed (the place behind it), but for those that are too far apart."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            if match.end() - start <= most:
                found[start] = match.end()
    return found
