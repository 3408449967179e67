"""What an HTML page is called: its own heading, not the name of the site; numbers of chapters go."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag

from core.ingestion.formats._shared import heading_text
from core.text.words import one_line

_SEPARATOR = re.compile(r"(?<!\s)\s+(?:[—–|·»]\s+|-\s++(?=[^-]*$))")
_NUMBER = re.compile(
    r"^(?:(?:chapter|appendix|part|section) (?:\d+|[a-z]|[ivxl]+)(?:\.\d+)* ?[.:–-] "
    r"|[a-z]\.\d{1,2}(?:\.\d+)*\. |\d{1,2}(?:\.\d+)*\. (?!\(|released?\b))(?=\S)",
    re.I,
)
"""The number of a chapter or section before its heading: "11.1. Introduction", "Appendix E. Notes"."""
BESIDE_WORDS = frozenset({"sr-only", "visually-hidden", "rightside", "srclink"})
"""Classes of what stands in a text and nobody sees, or leads to its source."""
_SIGNS = frozenset({"¶", "§", "🔗", "\uf0c1"})
_BARE = re.compile(r"^(?:\d+|[A-Z](?=\.))(?:\.\d+)* (?=\S)")
_TEXINFO = frozenset({"chapter", "section", "subsection", "subsubsection", "appendix", "appendixsec"})
_DEEPER = re.compile(r"^(?:[a-z]\.\d+|\d+\.\d+)(?:\.\d+)*\.? ", re.I)
"""The number of a section inside a chapter, which says nothing without its chapter: "11.1. "."""
_CHAPTER = re.compile(r"^(?:(?:chapter|appendix)\s|(?:[a-z]|\d{1,2})(?:\.\d+)*\.?\s)", re.I)


class Called(NamedTuple):
    """What a page is called; `heading` is the tag that says so, `above` the chapter that it is a part of.

    `sites` are the other parts of <title>, such as the site's name.
    """

    title: str
    heading: Tag | None = None
    above: str = ""
    sites: frozenset[str] = frozenset()


def without_number(heading: str, bare: bool = False) -> str:
    """Take the number of its chapter or section from a heading, `bare`: also one without a dot behind it."""
    return _NUMBER.sub("", _BARE.sub("", heading, count=1) if bare else heading, count=1)


def of_texinfo(heading: Tag) -> bool:
    """Return True if Texinfo wrote a heading, which numbers them without a dot: "6.3.1 Cell Arrays"."""
    kinds = set(heading.get("class") or ())
    return bool(kinds & _TEXINFO) and heading.find("a", class_="copiable-link") is not None


def shown(tag: Tag) -> str:
    """Return what a heading says: lines apart, without buttons, labels for the blind and permalinks."""
    return heading_text(one_line(_words(tag)))


def _words(tag: Tag) -> str:
    return "".join(
        (_between(part) or ("" if _is_beside(part) else _words(part))) if isinstance(part, Tag) else str(part)
        for part in tag.children
    )


def _between(tag: Tag) -> str:
    """Return what stands for a tag that only keeps words apart: the end of a line, gi-docgen's dot."""
    if tag.name == "br":
        return " "
    return "." if tag.name == "span" and "sep" in (tag.get("class") or ()) and not tag.get_text() else ""


def called(soup: BeautifulSoup, path: str) -> Called:
    """Return what a page is called by its headings and its <title>, by its path where neither says it."""
    named = _named(soup)
    _drop_site(soup, named)
    found = [tag for tag in soup.find_all("h1") if not tag.find_parent(["nav", "aside"]) and shown(tag)]
    heads = [tag for tag in found if tag.find_parent(["main", "article"])] or found
    own = [tag for tag in heads if not _leads_away(tag)] or heads
    title, heading = "", None
    if own and (_is_alone(own) or not named or _is_said(shown(own[0]), named)):
        title, heading = shown(own[0]), own[0]
        if _leads_away(own[0]) and named and not _is_said(title, named):
            title, heading = "", None
    bare = False
    if not title and not own and isinstance(first := soup.find(["h2", "h3", "h4"]), Tag):
        bare = of_texinfo(first)
        said = plain(without_number(shown(first), bare))
        title = shown(first) if said and named and plain(without_number(named[0])).startswith(said) else ""
    title = title or _stated(named, path, soup) or path
    sites = frozenset(map(plain, named[1:]))
    return Called(without_number(title, bare), heading, _above(soup, title), sites)


