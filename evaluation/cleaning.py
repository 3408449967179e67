"""How well HTML pages are cleaned, against a plain dump of their text.

`python -m evaluation.cleaning PAGES.jsonl[.bz2]` reads lines `{"url", "html"}`, or those of CRAG with
`search_results`. Without people's labels the page's own markup is the judge: text that stands only in
`nav`, `header` outside of the article, `footer`, `aside`, `form`, `button`, `script` or `style`, in
boxes with such a role, or in lists of mere links is boilerplate; sentences of paragraphs in the
article or the main element are content.
"""

from __future__ import annotations

import bz2
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

from core.domain import RawDocument, content_hash
from core.errors import SourceError
from core.ingestion.parsing import parse

_BOILERPLATE = ("nav", "footer", "aside", "form", "button", "script", "style", "noscript", "select", "menu")
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog"})
_SENTENCE = 60
"""Characters of a paragraph from which it counts as content."""


def pages(file: Path) -> Iterator[tuple[str, str]]:
    """Yield (url, HTML) of every page, each once; raises ValueError for a line that has neither form."""
    seen: set[str] = set()
    with bz2.open(file, "rt") if file.suffix == ".bz2" else file.open(encoding="utf-8") as lines:
        for line in lines:
            entry: dict[str, Any] = json.loads(line)
            found = entry.get("search_results") or [entry]
            for page in found:
                url = str(page.get("page_url") or page.get("url") or "")
                html = str(page.get("page_result") or page.get("html") or "")
                if html and content_hash(html) not in seen:
                    seen.add(content_hash(html))
                    yield url, html


def measure(url: str, html: str) -> dict[str, int]:
    """Count boilerplate, content and table cells of a page, and what of them is in the cleaned text."""
    soup = BeautifulSoup(html, "lxml")
    boilerplate, content, cells = _judged(soup)
    try:
        document = parse(RawDocument(url, url, html.encode(), "html"))
    except SourceError:
        return {}
    text = "\n".join(" ".join((*section.headings, section.text)) for section in document.sections)
    kept = f" {_words(text)} "
    rows = {_words(cell) for line in text.splitlines() if line.startswith("|") for cell in line.split(" | ")}
    return {
        "boilerplate": len(boilerplate),
        "removed": sum(1 for line in boilerplate if f" {line} " not in kept),
        "content": len(content),
        "content kept": sum(1 for sentence in content if f" {sentence} " in kept),
        "cells": len(cells),
        "cells intact": sum(1 for cell in cells if cell in rows),
    }


def _judged(soup: BeautifulSoup) -> tuple[set[str], set[str], list[str]]:
    """Return boilerplate lines of at least three words, sentences of content, and cells of data tables."""
    inside: set[str] = set()
    outside: set[str] = set()
    for string in soup.find_all(string=True):
        line = _words(str(string))
        if line.count(" ") > 1:
            (inside if _is_boilerplate(string.parent) else outside).add(line)
    content: set[str] = set()
    for paragraph in soup.select("main p, article p, [role=main] p"):
        text = _words(paragraph.get_text())
        if len(text) >= _SENTENCE and not _is_boilerplate(paragraph):
            content.add(text)
    cells: list[str] = []
    for table in soup.find_all("table"):
        rows = [row.find_all(["td", "th"]) for row in table.find_all("tr")]
        if (
            table.find("table")
            or len(rows) < 2
            or max(map(len, rows), default=0) < 2
            or _is_boilerplate(table)
        ):
            continue
        if not table.find_parent(["main", "article"]) and not table.find("th"):
            continue
        cells += [text for row in rows for cell in row if (text := _words(cell.get_text(" ")))]
    return inside - outside, content, cells


def _is_boilerplate(tag: Tag | None) -> bool:
    while tag is not None and tag.name not in ("[document]", "body", "html"):
        if tag.name in _BOILERPLATE or str(tag.get("role") or "").lower() in _ROLES:
            return True
        if tag.name == "header" and not tag.find_parent(["article", "main"]):
            return True
        tag = tag.parent
    return False


def _words(text: str) -> str:
    """Return the words of a text alone: without footnote marks, emphasis, targets of links."""
    text = re.sub(r"\]\([^)\s]{0,500}+\)|\[\s{0,20}[\w ]{1,3}\s{0,20}\]", " ", text)
    return " ".join(re.findall(r"\w+", text.replace("_", " ").lower()))


def main() -> None:
    """Print the figures of every page and of all together."""
    total: dict[str, int] = {}
    count = failed = 0
    for url, html in pages(Path(sys.argv[1])):
        found = measure(url, html)
        count, failed = count + 1, failed + (not found)
        for key, value in found.items():
            total[key] = total.get(key, 0) + value
    if not total:
        sys.exit("There is no page in it; give lines with `url` and `html`.")
    print(f"{count} pages, {failed} without text")
    for whole, part in (("boilerplate", "removed"), ("content", "content kept"), ("cells", "cells intact")):
        print(f"{whole}: {total[part]} of {total[whole]} {part} ({total[part] / max(1, total[whole]):.3f})")


if __name__ == "__main__":
    main()
