"""Drawings of HTML pages put into words; those of a syntax go, with the lines that lead to them."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

from core.ingestion.formats.html.tags import HIDDEN
from core.ingestion.formats.html.titles import shown
from core.text.words import one_line

GRAMMAR = 0.8
"""Share of a drawing's labels that are one word or sign, from which it shows a syntax; ours."""
_SYNTAX = frozenset("( ) , ; [ ] { } | *".split())  # noqa: SIM905
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
    return not _SYNTAX.isdisjoint(labels) and alone >= GRAMMAR * len(labels)


def drop_leads(soup: BeautifulSoup) -> None:
    """Take out the names of parts that are folded away by a button beside them."""
    for tag in soup.find_all(style=HIDDEN):
        _drop_lead(tag)


def _drop_lead(tag: Tag) -> None:
    """Take out the line with a button that folds a tag away: "select-stmt: show"."""
    while tag.parent is not None and tag.parent.name == "div" and not tag.find_previous_sibling(True):
        tag = tag.parent
    before = tag.find_previous_sibling()
    is_name = isinstance(before, Tag) and before.name == "p" and shown(before).endswith(":")
    if is_name and isinstance(before, Tag) and before.find("button"):
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
