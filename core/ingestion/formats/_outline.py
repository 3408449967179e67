"""Collects what a document says under its headings, for every format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from core.domain import Section
from core.ingestion.formats._shared import heading_text, labelled

_SEE_ALSO = re.compile(r"see also:?", re.I)
_LEADS = re.compile(r"\A(?!```|~~~|[|#])[^\n]*[\w`*\"')]:\Z")
"""A paragraph that ends on a colon."""
LONGEST_REFERENCE = 12
"""Words up to which an item below "See also" is a reference; ours."""


MOST_NAMED = 3
"""Objects that are named behind the colon which introduces them; a long row of them is no sentence. Ours."""


@dataclass(frozen=True, slots=True)
class _Introduced:
    """Headings over a paragraph that ends on a colon, its section, its words, and the objects behind it."""

    depth: int = -1
    at: int = -1
    text: str = ""
    names: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Return the paragraph with the names behind it."""
        return f"{self.text} {', '.join(f'`{name}`' for name in self.names)}".rstrip()


class Outline:
    """Collects Markdown blocks under the headings they stand under, in reading order."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, str, str, str]] = []
        self._blocks: list[str] = []
        self._terms: list[str] = []
        self._coming: list[str] = []
        self._last: list[str] = []
        self._alone = ""
        self._sections: list[Section] = []
        self._introduced = _Introduced()

    @property
    def anchor(self) -> str:
        """Return the anchor of the innermost open heading that has one."""
        return next((anchor for _, _, anchor, _ in reversed(self._stack) if anchor), "")

    @property
    def level(self) -> int:
        """Return the level of the innermost open heading, 0 for none."""
        return self._stack[-1][0] if self._stack else 0

    @property
    def is_new(self) -> bool:
        """Return True if nothing stands under the open heading yet."""
        return not self._blocks

    @property
    def innermost(self) -> str:
        """Return the words of the innermost open heading, "" for none."""
        return self._stack[-1][1] if self._stack else ""

    def heading(self, level: int, text: str, anchor: str, alone: str = "") -> None:
        """Open a heading; those of the same or a deeper level end here.

        `alone` is what it says where nothing follows: other headings without text are no section.
        """
        if level > self.level:
            self._alone = ""  # it heads what comes
        self._flush()
        self._alone = alone
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, heading_text(text), anchor, ""))

    def add(self, block: str) -> None:
        """Append a block under the open heading."""
        if block.strip():
            if len(self._stack) <= self._introduced.depth:
                self._introduced = _Introduced()
            self._blocks.append(block.strip("\n").rstrip())
            self._terms += self._coming
            self._coming = []

    def last(self, block: str) -> None:
        """Append a block behind all others under the open heading."""
        self._last.append(block)

    def index(self, terms: Iterable[str]) -> None:
        """Note what an index lists the next block under; often a heading comes between."""
        self._coming += terms

    @contextmanager
    def under(self, text: str, anchor: str, page: str = "") -> Iterator[None]:
        """Collect what is added meanwhile under one more heading, then go on under the old one."""
        self._alone = ""
        self._name(heading_text(text))
        self._flush()
        depth = len(self._stack)
        level = self._stack[-1][0] + 1 if self._stack else 1
        self._stack.append((level, heading_text(text), anchor or self.anchor, page))
        try:
            yield
        finally:
            self._flush()
            del self._stack[depth:]

    def _name(self, heading: str) -> None:
        """Name the object that comes next, and the few that follow at once, where a text ends on a colon.

        What it introduces has a section of its own, so that nothing would stand behind the colon.
        """
        depth, at, named = len(self._stack), len(self._sections), self._introduced
        if self._blocks and _LEADS.search(self._blocks[-1]):
            self._introduced = _Introduced(depth, at, self._blocks[-1], (heading,))
            self._blocks[-1] = self._introduced.told
        elif not self._blocks and named.depth == depth and named.at < at and named.names:
            names = (*named.names, heading) if len(named.names) < MOST_NAMED else ()
            self._introduced, section = replace(named, names=names), self._sections[named.at]
            told = section.text.replace(named.told, self._introduced.told, 1)
            self._sections[named.at] = replace(section, text=told)

    def _flush(self) -> None:
        self._blocks += self._last or ([] if self._blocks or not self._alone else [self._alone])
        self._last, self._alone = [], ""
        if self._blocks:
            headings = tuple(text for _, text, _, _ in self._stack if text)
            page = next((page for *_, page in reversed(self._stack) if page), "")
            terms, said = tuple(dict.fromkeys(self._terms)), "\n\n".join(self._blocks)
            self._blocks, self._terms = [], []
            above = self._sections[-1] if self._sections else None
            if headings and above and above.headings == headings[:-1] and _refers(headings[-1], said):
                said = f"{above.text}\n\n{labelled(f'**{headings[-1]}:**', [said])}"
                self._sections[-1] = replace(above, text=said)
                return
            self._sections.append(Section(headings, self.anchor, said, terms, page))

    def sections(self) -> tuple[Section, ...]:
        """Return every section that has text."""
        self._flush()
        return tuple(self._sections)


def _refers(heading: str, said: str) -> bool:
    """Return True for "See also" above a list of references, which belongs to what it stands below."""
    lines = said.splitlines()
    short = all(line.startswith("- ") and len(line.split()) <= LONGEST_REFERENCE for line in lines)
    return short and _SEE_ALSO.fullmatch(heading) is not None
