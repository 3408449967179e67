"""HTML pages: the article without the site around it, with headings, anchors, tables and code.

trafilatura decides what of a page is content, BeautifulSoup writes it. trafilatura's own output has
no ids, merges headings and cuts tables, so a citation could not link to where its words stand;
therefore it judges: its text tells which element holds the article, and which doubtful blocks
(mostly links) are part of it. Where the page says itself where its content is (`<main>`,
`role="main"`, a documentation theme's own container) that is believed; where trafilatura yields
nothing, everything that is not boilerplate by its tag, role or class is taken.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from bs4 import BeautifulSoup, Tag

from core.domain import Document, RawDocument, Section
from core.errors import NoDocument, SourceError
from core.ingestion.formats._outline import Outline
from core.ingestion.formats.html.addresses import anchor_of
from core.ingestion.formats.html.drawings import drop_leads, write_out
from core.ingestion.formats.html.frame import is_index, is_menu, is_needed, is_redirect, is_steps
from core.ingestion.formats.html.javadoc_doxygen import list_of, tidy
from core.ingestion.formats.html.tags import HEADINGS, classes, is_block, soup_of, write_labels
from core.ingestion.formats.html.tangle import tangle_of
from core.ingestion.formats.html.titles import Called, called, plain, shown, without_number
from core.ingestion.formats.html.to_markdown import HtmlWriter
from core.text.words import one_line

try:
    import trafilatura
except ImportError as error:  # its dependency lxml_html_clean is left out by some installers
    logging.getLogger(__name__).warning(
        "HTML pages are read without trafilatura (%s); run `pip install lxml_html_clean`.", error
    )
    trafilatura = None

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

MAX_JUDGED = 1_000_000
"""Characters of a page above which trafilatura is not asked: its time grows faster than the page."""
MAX_DEPTH = 200
"""Tags inside each other above which a page is not read: real ones have up to 60, and time grows with it."""
COVERAGE = 0.85
"""Share of trafilatura's text that the element chosen as the article must hold; ours."""
MOTTO = 8
"""Words up to which a line above a page's title may be the site's; ours."""
SENTENCE = 6
"""Words from which what stands beside an article may be a sentence of it; ours."""
LINK_SHARE = 0.7
"""Share of a block's text inside links above which it is doubtful; ours."""

_STATED = (
    '[itemprop="articleBody"]',
    "div.body[role=main]",
    "article.md-content__inner",
    ".theme-doc-markdown",
    "div.rst-content .document",
    ".markdown-body",
    "main article",
    '[role="main"]',
    "main",
)
"""Where documentation themes and the HTML standard put the content, the closest container first."""
_LIKELY = ("article", "div.body", "#main-content", "#content")
_TAGS = frozenset(
    {"script", "style", "noscript", "template", "iframe", "nav", "footer", "svg", "form", "button"}
)
_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog"}
)
_NAMED = frozenset({"div", "ul", "ol", "section", "p", "span", "a", "header", "table"})
_BOILERPLATE = re.compile(
    r"(?:^|[\s_-])(?:"
    r"nav|navbar|navigation|breadcrumbs?|sidebar|sphinxsidebar\w*|toc|tableofcontents|table-of-contents|localtoc"
    r"|footer|site-?header|masthead|menu|back-to-top|search(?:box|bar)?|skip-?(?:link|to)\w*"
    r"|cookie\w*|consent|banner|advert\w*|ads|ethical\w*|announcement\w*|newsletter|subscribe|share|social"
    r"|related|prev-next\w*|pagination|pager|page-?nav\w*|page-?numbers?|copyright|feedback|comments?-?area"
    r"|edit-?(?:this|page|on)\w*|theme-edit\w*|editsection|mw-editsection|mw-jump-link|noprint"
    r"|version-?(?:switch|select|warning)\w*|rst-versions|visually-hidden|sr-only"
    r"|toplang|bottomlang|md-source-file|md-footer\w*|theme-doc-footer\w*"
    r")(?:$|[\s_-])",
    re.I,
)
_OF_CONTENTS = re.compile(r"\btoc-", re.I)
"""What docutils calls the words of a heading that a table of contents leads to."""
_SLOGAN = re.compile(r"(?:^|\s)(?:tagline|motto|slogan)(?:$|\s)", re.I)
_DATED = re.compile(r"this page (?:was )?last (?:updated|modified|changed)\b.{0,60}$", re.I)
_LINE = re.compile(
    r"^(?:©|\(c\)\s*\d|copyright\b(?=.*(?:\d{4}|©)).{0,80}$|all rights reserved|page \d+(?: of \d+)?$"
    r"|\d+ ?/ ?\d+$|(?:built with|created using) .{1,40}$"
    r"|last updated\b.{0,20}\d.{0,30}$"
    r"|edit (?:this page|on github).{0,30}$|was this page helpful"
    r"|back to top$|skip to (?:main )?content|(?:previous|next)(?: (?:page|topic|chapter))?$"
    r"|on this page$|table of contents$)",
    re.I,
)
_WHOLE = frozenset({"pre", "dl", "ul", "ol", "p"})
"""Tags that are read as they stand and hold no article."""
_STEP = re.compile(r"(?:previous|next)", re.I)
"""May be an item of a list of the page's own, such as the names of buttons."""
_CALLOUT = re.compile(r"admonition|note|tip|warn|callout|alert", re.I)


