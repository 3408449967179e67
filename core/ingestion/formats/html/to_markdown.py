"""HTML to sections of Markdown."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from bs4 import Tag
from bs4.element import NavigableString

from core.ingestion.formats._outline import Outline
from core.ingestion.formats._shared import (
    bullets,
    fence,
    heading_text,
    inline_code,
    labelled,
)
from core.ingestion.formats.html.addresses import address_of, addressed, anchor_of, entries_of, leading, leads
from core.ingestion.formats.html.changes import HISTORY, stated
from core.ingestion.formats.html.inline import is_whole, joined, lines_of, put, spelled
from core.ingestion.formats.html.preformatted import sections_of
from core.ingestion.formats.html.signatures import called, signature
from core.ingestion.formats.html.tables import table_of
from core.ingestion.formats.html.tags import (
    ADMONITION,
    BLOCKS,
    HEADINGS,
    LANGUAGE,
    OBJECT_CLASS,
    TITLE_CLASS,
    class_of,
    classes,
    code_text,
    is_api,
    is_around,
    is_block,
    is_skipped,
    language_of,
    statements_of,
    title_of_note,
)
from core.ingestion.formats.html.titles import of_texinfo, without_number
from core.text.words import one_line

_LABEL = re.compile(r"\*\*(?:note|warning|tip|hint|info|important|caution|attention|danger):\*\*", re.I)
_FOOTNOTE = re.compile(r"(?:^|\s)footnote-ref(?:erence)?(?:\s|$)")
"""The class of a link to a footnote, in Sphinx and in Markdown's builders."""
_SIGNATURES = frozenset(
    """member-signature type-signature memproto methodsynopsis constructorsynopsis classsynopsis
    fieldsynopsis""".split()  # noqa: SIM905
)
"""Classes of signatures that are no code by their tags, in Javadoc, Doxygen and PhD."""
_POWER = re.compile(r"-?\d{1,4}|[nNxk]")
_LINE = "\x00"
"""Stands for the end of a line inside a term, which no text holds."""
BOLD_LEVEL = 8  # of a bold line that has an address: below every heading


