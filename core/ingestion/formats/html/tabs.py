"""Tabs of HTML pages: each label goes to its content, and what a script would show is shown.

Known by their roles (Docusaurus, sphinx-tabs, whatever follows ARIA) or classes (Material, sphinx-design).
"""

from __future__ import annotations

from bs4 import BeautifulSoup, Tag

from core.ingestion.formats._outline import one_line


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
