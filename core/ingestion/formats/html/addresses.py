"""Where a part of an HTML page can be linked to: headings, terms of lists, bold lines behind a name."""

from __future__ import annotations

import itertools
import re
from urllib.parse import unquote

from bs4 import Tag
from bs4.element import NavigableString

from core.ingestion.formats._shared import one_line
from core.ingestion.formats.html.tags import HEADINGS, PERMALINK, classes, is_block, is_skipped

NEAR = 20
"""Tags and texts before a heading among which its name is looked for; ours."""
LONGEST_LINE = 250
"""Characters of a bold line above which it is no heading; ours."""
NAMED = 0.8
"""Share of a list's terms that have an address, from which each is a section; ours."""
_NO_TERMS = frozenset({"footnote", "citation", "field-list", "toc"})
BOLD = 0.3
"""Share of a line that has to be bold, so that what a name stands before is a heading; ours."""


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
    inner = term.find(["a", "span"], id=True) or term.find("a", attrs={"name": True})
    return str(term.get("id") or (inner and (inner.get("id") or inner.get("name"))) or _name_before(term))


def addressed(tag: Tag) -> tuple[str, list[str]] | None:
    """Return the address and the lines of bold words that a name stands before, else None.

    Pages without headings have them: "PRAGMA auto_vacuum;" behind `<a name="pragma_auto_vacuum"></a>`.
    """
    if tag.name not in ("p", "div") or not isinstance(first := _first(tag), Tag):
        return None
    if tag.name == "div" and tag.find(is_block):
        return None
    is_name = first.name == "a" and not first.get_text(strip=True)
    inside = first.find("a", attrs={"name": True})
    if isinstance(inside, Tag) and not inside.get_text(strip=True):
        is_name, first = True, inside
    address = _address(first) if is_name else _name_before(tag)
    if not address:
        return None
    bold = sum(len(one.get_text()) for one in tag.find_all(["b", "strong"]))
    lines = [said for line in _lines(tag).split("\n") if (said := one_line(line))]
    is_heading = bool(lines) and len(lines[0]) <= LONGEST_LINE and bold >= BOLD * len(tag.get_text())
    return (address, lines) if is_heading else None


def entries_of(tag: Tag) -> list[tuple[list[Tag], list[Tag]]]:
    """Return the terms of a list with what is told of each, where most have an address, else nothing."""
    if not _NO_TERMS.isdisjoint(tag.get("class") or ()):
        return []
    groups: list[tuple[list[Tag], list[Tag]]] = []
    for child in tag.find_all(["dt", "dd"], recursive=False):
        is_empty = not child.get_text(strip=True)
        if child.name == "dd":
            if groups and not is_empty:
                groups[-1][1].append(child)
            elif not is_empty:
                return []
        elif not is_empty and groups and not groups[-1][1]:
            groups[-1][0].append(child)
        elif not is_empty:
            groups.append(([child], []))
    named = sum(any(map(address_of, terms)) for terms, _ in groups)
    return groups if groups and named >= NAMED * len(groups) else []


def leads(tag: Tag) -> bool:
    """Return True if a tag holds terms or lines with addresses, which tables keep to themselves."""
    return tag.name in ("div", "section", "dd", "center", "ol", "ul", "li") and (
        any(map(entries_of, tag.find_all("dl")))
        or any(map(addressed, tag.find_all("p")))
        or any(map(addressed, tag.find_all("div", class_="keyword")))
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
