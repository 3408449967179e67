"""Where a part of an HTML page can be linked to: headings, terms of lists, bold lines behind a name."""

from __future__ import annotations

import itertools
import re
from urllib.parse import unquote

from bs4 import Tag
from bs4.element import NavigableString

from core.ingestion.formats.html.tags import HEADINGS, PERMALINK, classes, is_skipped
from core.text.words import one_line

NEAR = 20
"""Tags and texts before a heading among which its name is looked for; ours."""
LONGEST_LINE = 250
"""Characters of a bold line above which it is no heading; ours."""
NAMED = 0.8
"""Share of a list's terms that have an address, from which each is a section; ours."""
_NO_TERMS = frozenset({"footnote", "citation", "field-list", "toc"})
BOLD = 0.3
"""Share of the marked letters of a line that have to be bold, so that a name makes it a heading; ours."""
PLAIN = 0.1
"""Share of letters beside those that may be plain: commas, a bracket; ours."""


def anchor_of(tag: Tag) -> str:
    """Return the id that a link to a heading can use: its own, its anchor's, or its section's."""
    for candidate in (tag, *tag.find_all(["a", "span"])):
        leads = candidate.name == "a" and not str(candidate.get("href") or "#").startswith("#")
        name = candidate.get("id") or (candidate.get("name") if candidate.name == "a" and not leads else "")
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
    """Return the id that a link to a term of a list can use: its own, a name's in it or before it."""
    if term.get("id"):
        return str(term["id"])
    text = term.get_text().strip()
    for inner in term.find_all(["a", "span"]):
        is_name = inner.name == "a" and (inner.get("id") or not str(inner.get("href") or "#")[1:])
        if (is_name or inner.get_text().strip() in ("", text)) and (found := _address(inner)):
            return found
    return _name_before(term)


def addressed(tag: Tag) -> tuple[str, list[str]] | None:
    """Return the address and the lines of a paragraph in bold that a name stands before, else None.

    Pages without headings have them: "PRAGMA auto_vacuum;" behind `<a name="pragma_auto_vacuum"></a>`. Parts
    may be in italics or code; of a `keyword` the first word is bold.
    """
    is_keyword = tag.name == "div" and "keyword" in (tag.get("class") or ())
    if not (tag.name == "p" or is_keyword) or not isinstance(first := _first(tag), Tag):
        return None
    inside = first.find("a", attrs={"name": True})
    name = inside if isinstance(inside, Tag) else first
    is_name = name.name == "a" and not name.get_text(strip=True)
    address = _address(name) if is_name else _name_before(tag)
    if not address:
        return None
    lines = [said for line in _lines(tag).split("\n") if (said := one_line(line))]
    is_heading = bool(lines) and len(lines[0]) <= LONGEST_LINE and (is_keyword or _is_bold(tag))
    return (address, lines) if is_heading else None


def _is_bold(tag: Tag) -> bool:
    """Return True if a paragraph is bold, or bold in parts and in italics or code between them."""
    bold = other = plain = 0
    for part in tag.children:
        size = len(one_line(part.get_text()))
        if isinstance(part, Tag) and part.name in ("b", "strong"):
            bold += size
        elif isinstance(part, Tag) and part.name in ("i", "em", "var", "code", "tt"):
            other += size
        else:
            plain += size
    return bold >= BOLD * (bold + other) and plain <= PLAIN * (bold + other)


def entries_of(tag: Tag) -> list[tuple[list[Tag], list[Tag]]]:
    """Return the terms of a list with what is told of each, where most have an address, else nothing."""
    if not _NO_TERMS.isdisjoint(tag.get("class") or ()):
        return []
    groups: list[tuple[list[Tag], list[Tag]]] = []
    for child in tag.find_all(True, recursive=False):
        is_term = child.name in ("dt", "dd")
        for part in [child] if is_term else child.find_all(["dt", "dd"], recursive=False) or [child]:
            if not part.get_text(strip=True):
                continue
            if part.name == "dt" and (not groups or groups[-1][1]):
                groups.append(([part], []))
            elif part.name == "dt":
                groups[-1][0].append(part)
            elif part.name == "dd" and groups:
                groups[-1][1].append(part)
            else:
                return []  # what stands there belongs to no term
    named = sum(any(map(address_of, terms)) for terms, _ in groups)
    return groups if groups and named >= NAMED * len(groups) else []


def leading(article: Tag) -> set[int]:
    """Return the identities of all tags around terms and lines that have addresses."""
    held: list[Tag] = [dl for dl in article.find_all("dl") if entries_of(dl)]
    held += [tag for tag in article.find_all(["p", "div"]) if addressed(tag)]
    return {id(above) for tag in held for above in tag.parents}


def leads(tag: Tag, around: set[int]) -> bool:
    """Return True if a tag holds terms or lines with addresses, and is no list that has others, too."""
    if id(tag) not in around:
        return False
    if tag.name in ("ol", "ul"):
        return all(
            any(map(addressed, item.find_all("p", limit=1))) for item in tag.find_all("li", recursive=False)
        )
    return tag.name in ("div", "section", "dd", "center", "li", "blockquote")


def _first(tag: Tag) -> Tag | None:
    """Return the bold words or the name that a paragraph begins with."""
    for child in tag.children:
        if isinstance(child, Tag):
            return child if child.name in ("a", "b", "strong") else None
        if str(child).strip():
            return None
    return None


def _name_before(tag: Tag) -> str:
    """Return the address that an empty link right before a tag gives it, "" where text stands between.

    What stands in another heading is that one's.
    """
    for before in itertools.islice(tag.previous_elements, NEAR):
        if isinstance(before, Tag) and before.name in HEADINGS:
            return ""
        if isinstance(before, Tag) and before.name == "a" and not before.get_text(strip=True):
            if before.find_parent(HEADINGS) is not None:
                return ""
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
