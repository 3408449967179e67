"""Where a part of an HTML page can be linked to: headings, terms of lists, bold lines behind a name."""

from __future__ import annotations

import re
from urllib.parse import unquote

from bs4 import Tag
from bs4.element import NavigableString

from core.ingestion.formats._shared import one_line
from core.ingestion.formats.html.tags import HEADINGS, PERMALINK, classes, is_skipped

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
    above = tag.find_previous("a")
    if not isinstance(above, Tag) or above.get_text(strip=True) or not _leads_to(above, tag):
        return ""
    return str(above.get("id") or above.get("name") or "")


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
    name = first if first.name == "a" else tag.find_previous("a")
    address = str(name.get("name") or name.get("id") or "") if isinstance(name, Tag) else ""
    if not address or not isinstance(name, Tag) or name.get_text(strip=True) or not _leads_to(name, tag):
        return None
    bold = sum(len(one.get_text()) for one in tag.find_all(["b", "strong"]))
    lines = [said for line in _lines(tag).split("\n") if (said := one_line(line))]
    is_heading = bool(lines) and len(lines[0]) <= LONGEST_LINE and bold >= BOLD * len(tag.get_text())
    return (address, lines) if is_heading else None


def _first(tag: Tag) -> Tag | None:
    """Return the bold words or the name that a paragraph begins with."""
    for child in tag.children:
        if isinstance(child, Tag):
            return child if child.name in ("a", "b", "strong") else None
        if str(child).strip():
            return None
    return None


def _leads_to(name: Tag, tag: Tag) -> bool:
    """Return True if nothing that is read stands between a name and a paragraph."""
    for after in name.next_elements:
        if isinstance(after, NavigableString) and after.strip():
            if tag in after.parents:
                return True
            if not any(is_skipped(above) for above in after.parents if isinstance(above, Tag)):
                return False
    return False


def _lines(tag: Tag) -> str:
    return "".join(
        "\n" if part.name == "br" else _lines(part) if isinstance(part, Tag) else one_line(f".{part}.")[1:-1]
        for part in tag.children
        if isinstance(part, Tag | NavigableString)
    )
