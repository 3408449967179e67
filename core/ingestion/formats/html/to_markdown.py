"""HTML to sections of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bs4 import Tag
from bs4.element import NavigableString

from core.ingestion.formats._shared import (
    Outline,
    bullets,
    fence,
    heading_text,
    inline_code,
    labelled,
    listed,
    one_line,
)
from core.ingestion.formats.html.addresses import address_of, addressed, anchor_of, entries_of, leads
from core.ingestion.formats.html.changes import history, stated
from core.ingestion.formats.html.tags import (
    ADMONITION,
    BLOCKS,
    HEADINGS,
    LANGUAGE,
    OBJECT_CLASS,
    TITLE_CLASS,
    classes,
    code_text,
    is_api,
    is_block,
    is_skipped,
    language_of,
    title_of_note,
)
from core.ingestion.formats.html.titles import of_texinfo, without_number
from core.text.tables import Cell, spread, table

_FOOTNOTE = re.compile(r"(?:^|\s)footnote-ref(?:erence)?(?:\s|$)")
"""The class of a link to a footnote, in Sphinx and in Markdown's builders."""
_SIGNATURES = frozenset({"member-signature", "type-signature", "memproto"})
"""Classes of signatures that are no code by their tags, in Javadoc and Doxygen."""
_LINE = "\x00"
"""Stands for the end of a line inside a term, which no text holds."""
BOLD_LEVEL = 8
"""The level of a bold line that has an address: below every heading."""
BESIDE = 100
"""Characters beside a block of code that are its label: a file, a language, a button."""


class HtmlWriter:
    """Writes tags into an `Outline`, or returns them as blocks where headings cannot open sections.

    `page` is named above each table that has no caption, so that rows make sense alone. `under` is a
    heading above all of the page's own.
    """

    def __init__(self, outline: Outline, page: str = "", under: str = "") -> None:
        self.outline = outline
        self.page = page
        self._under = under
        self._break = " "
        self._marks: set[str] = set()

    def write(self, tag: Tag) -> None:
        """Write a tag's content, opening a section at each heading."""
        for part in self._parts(tag):
            if isinstance(part, str):
                self._add([part])
            elif part.name in HEADINGS:
                said = without_number(one_line(self.inline(part)), of_texinfo(part))
                again = heading_text(said) == self._under
                level = 1 if again else int(part.name[1]) + bool(self._under)
                self.outline.heading(level, said, anchor_of(part))
            elif line := addressed(part):
                address, lines = line
                self.outline.heading(BOLD_LEVEL, without_number(lines[0].rstrip(";: ")), address)
                if len(lines) > 1:
                    self.outline.add(fence("\n".join(lines)))
            elif part.name == "dl" and is_api(part):
                self._objects(part)
            elif part.name == "dl" and (entries := entries_of(part)):
                self._entries(entries)
            elif title_of_note(part):
                for block in self._admonition(part):
                    self.outline.add(block)
            elif part.find(list(HEADINGS)) or part.find("dl", class_=OBJECT_CLASS) or leads(part):
                self.write(part)
            else:
                self._add(self.block(part))

    def _add(self, blocks: Iterable[str]) -> None:
        """Add blocks; what only tells when something came or changed stands last, as Sphinx has it."""
        for block in blocks:
            if block in self._marks and not block.startswith("Deprecated"):
                self.outline.last(block)
            elif marks := stated(block):
                self._marks.update(marks)
                self._add(marks)
            else:
                self.outline.add(block)

    def _objects(self, node: Tag) -> None:
        """Write Sphinx's objects (`<dl class="py function">`), each under a heading of its own."""
        for child in node.find_all(["dt", "dd"], recursive=False):
            if child.name == "dt":
                signature = one_line(child.get_text().replace("¶", "").replace("[source]", ""))
                anchor = str(child.get("id") or "")
                body = child.find_next_sibling("dd")
                name = anchor if "." in anchor or anchor.isupper() else re.split(r"[\s(=:]", signature)[0]
                called = "(" in signature and "class" not in signature.split()[:1]
                heading = ".".join(name.split(".")[-2:]) if anchor else name
                with self.outline.under(heading + ("()" if called else ""), anchor):
                    self.outline.add(inline_code(signature))
                    if isinstance(body, Tag):
                        self.write(body)

    def _span(cell: Tag, name: str) -> int:
    """Return over how many rows or columns a cell goes; 1 for what is no sensible number."""
    written = str(cell.get(name) or "1")
    return int(written) if re.fullmatch(r"[1-9]\d{0,2}", written) else 1


def _is_around(tag: Tag, code: Tag) -> bool:
    """Return True if a tag holds one block of code and hardly a word beside it, such as a file's name."""
    return len(tag.find_all("pre")) == 1 and len(tag.get_text()) - len(code.get_text()) <= BESIDE
