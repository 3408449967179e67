"""Where a part of an HTML page can be linked to: headings, terms of lists, bold lines behind a name."""

from __future__ import annotations

import itertools
import re
from urllib.parse import unquote

from bs4 import Tag
from bs4.element import NavigableString

from core.ingestion.formats._shared import one_line
from core.ingestion.formats.html.tags import HEADINGS, PERMALINK, classes, is_skipped

NEAR = 20
"""Tags and texts before a heading among which its name is looked for; ours."""
LONGEST_LINE = 160
"""Characters of a bold line above which it is no heading; ours."""
BOLD = 0.5
"""Share of a line that has to be bold, so that what a name stands before is a heading; ours."""


def anchor_of(tag: Tag) -> str:
    """Return the id that a link to a heading can use: its own, its anchor's, or its section's."""
    for candidate in (tag, *tag.find_all(["a", "span"])):
        name = candidate.get("id") or (candidate.get("name") if candidate.name == "a" else "")
        if name:
            return str(name)
    for link in tag.find_all("a", href=re.compile(r"^#.")):
        if PERMALINK.search(classes(link)) or one_line(link.get_text()) in ("¶", "#", "§", ""):
            return unquote(str(link["href"])[1:])
    parent = tag.parent
    while parent is not None and parent.name in ("div", "section", "hgroup", "header", "article"):
        first = parent.find(list(HEADINGS))
        if first is not tag:
            break
        if parent.get("id"):
            return str(parent["id"])
        parent = parent.parent
    before = tag.find_previous_sibling()
    if isinstance(before, Tag) and before.name in ("a", "span") and not before.get_text(strip=True):
        return str(before.get("id") or before.get("name") or "")
    return _name_before(tag)


def address_of(term: Tag) -> str:
    """Return the id that a link to a term of a list can use: its own, or that of a name in it."""
    inner = term.find(["a", "span"], id=True) or term.find("a", attrs={"name": True})
    return str(term.get("id") or (inner and (inner.get("id") or inner.get("name"))) or "")


def addressed(tag: Tag) -> tuple[str, list[str]] | None:
    """Return the address and the lines of bold words that a name stands before, else None.

    Pages without headings have them: "PRAGMA auto_vacuum;" behind `<a name="pragma_auto_vacuum"></a>`.
    """
    if tag.name != "p" or not isinstance(first := _first(tag), Tag):
        return None
    is_name = first.name == "a" and not first.get_text(strip=True)
    address = _address(first) if is_name else _name_before(tag)
    if not address:
        return None
    bold = sum(len(one.get_text()) for one in tag.find_all(["b", "strong"]))
    lines = [said for line in _lines(tag).split("\n") if (said := one_line(line))]
    is_heading = bool(lines) and len(lines[0]) <= LONGEST_LINE and bold >= BOLD * len(tag.get_text())
    return (address, lines) if is_heading else None


def entries_of(self, entries: Sequence[tuple[list[Tag], list[Tag]]]) -> None:
        """Write terms that have an address of their own, each under a heading of its own."""
        for terms, told in entries:
            said = ", ".join(self._term(term) for term in terms)
            name = re.split(r" [({\[<]", heading_text(said))[0]
            with self.outline.under(name, address_of(terms[0])):
                if heading_text(said) != name:
                    self.outline.add(said)
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
        name = one_line(caption.get_text().replace("¶", "")) if isinstance(caption, Tag) else self.page
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
        if tag.name in ("b", "strong") and inner.strip() and "`" not in inner:
            before, after = inner[0].isspace() * " ", inner[-1].isspace() * " "
            return f"{before}**{inner.strip()}**{after}"
        return f" {inner} " if tag.name in BLOCKS else inner


def entries_of(tag: Tag) -> list[tuple[list[Tag], list[Tag]]]:
    """Return the terms of a list with what is told of each, where every term has an address, else nothing.

    Glossaries stay lists, as they are everywhere else.
    """
    children = tag.find_all(["dt", "dd"], recursive=False)
    named = all(address_of(child) for child in children if child.name == "dt")
    if "glossary" in (tag.get("class") or ()) or not named or not children or children[0].name == "dd":
        return []
    groups = [list(some) for _, some in itertools.groupby(children, key=lambda child: child.name)]
    told: list[list[Tag]] = [*groups[1::2], []]
    return list(zip(groups[::2], told, strict=False)) if len(groups) > 2 else []


def leads(tag: Tag) -> bool:
    """Return True if a tag holds terms or lines with addresses, which lists and tables keep to themselves."""
    return tag.name in ("div", "section", "dd", "center") and (
        any(map(entries_of, tag.find_all("dl"))) or any(map(addressed, tag.find_all("p")))
    )


def _first(tag: Tag) -> Tag | None:
    """Return the bold words or the name that a paragraph begins with."""
    for child in tag.children:
        if isinstance(child, Tag):
            return child if child.name in ("a", "b", "strong") else None
        if str(child).strip():
            return None
    return None


def _name_before(tag: Tag) -> str:
    """Return the address that an empty link right before a tag gives it, "" where text stands between."""
    for before in itertools.islice(tag.previous_elements, NEAR):
        if isinstance(before, Tag) and before.name == "a" and not before.get_text(strip=True):
            if address := _address(before):
                return address
        elif isinstance(before, NavigableString) and before.strip() and not _is_hidden(before):
            return ""
    return ""


def _is_hidden(text: NavigableString) -> bool:
    return any(is_skipped(above) for above in itertools.islice(text.parents, 3))


def _address(name: Tag) -> str:
    return str(name.get("id") or name.get("name") or "")


def _lines(tag: Tag) -> str:
    return "".join(
        "\n" if part.name == "br" else _lines(part) if isinstance(part, Tag) else one_line(f".{part}.")[1:-1]
        for part in tag.children
        if isinstance(part, Tag | NavigableString)
    )
