"""One directive as it is written, and what the directives of one document share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.domain import RawDocument
from core.ingestion.formats.rst.sphinx import Conf


@dataclass(slots=True)
class Session:
    """What directives of one document share while it is parsed."""

    raw: RawDocument
    conf: Conf
    module: str = ""
    program: str = ""
    classes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    included: int = 0


@dataclass(slots=True)
class Call:
    """One directive as written; `nodes` is docutils' module, handed over so that it has one door."""

    name: str
    head: Any
    options: dict[str, str]
    content: Any
    offset: int
    state: Any
    session: Session
    presets: dict[str, Any]
    nodes: Any

    @property
    def argument(self) -> str:
        """Return the argument on one line."""
        return " ".join(line.strip() for line in self.head)

    def make(self, tag: str, *children: Any, **attributes: Any) -> Any:
        """Make a node of our own, that only the writer knows."""
        node = self.nodes.Element("", *children, **attributes)
        node.tagname = tag
        return node

    def inline(self, text: str) -> list[Any]:
        """Parse a text as inline markup."""
        found, _ = self.state.inline_text(text, self.state.state_machine.abs_line_number())
        return list(found)

    def parsed(self, lines: Any) -> list[Any]:
        """Parse lines as body elements."""
        holder = self.nodes.Element()
        self.state.nested_parse(lines, self.offset, holder)
        return list(holder.children)

    def body(self, *, with_head: bool = False) -> list[Any]:
        """Parse the content, after the argument where that is text as well."""
        if not with_head or not len(self.head):
            return self.parsed(self.content) if len(self.content) else []
        lines = self.head[:]
        lines[0] = lines[0].strip()
        return self.parsed(lines) + self.body()

    def code(self, text: str, language: str) -> list[Any]:
        """Make a code block."""
        return [self.nodes.literal_block(text, text, language=language)] if text.strip() else []