def parse(raw: RawDocument, text: str) -> Document:
    """Parse an HTML page to the sections of its article."""
    if tangle := tangle_of(text):
        raise SourceError(f"{raw.path} {tangle}; simplify it or leave it out of the source.")
    parsed = soup_of(text)
    if _depth(parsed) > MAX_DEPTH:
        raise RecursionError
    if is_redirect(parsed):
        return Document(raw.path, raw.path, raw.url, ())
    if said := list_of(parsed, text, raw.path):
        raise NoDocument(said)
    extracted = _extracted(text)
    judged = plain(extracted)
    sought = set(judged.split())
    title, best, covered = raw.path, Outline().sections(), -1.0
    # A site may call its content "sidebar" or have an empty <main>: where what was written lacks much
    # of what trafilatura found, only what is boilerplate by its tag or role is taken out instead.
    for strictly in (True, False):
        soup = soup_of(text)
        tidy(soup)
        told = called(soup, raw.path)
        title = told.above or told.title
        write_out(soup)
        write_labels(soup)
        drop_leads(soup)
        _strip(soup, strictly)
        article = _article(soup, judged, strictly, told.title)
        if is_index(article, told.title):
            return Document(raw.path, title, raw.url, ())
        sections = _written(soup, article, told, judged)
        held = set(plain(" ".join(word for s in sections for word in (*s.headings, s.text))).split())
        share = len(sought & held) / len(sought) if sought else float(bool(sections))
        if share > covered:
            best, covered = sections, share
        if covered >= COVERAGE:
            break
    if not best and extracted:
        best = (Section((title,), "", extracted),)
    return Document(raw.path, title, raw.url, best)


def _written(soup: BeautifulSoup, article: Tag, told: Called, judged: str) -> tuple[Section, ...]:
    _drop_doubtful(article, judged, told)
    outline = Outline()
    first = article.find(HEADINGS)
    heading = told.heading if told.heading and not told.heading.decomposed else None
    heading = heading or (soup.find("h1") if told.heading else None)
    # What is one section of a chapter stands under it, and parts that are all as high as a title under that.
    above = told.above or ("" if heading or not article.find("h1") else told.title)
    if above:
        outline.heading(1, above, "")
    # The page's title often stands outside the article, in a header of its own.
    elif heading and first and first.name != "h1" and all(one is not article for one in heading.parents):
        outline.heading(1, told.title, anchor_of(heading))
    HtmlWriter(outline, told.title, above).write_article(article)
    return outline.sections()


def _depth(soup: BeautifulSoup) -> int:
    deepest = 0
    level: list[Tag] = [soup]
    while level and deepest <= MAX_DEPTH:
        deepest += 1
        level = [child for tag in level for child in tag.children if isinstance(child, Tag)]
    return deepest


def _extracted(html: str) -> str:
    """Return what trafilatura takes for the article's text, empty where it finds none."""
    if trafilatura is None or len(html) > MAX_JUDGED:
        return ""
    try:
        found = trafilatura.extract(html, include_comments=False, include_tables=True, favor_recall=True)
    except (ValueError, TypeError, AttributeError, AssertionError, IndexError, KeyError):
        # It works on other people's pages with lxml; a page it stumbles over is read without it.
        return ""
    return found or ""


def _strip(soup: BeautifulSoup, strictly: bool) -> None:
    """Take out what is boilerplate by its tag or role, and strictly by its class or id as well."""
    found = soup.select(", ".join(_STATED))
    # What holds the article stays, whatever a theme calls it.
    stated = {id(tag) for tag in found} | {id(parent) for tag in found for parent in tag.parents}
    for tag in soup.find_all(True):
        if not tag.decomposed and id(tag) not in stated and _is_boilerplate(tag, strictly):
            tag.decompose()
    for tag in soup.find_all(["table", "div", "p", "ul", "center"]):
        if not tag.decomposed and is_steps(tag):
            tag.decompose()
    for tag in soup.find_all(["p", "div", "span", "li", "small"]):
        if tag.decomposed or (tag.find(True) and not (tag.name == "p" and _DATED.match(shown(tag)))):
            continue
        line = one_line(tag.get_text())
        if (_LINE.match(line) or _DATED.match(line)) and not (tag.name == "li" and _STEP.fullmatch(line)):
            tag.decompose()