def _is_alone(heads: list[Tag]) -> bool:
    """Return True if a page has one title, or two below each other, and not "1. Syntax" as its first."""
    said = shown(heads[0])
    beside = heads[0].find_next_sibling()
    one = len(heads) == 1 or (beside is heads[1] and len(heads) == 2)
    return one and without_number(said) == said


def _named(soup: BeautifulSoup) -> list[str]:
    """Return the parts of <title>: "Quickstart — Flask Documentation (3.1.x)" has two."""
    text = one_line(soup.title.get_text()) if soup.title is not None else ""
    return [part for part in _SEPARATOR.split(text) if part]


def _stated(named: list[str], path: str, soup: BeautifulSoup) -> str:
    """Return the part of <title> that is a manual page's name or a heading, else the first."""
    stem = PurePosixPath(path).name.split(".")[0]
    heads = {plain(shown(tag)) for tag in soup.find_all(["h1", "h2"], limit=5)}
    manual = (part for part in named if part[: len(stem) + 1] == f"{stem}(" and part.endswith(")"))
    said = (part for part in named if plain(part) in heads)
    return next(manual, next(said, named[0] if named else ""))


def _drop_site(soup: BeautifulSoup, named: list[str]) -> None:
    """Take out headings above the page's own part of <title> that are the site's part of it."""
    heads = [(tag, plain(shown(tag))) for tag in soup.find_all(["h1", "h2"])]
    own = plain(named[0]) if len(named) > 1 else ""
    at = next((n for n, (_, said) in enumerate(heads) if said == own), 0)
    sites = set(map(plain, named[1:])) - {own}
    for tag, said in heads[:at]:
        if tag.name == "h1" and said in sites and not tag.find_parent(["main", "article"]):
            tag.decompose()


def _is_said(heading: str, named: list[str]) -> bool:
    words = set(plain(heading).split())
    return any(words <= (said := set(plain(part).split())) or (said and said <= words) for part in named)


def _leads_away(tag: Tag) -> bool:
    """Return True if all of a heading is a link to somewhere else, as the site's name above a page is."""
    link = tag.find("a", href=True)
    away = isinstance(link, Tag) and not str(link["href"]).startswith("#")
    return away and isinstance(link, Tag) and one_line(link.get_text()) == one_line(tag.get_text())


def _above(soup: BeautifulSoup, title: str) -> str:
    """Return the chapter of a page that is one section of it, as DocBook cuts manuals."""
    if not _DEEPER.match(title):
        return ""
    up = soup.select_one('link[rel~="up"][title], .navheader a[accesskey="u"][title]')
    said = one_line(str(up["title"])) if up is not None else ""
    return without_number(said) if _CHAPTER.match(said) else ""


def is_beside(tag: Tag) -> bool:
    """Return True if nobody sees a tag, or it counts a section or leads to its source."""
    kinds = set(tag.get("class") or ())
    if "section-number" in kinds:
        return tag.find_parent(["h1", "h2", "h3", "h4", "h5", "h6"]) is not None
    return bool(kinds & BESIDE_WORDS)


def _is_beside(tag: Tag) -> bool:
    """Return True if a tag in a heading is no part of its words."""
    return tag.name in ("button", "svg", "script", "style") or is_beside(tag) or is_permalink(tag)


def is_permalink(tag: Tag) -> bool:
    """Return True if a tag is a sign that leads to where it stands, "#" or "¶", or to a change, "§"."""
    if tag.name != "a" or not tag.has_attr("href") or tag.find("img"):
        return False
    said, is_here = one_line(tag.get_text()), str(tag["href"]).startswith("#")
    if said == "#":
        return is_here and tag.find_parent(["h1", "h2", "h3", "h4", "h5", "h6", "dt"]) is not None
    return said in _SIGNS or (not said and is_here)


def plain(text: str) -> str:
    """Return the words of a text alone, so that texts can be compared."""
    return " ".join(re.findall(r"\w+", text.lower()))
