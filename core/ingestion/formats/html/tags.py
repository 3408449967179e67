"""What HTML's tags are by their names, classes and attributes."""

from __future__ import annotations

import re
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, Declaration, Doctype, ProcessingInstruction

from core.ingestion.formats._outline import one_line

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SKIPPED = frozenset(
    """script style noscript template iframe object embed canvas audio video map form button select input
    textarea head link meta base source track param dialog math""".split()  # noqa: SIM905
)
BLOCKS = frozenset(
    """address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu nav ol p pre section summary table tbody
    td tfoot th thead tr ul""".split()  # noqa: SIM905
)
LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:\s*|sourceCode)[-\s]?([\w+#.-]+)", re.I
)
ADMONITION = re.compile(
    r"\b(?:admonition|alert|callout|notice|versionadded|versionchanged|deprecated)\b", re.I
)
TITLE_CLASS = re.compile(r"\b(?:admonition-title|alert-title|callout-title|admonitionHeading\w*)\b", re.I)
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


OBJECT_CLASS = re.compile(
    r"^(?:py|c|cpp|js|std|rst|http|function|class|method|attribute|data|exception|option)$"
)


def is_api(tag: Tag) -> bool:
    """Return True if a tag describes an object of code."""
    return bool(
        re.search(
            r"\b(?:function|class|method|attribute|data|exception|property|option|envvar|confval)\b",
            classes(tag),
        )
    )


def is_block(tag: Tag) -> bool:
    """Return True if a tag stands on lines of its own."""
    return tag.name in BLOCKS


def is_skipped(tag: Tag) -> bool:
    """Return True if nobody reads what is in a tag."""
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


def code_text(tag: Tag) -> str:
    """Return the code in a tag without the numbers of its lines."""
    for number in tag.find_all(
        ["span", "td", "a", "div"], class_=re.compile(r"^(?:linenos?|lineno|line-?numbers?|gutter)$")
    ):
        number.extract()
    for line in tag.find_all("br"):
        line.replace_with("\n")
    return tag.get_text()


def language_of(tag: Tag) -> str:
    """Find the language that highlighters write into a class of the code or of what wraps it."""
    inner = tag.find("code")
    around = [inner, tag, tag.parent, tag.parent.parent if tag.parent else None]
    for candidate in around:
        if isinstance(candidate, Tag):
            found = LANGUAGE.search(classes(candidate))
            if found and found.group(1).lower() not in ("highlight", "default", "notranslate", "source"):
                return "python" if found.group(1) in ("python3", "ipython3", "pycon3") else found.group(1)
            named = candidate.get("data-lang") or candidate.get("data-language") or candidate.get("lang")
            if named and candidate.name in ("pre", "code"):
                return str(named)
    return ""