def _is_boilerplate(tag: Tag, strictly: bool) -> bool:
    if tag.name in ("html", "body", "main", "article"):
        return False
    name = classes(tag)
    if str(tag.get("id") or "") and _heads(tag):
        return False
    return (
        tag.name in _TAGS
        or str(tag.get("role") or "").lower() in _ROLES
        or (tag.name == "header" and not tag.find(["h1", "h2"]))
        or (tag.name == "aside" and not _CALLOUT.search(name))
        or (
            tag.name in _NAMED
            and bool(_BOILERPLATE.search(name))
            and not (_OF_CONTENTS.search(name) and tag.find_parent(HEADINGS))
            and ((strictly and tag.name != "table") or is_menu(tag))
        )
        or (tag.name == "div" and bool(_SLOGAN.search(name)))
    )


def _heads(tag: Tag) -> bool:
    """Return True if a section is named after its heading: "Cookies" with `id="cookies"` is no banner."""
    first = tag.find(HEADINGS) if tag.name in ("section", "div") else None
    return first is not None and plain(str(tag["id"])) in plain(first.get_text(" "))


def _article(soup: BeautifulSoup, judged: str, strictly: bool, title: str) -> Tag:
    for selector in (*_STATED, *_LIKELY) if strictly else ():
        found = [tag for tag in soup.select(selector) if len(tag.get_text(strip=True)) > 40]
        if found:
            best = max(found, key=lambda tag: len(tag.get_text()))
            if selector in _LIKELY and best.parent and _heads_more(best):
                return best.parent
            # Several articles on one page (a blog's start) stand in one parent.
            return best.parent if len(found) > 1 and selector == "article" and best.parent else best
    body = soup.body or soup
    if not judged:
        return body
    sought = set(judged.split())
    chosen: Tag = body
    while True:
        inner = [child for child in chosen.find_all(True, recursive=False) if _covers(child, sought)]
        if len(inner) != 1 or inner[0].name in _WHOLE or _says_more(chosen, inner[0], judged, title):
            return chosen
        chosen = inner[0]


def _heads_more(part: Tag) -> bool:
    """Return True if right before the content stands a heading with what it heads, as of AsciiDoc."""
    before = part.find_previous_sibling(["div", "header"])
    below = before.find(["h2", "h3"]) if isinstance(before, Tag) else None
    return isinstance(below, Tag) and below.find_next_sibling(["div", "p"]) is not None


def _says_more(outer: Tag, inner: Tag, judged: str, title: str) -> bool:
    """Return True if beside a part of a page stands more that is content: its heading, the options."""
    first, above = inner.find(HEADINGS), inner.find_previous(HEADINGS)
    is_headed = first is not None and plain(inner.get_text(" ")).startswith(plain(first.get_text(" ")))
    is_within = above is not None and any(one is outer for one in above.parents)
    if above is not None and is_within and (not is_headed or without_number(shown(above)) == title):
        return True
    beside = [child for child in outer.find_all(True, recursive=False) if child is not inner]
    blocks = (block for child in beside for block in (child, *child.find_all(["p", "li", "dd", "pre"])))
    said = (plain(block.get_text(" ")) for block in blocks)
    return any(len(words.split()) >= SENTENCE and words[:80] in judged for words in said)


def _covers(tag: Tag, sought: set[str]) -> bool:
    held = set(plain(tag.get_text(" ")).split())
    return len(sought & held) >= COVERAGE * len(sought)


def _drop_doubtful(article: Tag, judged: str, told: Called) -> None:
    """Drop blocks of links that trafilatura did not take for content, and what stands above the title."""
    first = article.find(HEADINGS)
    is_title = first is not None and without_number(shown(first)) == told.title
    around = {id(tag) for tag in first.parents} if first is not None else set()
    for tag in first.find_all_previous(["p", "div", "span", "small", "center"]) if first is not None else ():
        if tag is article:
            break
        words = () if id(tag) in around or tag.find(is_block) else tuple(plain(tag.get_text(" ")).split())
        is_site = is_title and (" ".join(words) in told.sites or _is_above(tag, words, judged))
        if words and (shown(tag) == told.title or is_site):
            tag.decompose()
    if not judged:
        return
    for tag in article.find_all(["ul", "ol", "p", "div"]):
        if tag.decomposed or tag.find(["pre", "table", *HEADINGS]):
            continue
        text = plain(tag.get_text(" "))
        linked = sum(len(plain(link.get_text(" "))) for link in tag.find_all("a"))
        doubtful = bool(text) and linked > LINK_SHARE * len(text) and text[:80] not in judged
        if doubtful and not is_needed(tag):
            tag.decompose()


def _is_above(tag: Tag, words: Sequence[str], judged: str) -> bool:
    """Return True if a line above the page's title is the site's: short or links, unknown to trafilatura."""
    return " ".join(words)[:80] not in judged and (len(words) <= MOTTO or is_menu(tag))