class HtmlWriter:
    """Writes tags into an `Outline`, or returns them as blocks where headings cannot open sections.

    The heading of a table that has no caption, or `page`, is named above it, so that rows make sense alone.
    `under` is a heading above all of the page's own.
    """

    def __init__(self, outline: Outline, page: str = "", under: str = "") -> None:
        self.outline, self.page, self._under = outline, page, under
        self._break = " "
        self._marks: set[str] = set()
        self._around: set[int] = set()
        self._inside = 0

    def write_article(self, article: Tag) -> None:
        """Write all of a page's content."""
        self._around = leading(article)
        self.write(article)

    def write(self, tag: Tag) -> None:
        """Write a tag's content, opening a section at each heading."""
        for part in self._parts(tag):
            if isinstance(part, str):
                self._add([part])
            elif part.name in HEADINGS:
                said = without_number(one_line(self.inline(part)), of_texinfo(part))
                again = heading_text(said) == self._under and self.outline.level <= 1
                level = 1 if again else int(part.name[1]) + bool(self._under)
                is_code = part.find(["code", "tt"]) is not None
                self.outline.heading(level, called(said, is_code), anchor_of(part))
                self._add(signature(said, is_code))
            elif part.name == "pre" and (told := sections_of(part)):
                for heading, address, blocks in told:
                    if heading:
                        self.outline.heading(BOLD_LEVEL, heading, address)
                    self._add(blocks)
            elif line := addressed(part):
                address, lines = line
                said = without_number(lines[0].rstrip(";: "))
                self.outline.heading(BOLD_LEVEL + self._inside, called(said, True), address, alone=lines[0])
                self._add(signature(said, True))
                if len(lines) > 1:
                    self.outline.add(fence("\n".join(lines)))
            elif part.name == "dl" and is_api(part):
                self._objects(part)
            elif part.name == "dl" and (entries := entries_of(part)):
                self._entries(entries)
            elif title_of_note(part):
                self._add(self._admonition(part))
            elif (
                part.find(list(HEADINGS)) or part.find("dl", class_=OBJECT_CLASS) or leads(part, self._around)
            ):
                self.write(part)
            else:
                self._add(self.block(part))

    def _add(self, blocks: Iterable[str]) -> None:
        """Add blocks; when something came or changed stands behind the prose that it was above."""
        is_above = self.outline.is_new
        for block in blocks:
            if block in self._marks and is_above and not block.startswith(("Deprecated", "Removed")):
                self.outline.last(block)
            elif block not in self._marks and (marks := stated(block)):
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
            address = next(filter(None, map(address_of, terms)), "")
            with self.outline.under(called(name, True), address):
                if heading_text(said) != called(name, True) or not told:
                    self._add(signature(said, True) or [said])
                self._inside += 2
                for body in told:
                    self.write(body)
                self._inside -= 2

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
                put(run, self.inline(child))
            elif isinstance(child, NavigableString):
                run.append(spelled(child))
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
        if (name := tag.name) == "pre":
            return [fence(code_text(tag), language_of(tag))]
        if name == "p" and (lines := lines_of(tag)):
            return [fence(lines)]
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
        if name == "blockquote" and (statements := statements_of(tag)):
            return [fence(statements)]
        if name == "details":
            blocks = self.blocks(tag)
            marks = [block for block in blocks if block in self._marks]
            is_history = len(marks) == len(blocks) - 1 > 0 and HISTORY.search(blocks[0]) is not None
            return marks if is_history else blocks
        if name == "summary":
            return [f"**{one_line(self.inline(tag))}**"]
        if name in ("hr", "svg"):
            return []
        kinds = set(tag.get("class") or ())
        if name == "div" and kinds & _SIGNATURES:
            return [fence(one_line(tag.get_text().replace("\u200b", "")))]
        if name == "div" and "fragment" in kinds:
            return [fence(code_text(tag))]
        if name == "div" and "admonitionblock" in kinds and (note := self._block_of_note(tag)):
            return note
        if ADMONITION.search(classes(tag)) and name in ("div", "aside", "section"):
            return self._admonition(tag)
        if name == "div" and LANGUAGE.search(class_of(tag)):
            code = tag.find("pre")
            if isinstance(code, Tag) and not tag.find("table") and is_around(tag, code):
                return [fence(code_text(code), language_of(code))]
        return self._labelled(tag) if name == "div" else self.blocks(tag)

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
        return self._labelled(tag)

    def _labelled(self, tag: Tag) -> list[str]:
        """Return a tag's content; a label that stands above it begins it."""
        blocks = self.blocks(tag)
        return [labelled(blocks[0], blocks[1:])] if blocks and _LABEL.fullmatch(blocks[0]) else blocks

    def _block_of_note(self, tag: Tag) -> list[str]:
        """Return a note of AsciiDoc, which is a table of an icon and the text; nothing for what is none."""
        icon, content = tag.find("td", class_="icon"), tag.find("td", class_="content")
        if not isinstance(icon, Tag) or not isinstance(content, Tag):
            return []
        image = icon.find("img")
        label = one_line(icon.get_text()) or (str(image.get("alt") or "") if isinstance(image, Tag) else "")
        return [labelled(f"**{label or 'Note'}:**", self.blocks(content))]

    def _definitions(self, tag: Tag) -> list[list[str]]:
        entries: list[list[str]] = []
        terms: list[str] = []
        for child in tag.find_all(True, recursive=False):
            bodies = [child] if child.name in ("dt", "dd") else child.find_all(["dt", "dd"])
            bodies = [one for one in bodies if one.find_parent("dl") is tag]
            if not bodies and (blocks := self.block(child)):  # what stands there amiss is read all the same
                entries.append(blocks)
            for body in bodies:
                if body.name == "dt":
                    terms.append(self._term(body).rstrip(":"))
                elif terms:
                    entries.append(self._told(terms, body))
                    terms = []
                elif blocks := self.blocks(body):
                    entries.append(["\n\n".join(blocks)])
        return [*entries, *([term] for term in terms if term)]

    def _told(self, terms: list[str], body: Tag) -> list[str]:
        """Return terms with what is told of them; several things are a list below."""
        others = list(
            itertools.takewhile(lambda one: one.name == "dd", body.find_next_siblings(["dt", "dd"]))
        )
        if not others:
            return [labelled(f"{', '.join(terms)}:", self.blocks(body))]
        items = [self.blocks(one) for one in (body, *others)]
        for other in others:
            other.clear()
        return [f"{', '.join(terms)}:", bullets(items)]

    def _table(self, tag: Tag) -> list[str]:
        """Return a table; what one of versions and changes tells is marked as that."""
        found = table_of(tag, self.blocks, self.outline.innermost or self.page)
        if found.history:
            self._marks.update(found.blocks)
        return found.blocks

    def inline(self, tag: Tag) -> str:
        """Return a tag's text with code and strength marked; links keep their text only."""
        if is_skipped(tag):
            return ""
        kinds = tag.get("class") or ()
        if tag.name in ("code", "tt", "kbd", "samp") or (tag.name == "span" and "literal" in kinds):
            return inline_code(tag.get_text())
        if tag.name == "span" and "sep" in kinds and not tag.get_text():
            return "."  # gi-docgen's
        if _FOOTNOTE.search(classes(tag)):
            return f"[^{one_line(tag.get_text()).strip('[]')}]"
        if tag.name == "img":
            alternative = one_line(str(tag.get("alt") or ""))
            return f" {alternative} " if " " in alternative else ""
        if tag.name == "br":
            return self._break
        inner = joined(self.inline(one) if isinstance(one, Tag) else spelled(one) for one in tag.children)
        if tag.name == "sup" and _POWER.fullmatch(inner.strip()):
            return f"^{inner.strip()}"
        if tag.name in ("b", "strong") and inner.strip() and "`" not in inner and is_whole(inner):
            before, after = inner[0].isspace() * " ", inner[-1].isspace() * " "
            return f"{before}**{inner.strip()}**{after}"
        beside = tag.previous_sibling
        # Node.js sets its types apart by CSS alone: `<code>options</code><a>&lt;Object&gt;</a>`.
        apart = inner.startswith("<") and isinstance(beside, Tag) and beside.name == "code"
        return f" {inner} " if tag.name in BLOCKS else f" {inner}" if apart else inner
