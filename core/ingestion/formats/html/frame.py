"""What of an HTML page is the site around it: steps to other pages, menus, pages that lead to another."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

from core.ingestion.formats._shared import one_line
from core.ingestion.formats.html.tags import HEADINGS
from core.ingestion.formats.html.titles import shown

_STEPS = re.compile(r"^(?:«|‹|<-|<<|←)|(?:»|›|->|>>|→)$|^(?:prev(?:ious)?|next)$", re.I)
_STEP = re.compile(r"\s*(?:prev(?:ious)?|next|up)\s*:", re.I)
MOST_OF_STEPS = 40
"""Words up to which links to the pages before and after are all that a part of a page is; ours."""
_OF_CONTENTS = re.compile(
    r"\b(?:contents?|on this page|navigation|topics|chapters|previous|next|related|languages)\b", re.I
)
MOTTO = 8
"""Words up to which what is called a menu or a motto is one on every site; ours."""
LEADING = 60
"""Words up to which a page that sends its readers on has nothing to say itself; ours."""


def is_redirect(soup: BeautifulSoup) -> bool:
    """Return True if a page only leads to another at once, as tools write for addresses that moved."""
    meta = soup.find("meta", attrs={"http-equiv": re.compile(r"^refresh$", re.I)})
    said = str(meta.get("content") or "") if isinstance(meta, Tag) else ""
    return (
        bool(re.match(r"\s*[0-5]\s*[;,]\s*url\s*=", said, re.I)) and len(soup.get_text().split()) <= LEADING
    )


def is_frame(tag: Tag) -> bool:
    """Return True if a tag is of a site's frame whatever else it is called: a motto, or links alone."""
    words = len(tag.get_text(" ").split())
    linked = sum(len(link.get_text(" ").split()) for link in tag.find_all("a"))
    return words <= MOTTO or (words <= MOST_OF_STEPS and linked >= words - 2)


def is_needed(tag: Tag) -> bool:
    """Return True if what is around a block of links needs it.

    It is a cell of a row, follows a line that ends in ":", or is all that stands under a heading.
    """
    if tag.name == "div":
        beside = [other for other in (tag.find_previous_sibling(), tag.find_next_sibling()) if other]
        return any(other.name == "div" and not _is_linked(other) for other in beside)
    before = tag.find_previous_sibling()
    if not isinstance(before, Tag):
        return False
    if before.name in HEADINGS:
        return tag.find_next_sibling() is None and not _OF_CONTENTS.search(shown(before))
    return before.get_text().rstrip().endswith(":") and not _OF_CONTENTS.search(before.get_text())


def _is_linked(tag: Tag) -> bool:
    words = len(tag.get_text(" ").split())
    return sum(len(link.get_text(" ").split()) for link in tag.find_all("a")) * 2 > words or not words


def is_steps(tag: Tag) -> bool:
    """Return True if a tag leads to the pages before and after: "« strpbrk", "<-previous next->"."""
    links = tag.find_all("a", href=True)
    return (
        len(links) > 1
        and (
            any(_STEPS.search(one_line(link.get_text())) for link in links)
            or bool(_STEP.match(tag.get_text()))
        )
        and len(tag.get_text(" ").split()) <= MOST_OF_STEPS
        and not tag.find(["pre", "code", "dl", *HEADINGS])
    )
