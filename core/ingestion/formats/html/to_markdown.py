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
from core.ingestion.formats.html.signatures import called, signature
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
_POWER = re.compile(r"-?\d{1,4}|[nNxk]")
_LINE = "\x00"
"""Stands for the end of a line inside a term, which no text holds."""
BOLD_LEVEL = 8
"""The level of a bold line that has an address: below every heading."""
BESIDE = 100
"""Characters beside a block of code that are its label: a file, a language, a button."""


class HtmlWriter:
    """Writes tags into an `Outline`, or returns them as blocks where headings cannot open sections.

    The heading of a table that has no caption, or `page`, is named above it, so that rows make sense alone.
    `under` is a heading above all of the page's own.
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
                self.outline.heading(level, called(said), anchor_of(part))
                self._add(signature(said))
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

    def _entries(self, entries: Sequence[tuple[list[Tag], list[Tag]]]) -> None:
        """Write terms that have an address of their own, each under a heading of its own."""
        for terms, told in entries:
            said = ", ".join(self._term(term) for term in terms)
            name = re.split(r" [({\[<]", heading_text(said))[0]
            with self.outline.under(called(name), address_of(terms[0])):
                if heading_text(said) != called(name):
                    self._add(signature(said) or [said])
                for body in told:
                    self.write(body)

    def _term(self, tag: Tag) -> str:
        """Return a term of a list; the names on its lines are told apart: "`-a`, `--all`"."""
        self._break = _LINE
        lines = self.inline(tag).split(_LINE)
        self._break = " "
        return ", ".join(one for line in lines if (one := one_line(line)))

    def _parts(self, tag: Tag) -> Iterable[str | Tag]:
        """Yield block tags, and runs of inline content between them as paragraphs."""
        run: list[str] = []
        for child in tag.children:
            if isinstance(child, Tag) and (is_skipped(child) or child.name == "br"):
                run.append(" ")
            elif isinstance(child, Tag) and (child.name in BLOCKS or child.find(is_block)):
                if text := one_line("".join(run)):
                    yield text
                run = []
                yield child
            elif isinstance(child, Tag):
                run.append(self.inline(child))
            elif isinstance(child, NavigableString):
                run.append(str(child))
        if text := one_line("".join(run)):
            yield text

    def blocks(self, tag: Tag) -> list[str]:
        """Return a tag's content as Markdown blocks."""
        return [
            block
            for part in self._parts(tag)
            for block in ([part] if isinstance(part, str) else self.block(part))
            if block.strip()
        ]

    def block(self, tag: Tag) -> list[str]:
        """Return one block tag as Markdown blocks."""
        name = tag.name
        if name == "pre":
            return [fence(code_text(tag), language_of(tag))]
        if name in ("ul", "menu"):
            return [bullets(self._items(tag))]
        if name == "ol":
            start = str(tag.get("start") or "1")
            return [bullets(self._items(tag), start=int(start) if start.isdigit() else 1)]
        if name == "dl":
            return [bullets(self._definitions(tag))]
        if name == "table":
            return self._table(tag)
        if name in HEADINGS:
            text = one_line(self.inline(tag))
            return [f"**{text.strip('*')}**"] if text else []
        if name == "details":
            blocks = self.blocks(tag)
            told = [block for block in blocks if block in self._marks]
            return told if len(told) == len(blocks) - 1 > 0 else blocks  # without the summary: "History"
        if name == "summary":
            return [f"**{one_line(self.inline(tag))}**"]
        if name in ("hr", "svg"):
            return []
        if name == "div" and not _SIGNATURES.isdisjoint(tag.get("class") or ()):
            return [fence(one_line(tag.get_text().replace("\u200b", "")))]
        if ADMONITION.search(classes(tag)) and name in ("div", "aside", "section"):
            return self._admonition(tag)
        if name == "div" and LANGUAGE.search(classes(tag)):
            code = tag.find("pre")
            if isinstance(code, Tag) and not tag.find("table") and _is_around(tag, code):
                return [fence(code_text(code), language_of(code))]
        return self.blocks(tag)

    def _items(self, tag: Tag) -> list[list[str]]:
        """Return the items of a list; a list that stands between two of them belongs to the one before."""
        entries: list[list[str]] = []
        for entry in tag.find_all(["li", "ul", "ol"], recursive=False):
            if entry.name == "li" or not entries:
                entries.append(self.blocks(entry) if entry.name == "li" else self.block(entry))
            else:
                entries[-1] += self.block(entry)
        return entries

    def _admonition(self, tag: Tag) -> list[str]:
        title = title_of_note(tag) or tag.find(class_=TITLE_CLASS)
        if isinstance(title, Tag):
            label = one_line(self.inline(title)).strip("*: ")
            title.extract()
            return [labelled(f"**{label}:**", self.blocks(tag))] if label else self.blocks(tag)
        return self.blocks(tag)

    def _definitions(self, tag: Tag) -> list[list[str]]:
        entries: list[list[str]] = []
        terms: list[str] = []
        for child in tag.find_all(["dt", "dd"]):
            if child.find_parent("dl") is not tag:
                continue
            if child.name == "dt":
                terms.append(self._term(child).rstrip(":"))
            else:
                entries.append(
                    [
                        labelled(f"{', '.join(terms)}:", self.blocks(child))
                        if terms
                        else "\n\n".join(self.blocks(child))
                    ]
                )
                terms = []
        return [*entries, *([term] for term in terms)]

    def _table(self, tag: Tag) -> list[str]:
        rows = [row for row in tag.find_all("tr") if row.find_parent("table") is tag]
        code = tag.find("td", class_=re.compile("code"))
        if isinstance(code, Tag) and code.find("pre") and len(rows) == 1:
            return [fence(code_text(code), language_of(tag))]
        # A table that holds tables or, without a head of its own, headings lays the page out.
        if (
            tag.find("table")
            or (tag.find(list(HEADINGS)) and not (tag.find("thead") and len(rows) > 2))
            or (len(rows) == 1 and len(rows[0].find_all(["td", "th"])) == 1)
        ):
            return [
                block
                for row in rows
                for cell in row.find_all(["td", "th"], recursive=False)
                for block in self.blocks(cell)
            ]
        head = tag.find("thead")
        heads = sum(1 for row in rows if head is not None and row.find_parent("thead") is head)
        cells = [self._row(row) for row in rows]
        caption = tag.find("caption")
        name = (
            one_line(caption.get_text().replace("¶", ""))
            if isinstance(caption, Tag)
            else self.outline.innermost or self.page
        )
        headed = bool(rows) and (
            bool(tag.find("thead"))
            or all(c.name == "th" for c in rows[0].find_all(["td", "th"], recursive=False))
        )
        if not headed and (lists := listed(cells)):
            return [lists]
        filled = spread(cells, heads)
        if headed and (marks := history(filled)):
            self._marks.update(marks)
            return marks
        written = table(filled, f"Table: {name}" if name else "", headed=headed)
        return [written] if written else []

    def _row(self, row: Tag) -> list[Cell]:
        """Return the cells of a row; one over several rows or columns says the same of each of them."""
        return [
            (one_line(" ".join(self.blocks(cell))), _span(cell, "rowspan"), _span(cell, "colspan"))
            for cell in row.find_all(["td", "th"], recursive=False)
        ]

    def inline(self, tag: Tag) -> str:
        """Return a tag's text with code and strength marked; links keep their text only."""
        if is_skipped(tag):
            return ""
        if tag.name in ("code", "tt", "kbd", "samp"):
            return inline_code(tag.get_text())
        if _FOOTNOTE.search(classes(tag)):
            return f"[^{one_line(tag.get_text()).strip('[]')}]"
        if tag.name == "img":
            alternative = one_line(str(tag.get("alt") or ""))
            return f" {alternative} " if " " in alternative else ""
        if tag.name == "br":
            return self._break
        inner = "".join(
            self.inline(child) if isinstance(child, Tag) else str(child) for child in tag.children
        )
        if tag.name == "sup" and _POWER.fullmatch(inner.strip()):
            return f"^{inner.strip()}"
        if tag.name in ("b", "strong") and inner.strip() and "`" not in inner and _is_whole(inner):
            before, after = inner[0].isspace() * " ", inner[-1].isspace() * " "
            return f"{before}**{inner.strip()}**{after}"
        beside = tag.previous_sibling
        # Node.js sets its types apart by CSS alone: `<code>options</code><a>&lt;Object&gt;</a>`.
        apart = inner.startswith("<") and isinstance(beside, Tag) and beside.name == "code"
        return f" {inner} " if tag.name in BLOCKS else f" {inner}" if apart else inner


def _span(cell: Tag, name: str) -> int:
    """Return over how many rows or columns a cell goes; 1 for what is no sensible number."""
    written = str(cell.get(name) or "1")
    return int(written) if re.fullmatch(r"[1-9]\d{0,2}", written) else 1


def _is_whole(bold: str) -> bool:
    """Return True if bold words are no piece of a signature: `<b>date(</b><i>time</i><b>)</b>`."""
    return bold.count("(") == bold.count(")") and not bold.strip().startswith((",", ";"))


def _is_around(tag: Tag, code: Tag) -> bool:
    """Return True if a tag holds one block of code and hardly a word beside it, such as a file's name."""
    return len(tag.find_all("pre")) == 1 and len(tag.get_text()) - len(code.get_text()) <= BESIDE
