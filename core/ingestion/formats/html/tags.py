"""What HTML's tags are by their names, classes and attributes; tabs and drawings put into words."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, Declaration, Doctype, ProcessingInstruction

from core.ingestion.formats._shared import one_line
from core.ingestion.formats.html.titles import BESIDE_WORDS, is_permalink, shown

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
_NOTES = frozenset("note tip warning caution important danger attention hint admonition".split())  # noqa: SIM905
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


def classes(tag: Tag) -> str:
    """Return a tag's classes and id as one text."""
    value = tag.get("class")
    names = " ".join(value) if isinstance(value, list) else str(value or "")
    return f"{names} {tag.get('id') or ''}".strip()


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


def title_of_note(tag: Tag) -> Tag | None:
    """Return the heading that is a note's label ("Note", "Security"), None where a tag is no such note."""
    if tag.name not in ("div", "aside", "section") or _NOTES.isdisjoint(tag.get("class") or ()):
        return None
    found = tag.find_all(list(HEADINGS))
    leads = len(found) == 1 and tag.get_text().lstrip().startswith(found[0].get_text().lstrip())
    return found[0] if leads else None


def is_skipped(tag: Tag) -> bool:
    """Return True if nobody reads what is in a tag."""
    if (
        tag.name in _SKIPPED
        or tag.has_attr("hidden")
        or (tag.name in ("pre", "div") and "mermaid" in (tag.get("class") or ()))
        or (tag.get("aria-hidden") == "true" and tag.name != "pre")
        or not BESIDE_WORDS.isdisjoint(tag.get("class") or ())
        or is_permalink(tag)
    ):
        return True
    style = "" if tag.name == "table" else tag.get("style")  # scripts show tables once they are sorted
    return bool(style and _HIDDEN.search(str(style))) or (
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


_STEPS = re.compile(r"^(?:«|‹|<-|<<|←)|(?:»|›|->|>>|→)$|^(?:prev(?:ious)?|next)$", re.I)
_STEP = re.compile(r"\s*(?:prev(?:ious)?|next|up)\s*:", re.I)
MOST_OF_STEPS = 40
"""Words up to which links to the pages before and after are all that a part of a page is; ours."""
MOTTO = 8
"""Words up to which what is called a menu or a motto is one on every site; ours."""
LEADING = 60
"""Words up to which a page that sends its readers on has nothing to say itself; ours."""
GRAMMAR = 0.8
"""Share of a drawing's labels that are one word or sign, from which it shows a syntax; ours."""
LEAST_WORDS = 3
"""Words of a drawing below which it is an icon or a logo; ours."""
SAME_LINE = 0.6
"""Part of a letter's height within which two labels stand on one line."""
LETTER = 16.0
"""Height of a letter where nothing says it, in the drawing's own units (the CSS default)."""
_MOVED = re.compile(r"translate\(\s*(-?[\d.]+)(?:[\s,]+(-?[\d.]+))?\s*\)")
_MATRIX = re.compile(r"matrix\(\s*" + r"[\s,]+".join([r"(-?[\d.e-]+)"] * 6) + r"\s*\)")
_NUMBER = re.compile(r"-?\d*\.?\d+")


def write_out(soup: BeautifulSoup) -> None:
    """Put the words of every drawing in its place, as a paragraph; icons stay as they are."""
    for svg in soup.find_all("svg"):
        if svg.decomposed or svg.find_parent(["svg", "a", "button", "nav"]):
            continue
        labels = words_of(svg)
        if _is_grammar(labels):
            _drop_lead(svg)
            continue
        if sum(len(label.split()) for label in labels) < LEAST_WORDS:
            continue
        paragraph = soup.new_tag("p")
        paragraph.string = "; ".join(labels)
        svg.replace_with(paragraph)


def _is_grammar(labels: list[str]) -> bool:
    """Return True if a drawing shows the syntax of a language: words and signs that lines join to no text."""
    alone = sum(len(label.split()) == 1 for label in labels)
    return any(not re.search(r"\w", label) for label in labels) and alone >= GRAMMAR * len(labels)


def drop_leads(soup: BeautifulSoup) -> None:
    """Take out lines that lead to what nobody sees: the name of a part that is folded away."""
    for tag in soup.find_all(style=_HIDDEN):
        _drop_lead(tag)


def _drop_lead(tag: Tag) -> None:
    """Take out the line that leads to a tag, or to what holds nothing else: "select-stmt:"."""
    while tag.parent is not None and tag.parent.name == "div" and not tag.find_previous_sibling(True):
        tag = tag.parent
    before = tag.find_previous_sibling()
    if isinstance(before, Tag) and before.name == "p" and shown(before).endswith(":"):
        before.decompose()


def words_of(svg: Tag) -> list[str]:
    """Return the labels of a drawing in reading order."""
    found: list[tuple[float, float, str]] = []
    for label in svg.find_all(["text", "foreignobject"]):
        text = one_line(label.get_text(" "))
        if text:
            x, y = _place(label)
            found.append((y, x, text))
    found.sort()
    lines: list[list[tuple[float, float, str]]] = []
    for entry in found:
        if lines and entry[0] - lines[-1][0][0] < SAME_LINE * LETTER:
            lines[-1].append(entry)
        else:
            lines.append([entry])
    return [text for line in lines for _, _, text in sorted(line, key=lambda entry: entry[1])]


def _place(label: Tag) -> tuple[float, float]:
    """Return where a label stands, with what its groups are moved by (rotations are left out)."""
    inner = label if label.get("x") or label.get("y") else label.find(["tspan"]) or label
    assert isinstance(inner, Tag)
    x, y = _number(inner.get("x")), _number(inner.get("y"))
    for tag in [label, *label.parents]:
        moved = str(tag.get("transform") or "") if isinstance(tag, Tag) else ""
        for found in _MOVED.finditer(moved):
            x, y = x + float(found[1]), y + float(found[2] or 0)
        if found_matrix := _MATRIX.search(moved):
            x, y = x + float(found_matrix[5]), y + float(found_matrix[6])
        if tag.name == "svg" and not tag.find_parent("svg"):
            break
    return x, y


def _number(value: object) -> float:
    found = _NUMBER.search(str(value or ""))
    return float(found[0]) if found else 0.0


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
