"""Markdown as every format writes it: fences, tables, and blocks collected under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from core.domain import Section

TAB_CHARACTERS = 600
"""Characters above which a tab is a section, so that each passage of it says whose it is; ours."""

_PLAIN_LANGUAGES = frozenset({"", "none", "text", "plain", "plaintext", "default", "guess", "literal", "txt"})
_SPACE = re.compile(r"\s+")
# HTML themes and MkDocs put a permalink sign into headings.
_PERMALINK = re.compile(r"(?<![\s\u200b¶§\uf0c1])[\s\u200b]*+[¶§\uf0c1][\s\u200b¶§\uf0c1]*+$")
_CODE = re.compile(r"(`+[^`]*`+)")
_EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*(?![\w*])")


def one_line(text: str) -> str:
    """Join the lines of running text."""
    return _SPACE.sub(" ", text).strip()


def heading_text(text: str) -> str:
    """Clean a heading: one line, no emphasis, code marks or permalink sign."""
    parts = _CODE.split(_PERMALINK.sub("", text))
    parts[::2] = [_EMPHASIS.sub(r"\1", part.replace("**", "")) for part in parts[::2]]
    return one_line("".join(parts).replace("`", "").replace("**", ""))


def fence(code: str, language: str = "") -> str:
    """Wrap code into a fence that no line of it can close; empty for empty code."""
    code = code.strip("\n").rstrip()
    if not code.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    language = language.strip().lower()
    return f"{mark}{'' if language in _PLAIN_LANGUAGES else language}\n{code}\n{mark}"


def inline_code(text: str) -> str:
    """Mark text as code, however many backticks it holds."""
    text = one_line(text)
    if text.count("`") == 1 and len(text) > 1 and "`" in (text[0], text[-1]):
        text = text.strip("`")  # one too many was written
    if "`" in text:
        mark = "`" * (max(map(len, re.findall("`+", text))) + 1)
        return f"{mark} {text} {mark}"
    return f"`{text}`" if text else ""


def table(rows: Sequence[Sequence[str]], caption: str = "", *, headed: bool = True) -> str:
    """Write rows as a Markdown table, the first as its header if it has one; empty without any text."""
    cleaned = [[one_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    cleaned = [row for row in cleaned if any(row)]
    if not cleaned:
        return ""
    width = max(len(row) for row in cleaned)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in cleaned]
    if not headed:
        lines.insert(0, "|" + "  |" * width)
    lines.insert(1, "|" + " --- |" * width)
    body = "\n".join(lines)
    return f"{caption}\n\n{body}" if caption else body


def item(blocks: Sequence[str], marker: str) -> str:
    """Write blocks as one list item, the second and following ones indented under the first."""
    pad = " " * len(marker)
    text = "\n\n".join(block for block in blocks if block.strip())
    # An item's nested list hangs directly under its first line; anything else needs the blank line.
    text = re.sub(r"\A([^\n]+)\n\n(?=(?:[-*+]|\d+[.)]) )", r"\1\n", text)
    lines = text.split("\n")
    return "\n".join([marker + lines[0], *((pad + line) if line else "" for line in lines[1:])])


def bullets(items: Sequence[Sequence[str]], start: int | None = None) -> str:
    """Write a list, numbered from `start` where that is given."""
    written = [
        item(blocks, "- " if start is None else f"{start + position}. ")
        for position, blocks in enumerate(entry for entry in items if any(b.strip() for b in entry))
    ]
    loose = any("\n\n" in entry for entry in written)
    return ("\n\n" if loose else "\n").join(written)


def labelled(label: str, blocks: Sequence[str]) -> str:
    """Put a label before a body: on its first line where that is prose, above it otherwise."""
    body = "\n\n".join(block for block in blocks if block.strip())
    if not body:
        return label
    first = body.split("\n", 1)[0]
    prose = not re.match(r"\s*(```|\||[-*+] |\d+[.)] )", first)
    return f"{label} {body}" if prose else f"{label}\n\n{body}"


class Outline:
    """Collects Markdown blocks under the headings they stand under, in reading order."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, str, str]] = []
        self._blocks: list[str] = []
        self._sections: list[Section] = []

    @property
    def anchor(self) -> str:
        """Return the anchor of the innermost open heading that has one."""
        return next((anchor for _, _, anchor in reversed(self._stack) if anchor), "")

    @property
    def level(self) -> int:
        """Return the level of the innermost open heading, 0 for none."""
        return self._stack[-1][0] if self._stack else 0

    def heading(self, level: int, text: str, anchor: str) -> None:
        """Open a heading; those of the same or a deeper level end here."""
        self._flush()
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, heading_text(text), anchor))

    def add(self, block: str) -> None:
        """Append a block under the open heading."""
        if block.strip():
            self._blocks.append(block.strip("\n").rstrip())

    @contextmanager
    def under(self, text: str, anchor: str) -> Iterator[None]:
        """Collect what is added meanwhile under one more heading, then go on under the old one."""
        self._flush()
        depth = len(self._stack)
        level = self._stack[-1][0] + 1 if self._stack else 1
        self._stack.append((level, heading_text(text), anchor or self.anchor))
        try:
            yield
        finally:
            self._flush()
            del self._stack[depth:]

    def _flush(self) -> None:
        if self._blocks:
            headings = tuple(text for _, text, _ in self._stack if text)
            self._sections.append(Section(headings, self.anchor, "\n\n".join(self._blocks)))
            self._blocks = []

    def sections(self) -> tuple[Section, ...]:
        """Return every section that has text."""
        self._flush()
        return tuple(self._sections)
