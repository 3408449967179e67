"""HTML to sections of Markdown: the one place that knows BeautifulSoup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, Declaration, Doctype, NavigableString, ProcessingInstruction

from core.ingestion.formats._outline import Outline, bullets, fence, inline_code, labelled, one_line, table

__all__ = ["BeautifulSoup", "HtmlWriter", "Tag", "soup_of"]

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SKIPPED = frozenset(
    """script style noscript template iframe object embed canvas audio video map form button select input
    textarea head link meta base source track param dialog math""".split()  # noqa: SIM905
)
_BLOCKS = frozenset(
    """address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu nav ol p pre section summary table tbody
    td tfoot th thead tr ul""".split()  # noqa: SIM905
)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:\s*|sourceCode)[-\s]?([\w+#.-]+)", re.I
)
_ADMONITION = re.compile(
    r"\b(?:admonition|alert|callout|notice|versionadded|versionchanged|deprecated)\b", re.I
)
_TITLE_CLASS = re.compile(r"\b(?:admonition-title|alert-title|callout-title|admonitionHeading\w*)\b", re.I)
_PERMALINK = re.compile(
    r"\b(?:headerlink|anchor-?link|hash-link|header-anchor|heading-anchor|permalink|anchor|linenos?)\b", re.I
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def soup_of(html: str) -> BeautifulSoup:
    """Parse HTML, however broken; comments and processing instructions go."""
    # The text is decoded by now; BeautifulSoup would warn about an XML declaration.
    soup = BeautifulSoup(re.sub(r"^\s*<\?xml[^>]*>", "", html), "lxml")
    for node in soup.find_all(
        string=lambda s: isinstance(s, Comment | Declaration | Doctype | ProcessingInstruction)
    ):
        node.extract()
    return soup


def classes(tag: Tag) -> str:
    """Return a tag's classes and id as one text."""
    value = tag.get("class")
    names = " ".join(value) if isinstance(value, list) else str(value or "")
    return f"{names} {tag.get('id') or ''}".strip()


def anchor_of(tag: Tag) -> str:
    """Return the id that a link to a heading can use: its own, its anchor's, or its section's."""
    for candidate in (tag, *tag.find_all(["a", "span"])):
        name = candidate.get("id") or (candidate.get("name") if candidate.name == "a" else "")
        if name:
            return str(name)
    for link in tag.find_all("a", href=re.compile(r"^#.")):
        if _PERMALINK.search(classes(link)) or one_line(link.get_text()) in ("¶", "#", "§", ""):
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
    return ""


