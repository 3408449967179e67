"""What of an HTML page is the site around it: steps to other pages, menus, pages that lead to another."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

from core.ingestion.formats.html.tags import HEADINGS
from core.ingestion.formats.html.titles import shown
from core.text.words import one_line

_STEPS = re.compile(r"^(?:«|‹|<-|<<|←)|(?:»|›|->|>>|→)$|^(?:prev(?:ious)?|next)$", re.I)
_STEP = re.compile(r"\s*(?:prev(?:ious)?|next|up)\s*:", re.I)
MOST_OF_STEPS = 40
"""Words up to which links to the pages before and after are all that a part of a page is; ours."""
BESIDE_STEPS = 4
"""Words that may stand beside such links: "Next:", "Up:"; ours."""
_OF_CONTENTS = re.compile(
    r"\b(?:contents?|on this page|navigation|topics|chapters|previous|next|related|languages)\b", re.I
)
_CODE = ("code", "tt")
_INDEX = re.compile(r"\b(?:index|contents)$", re.I)
INDEXED = 0.5
"""Share of a page's words in links from which one that is called an index is one; ours."""
LEADING = 30
"""Words up to which a page that sends its readers on has nothing to say itself; ours."""


def is_redirect(soup: BeautifulSoup) -> bool:
    """Return True if a page only leads to another at once, as tools write for addresses that moved."""
    meta = soup.find("meta", attrs={"http-equiv": re.compile(r"^refresh$", re.I)})
    if not isinstance(meta, Tag) or meta.find_parent("noscript"):
        return False
    leads = re.match(r"\s*[01]\s*[;,]\s*url\s*=", str(meta.get("content") or ""), re.I)
    return leads is not None and len(soup.get_text().split()) <= LEADING


def is_index(article: Tag, title: str) -> bool:
    """Return True if a page is a manual's index or its contents: links in the order of words or of pages."""
    if not _INDEX.search(title):
        return False
    words = len(article.get_text(" ").split())
    linked = sum(len(link.get_text(" ").split()) for link in article.find_all("a", href=True))
    return words > MOST_OF_STEPS and linked >= INDEXED * words


def beside_links(tag: Tag, most: int) -> int | None:
    """Return how many words of a tag are in no link; None where it has more words than `most`, or no link."""
    words = _count(tag)
    if words > most:  # first, since each of many tags around them would read all links again
        return None
    links = tag.find_all("a", href=True)
    return words - sum(map(_count, links)) if links else None


def _count(tag: Tag) -> int:
    """Return how many words a tag holds; what stands between links, ">" or "|", is none."""
    return sum(any(map(str.isalnum, word)) for word in tag.get_text(" ").split())


def is_menu(tag: Tag) -> bool:
    """Return True if a tag is links alone."""
    beside = beside_links(tag, MOST_OF_STEPS)
    return beside is not None and beside <= 2


def is_needed(tag: Tag) -> bool:
    """Return True if what is around a block of links needs it.

    It is a cell of a row, belongs to an item that says more than links, follows a line that ends in ":", or
    is all that stands under a heading or a term.
    """
    if tag.name in ("ul", "ol") and tag.parent is not None and _is_of(tag, tag.parent):
        return True
    if tag.name == "div":
        beside = [other for other in (tag.find_previous_sibling(), tag.find_next_sibling()) if other]
        return any(other.name == "div" and not _is_linked(other) for other in beside)
    before = tag.find_previous_sibling()
    if not isinstance(before, Tag):
        return tag.parent is not None and tag.parent.name == "dd" and tag.find_next_sibling() is None
    if before.name in HEADINGS:
        return tag.find_next_sibling() is None and not _OF_CONTENTS.search(shown(before))
    return before.get_text().rstrip().endswith(":") and not _OF_CONTENTS.search(before.get_text())


def _is_of(links: Tag, around: Tag) -> bool:
    """Return True if a list of links belongs to a row below a heading, or to an item that says more."""
    if around.name == "td":
        table = around.find_parent("table")
        return table is not None and table.find("th") is not None
    names = all(link.find(_CODE) for link in links.find_all("a"))
    return around.name == "li" and (names or _says(around, links))


def _says(item: Tag, below: Tag) -> bool:
    """Return True if an item has words of its own above a list below it."""
    own = _count(item) - _count(below)
    linked = sum(_count(link) for link in item.find_all("a", href=True) if below not in link.parents)
    return own > linked


def _is_linked(tag: Tag) -> bool:
    words = len(tag.get_text(" ").split())
    return sum(len(link.get_text(" ").split()) for link in tag.find_all("a")) * 2 > words or not words


def is_steps(tag: Tag) -> bool:
    """Return True if a tag leads to the pages before and after: "« strpbrk", "<-previous next->"."""
    beside = beside_links(tag, MOST_OF_STEPS)
    if beside is None or tag.find(["pre", "code", "dl", *HEADINGS]):
        return False
    links = tag.find_all("a", href=True)
    steps = [said for link in links if _STEPS.search(said := one_line(link.get_text()))]
    if _STEP.match(tag.get_text()):
        return len(links) > 1 and beside <= BESIDE_STEPS
    return len(links) > 1 and bool(steps) and beside <= (BESIDE_STEPS if len(steps) > 1 else 0)
