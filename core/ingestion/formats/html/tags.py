"""What HTML's tags are by their names, classes and attributes; tabs put into words."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, Declaration, Doctype, NavigableString, ProcessingInstruction

from core.ingestion.formats.html.titles import is_beside, is_permalink
from core.text.words import one_line

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
PERMALINK = re.compile(
    r"\b(?:headerlink|anchor-?link|hash-link|header-anchor|heading-anchor|permalink|anchor|linenos?)\b", re.I
)
BESIDE = 100
"""Characters beside a block of code that are its label: a file, a language, a button."""
_STATEMENT = re.compile(r"[\w)\]}'\"]; *+(?:--|//|$)")
LONGEST_NOTE = 3000
"""Characters up to which what is called a note is one, and no section; ours."""
_NOTES = frozenset(
    "note tip warning caution important danger attention hint admonition example".split()  # noqa: SIM905
)
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


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


OBJECT_CLASS = re.compile(
    r"^(?:py|c|cpp|js|std|rst|http|function|class|method|attribute|data|exception|option)$"
)


def class_of(tag: Tag) -> str:
    """Return a tag's classes as one text, without its id."""
    value = tag.get("class")
    return " ".join(value) if isinstance(value, list) else str(value or "")


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


def title_of_note(tag: Tag) -> Tag | None:
    """Return the heading that is a note's or an example's label ("Security"), None where a tag is none."""
    is_note = tag.name in ("div", "aside") or (tag.name == "section" and tag.get("role") == "note")
    if not is_note or _NOTES.isdisjoint(tag.get("class") or ()):
        return None
    found = tag.find_all(list(HEADINGS), limit=2)
    text = tag.get_text().lstrip()
    leads = len(found) == 1 and text.startswith(found[0].get_text().lstrip()) and len(text) <= LONGEST_NOTE
    return found[0] if leads and found[0].name not in ("h1", "h2") else None


def is_skipped(tag: Tag) -> bool:
    """Return True if nobody reads what is in a tag."""
    if (
        tag.name in _SKIPPED
        or tag.has_attr("hidden")
        or (tag.name in ("pre", "div") and "mermaid" in (tag.get("class") or ()))
        or (tag.get("aria-hidden") == "true" and tag.name != "pre")
        or is_beside(tag)
        or is_permalink(tag)
    ):
        return True
    style = "" if tag.name == "table" else tag.get("style")  # scripts show tables once they are sorted
    return bool(style and HIDDEN.search(str(style))) or (
        tag.name in ("a", "span", "td")
        and bool(PERMALINK.search(classes(tag)))
        and len(tag.get_text(strip=True)) <= 2
    )


def code_text(tag: Tag) -> str:
    """Return the code in a tag without the numbers of its lines."""
    for number in tag.find_all(
        ["span", "td", "a", "div"], class_=re.compile(r"^(?:linenos?|lineno|line-?numbers?|gutter)$")
    ):
        number.extract()
    for hidden in tag.find_all("span", class_="boring"):  # what mdBook's readers see by a button alone
        hidden.extract()
    lines = tag.find_all("div", class_="line", recursive=False)  # Doxygen's
    if lines:
        return "\n".join(line.get_text() for line in lines)
    for line in tag.find_all("br"):
        line.replace_with("\n")
    return tag.get_text()


def statements_of(tag: Tag) -> str:
    """Return the lines of a block without a word beside statements, each of which ends in ";", else ""."""
    if tag.find(is_block):
        return ""
    text = "".join("\n" if part.name == "br" else part.get_text() for part in _parts_of(tag))
    lines = [line.rstrip() for line in text.strip("\n").split("\n") if line.strip()]
    return "\n".join(lines) if lines and all(_STATEMENT.search(line) for line in lines) else ""


def _parts_of(tag: Tag) -> list[Tag | NavigableString]:
    return [part for part in tag.children if isinstance(part, Tag | NavigableString)]


def language_of(tag: Tag) -> str:
    """Find the language that highlighters write into a class of the code or of what wraps it."""
    inner = tag.find("code")
    around = [inner, tag, tag.parent, tag.parent.parent if tag.parent else None]
    for candidate in around:
        if isinstance(candidate, Tag):
            found = LANGUAGE.search(class_of(candidate))
            if found and found.group(1).lower() not in ("highlight", "default", "notranslate", "source"):
                return "python" if found.group(1) in ("python3", "ipython3", "pycon3") else found.group(1)
            named = candidate.get("data-lang") or candidate.get("data-language") or candidate.get("lang")
            if named and candidate.name in ("pre", "code"):
                return str(named)
    return ""


def write_labels(soup: BeautifulSoup) -> None:
    """Put every tab's label above its content, and take the row of labels out."""
    for row in soup.select('[role="tablist"]'):
        _join(soup, [tab for tab in row.select('[role="tab"]') if not tab.decomposed], _panels(soup, row))
    for tabs in soup.select(".tabbed-set"):
        labels = tabs.select(":scope > .tabbed-labels > label") or tabs.select(":scope > label")
        panels = tabs.select(":scope > .tabbed-content > .tabbed-block") or tabs.select(
            ":scope > .tabbed-content"
        )
        _join(soup, labels, panels)
    for tabs in soup.select(".sd-tab-set"):
        _join(soup, tabs.select(":scope > .sd-tab-label"), tabs.select(":scope > .sd-tab-content"))


def _panels(soup: BeautifulSoup, row: Tag) -> list[Tag]:
    """Return the contents of a row of tabs: those it names, else those that stand beside it."""
    named = [str(tab.get("aria-controls") or "") for tab in row.select('[role="tab"]')]
    found = [panel for name in named if name and isinstance(panel := soup.find(id=name), Tag)]
    if len(found) == len(named):
        return found
    panels = row.parent.select('[role="tabpanel"]') if row.parent else []
    return [panel for panel in panels if not any(outer in panels for outer in panel.parents)]


def _join(soup: BeautifulSoup, labels: list[Tag], panels: list[Tag]) -> None:
    if not labels or len(labels) != len(panels):
        return
    for label, panel in zip(labels, panels, strict=True):
        text = one_line(label.get_text(" ")).rstrip(":")
        for hiding in ("hidden", "aria-hidden", "style"):
            del panel[hiding]
        if text:
            paragraph, bold = soup.new_tag("p"), soup.new_tag("b")
            bold.string = f"{text}:"
            paragraph.append(bold)
            panel.insert(0, paragraph)
    for label in labels:
        label.decompose()


def is_around(tag: Tag, code: Tag) -> bool:
    """Return True if a tag holds one block of code and hardly a word beside it, such as a file's name."""
    return len(tag.find_all("pre")) == 1 and len(tag.get_text()) - len(code.get_text()) <= BESIDE