class HtmlWriter:
    """Writes tags into an `Outline`, or returns them as blocks where headings cannot open sections.

    `page` is named above each table that has no caption, so that rows make sense alone.
    """

    def __init__(self, outline: Outline, page: str = "") -> None:
        self.outline = outline
        self.page = page

    def write(self, tag: Tag) -> None:
        """Write a tag's content, opening a section at each heading."""
        for part in self._parts(tag):
            if isinstance(part, str):
                self.outline.add(part)
            elif part.name in HEADINGS:
                self.outline.heading(int(part.name[1]), self.inline(part), anchor_of(part))
            elif part.name == "dl" and _is_api(part):
                self._objects(part)
            elif part.find(list(HEADINGS)) or part.find("dl", class_=_OBJECT_CLASS):
                self.write(part)
            else:
                for block in self.block(part):
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

    def _parts(self, tag: Tag) -> Iterable[str | Tag]:
        """Yield block tags, and runs of inline content between them as paragraphs."""
        run: list[str] = []
        for child in tag.children:
            if isinstance(child, Tag) and (_is_skipped(child) or child.name == "br"):
                run.append(" ")
            elif isinstance(child, Tag) and (child.name in _BLOCKS or child.find(_is_block)):
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
            return [fence(_code_text(tag), _language(tag))]
        if name in ("ul", "menu"):
            return [bullets([self.blocks(entry) for entry in tag.find_all("li", recursive=False)])]
        if name == "ol":
            start = str(tag.get("start") or "1")
            entries = [self.blocks(entry) for entry in tag.find_all("li", recursive=False)]
            return [bullets(entries, start=int(start) if start.isdigit() else 1)]
        if name == "dl":
            return [bullets(self._definitions(tag))]
        if name == "table":
            return self._table(tag)
        if name in HEADINGS:
            text = one_line(self.inline(tag))
            return [f"**{text.strip('*')}**"] if text else []
        if name == "summary":
            return [f"**{one_line(self.inline(tag))}**"]
        if name in ("hr", "svg"):
            return []
        if _ADMONITION.search(classes(tag)) and name in ("div", "aside", "section"):
            return self._admonition(tag)
        if name == "div" and _LANGUAGE.search(classes(tag)):
            code = tag.find("pre")
            if isinstance(code, Tag) and not tag.find("table"):
                return [fence(_code_text(code), _language(code))]
        return self.blocks(tag)

    def _admonition(self, tag: Tag) -> list[str]:
        title = tag.find(class_=_TITLE_CLASS)
        if isinstance(title, Tag):
            label = one_line(title.get_text()).rstrip(":")
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
                terms.append(one_line(self.inline(child)).rstrip(":"))
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
        if isinstance(code, Tag) and code.find("pre"):
            return [fence(_code_text(code), _language(tag))]
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
        cells = [self._row(row) for row in rows]
        caption = tag.find("caption")
        name = one_line(caption.get_text().replace("¶", "")) if isinstance(caption, Tag) else self.page
        headed = bool(rows) and (
            bool(tag.find("thead"))
            or all(c.name == "th" for c in rows[0].find_all(["td", "th"], recursive=False))
        )
        written = table(cells, f"Table: {name}" if name else "", headed=headed)
        return [written] if written else []

    def _row(self, row: Tag) -> list[str]:
        cells: list[str] = []
        for cell in row.find_all(["td", "th"], recursive=False):
            text = one_line(" ".join(self.blocks(cell)))
            span = str(cell.get("colspan") or "1")
            # A cell over several columns says the same of each of them.
            cells += [text] * (min(int(span), 20) if span.isdigit() and int(span) > 0 else 1)
        return cells

    def inline(self, tag: Tag) -> str:
        """Return a tag's text with code and strength marked; links keep their text only."""
        if _is_skipped(tag):
            return ""
        if tag.name in ("code", "tt", "kbd", "samp"):
            return inline_code(tag.get_text())
        if tag.name == "img":
            alternative = one_line(str(tag.get("alt") or ""))
            return f" {alternative} " if " " in alternative else ""
        if tag.name == "br":
            return " "
        inner = "".join(
            self.inline(child) if isinstance(child, Tag) else str(child) for child in tag.children
        )
        if tag.name in ("b", "strong") and inner.strip() and "`" not in inner:
            return f"**{inner.strip()}**"
        return f" {inner} " if tag.name in _BLOCKS else inner


_OBJECT_CLASS = re.compile(
    r"^(?:py|c|cpp|js|std|rst|http|function|class|method|attribute|data|exception|option)$"
)


def _is_api(tag: Tag) -> bool:
    return bool(
        re.search(
            r"\b(?:function|class|method|attribute|data|exception|property|option|envvar|confval)\b",
            classes(tag),
        )
    )


def _is_block(tag: Tag) -> bool:
    return tag.name in _BLOCKS


def _is_skipped(tag: Tag) -> bool:
    if (
        tag.name in _SKIPPED
        or tag.has_attr("hidden")
        or (tag.get("aria-hidden") == "true" and tag.name != "pre")
    ):
        return True
    style = "" if tag.name == "table" else tag.get("style")  # scripts show tables once they are sorted
    return bool(style and _HIDDEN.search(str(style))) or (
        tag.name in ("a", "span", "td")
        and bool(_PERMALINK.search(classes(tag)))
        and len(tag.get_text(strip=True)) <= 2
    )


def _code_text(tag: Tag) -> str:
    for number in tag.find_all(
        ["span", "td", "a", "div"], class_=re.compile(r"^(?:linenos?|lineno|line-?numbers?|gutter)$")
    ):
        number.extract()
    for line in tag.find_all("br"):
        line.replace_with("\n")
    return tag.get_text()


def _language(tag: Tag) -> str:
    """Find the language that highlighters write into a class of the code or of what wraps it."""
    inner = tag.find("code")
    around = [inner, tag, tag.parent, tag.parent.parent if tag.parent else None]
    for candidate in around:
        if isinstance(candidate, Tag):
            found = _LANGUAGE.search(classes(candidate))
            if found and found.group(1).lower() not in ("highlight", "default", "notranslate", "source"):
                return "python" if found.group(1) in ("python3", "ipython3", "pycon3") else found.group(1)
            named = candidate.get("data-lang") or candidate.get("data-language") or candidate.get("lang")
            if named and candidate.name in ("pre", "code"):
                return str(named)
    return ""
