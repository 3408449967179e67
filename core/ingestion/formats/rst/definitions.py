"""Definition lists that nobody meant: lines that go on, or introduce, in one that is indented more."""

from __future__ import annotations

import re
from typing import Any

_A_SENTENCE = 5
"""Words of a term from which it may be the beginning of a sentence; ours."""
_A_LONG_ONE = 8
"""Words from which one with a capital is a sentence's, wherever it stands; ours."""


def goes_on(definitions: Any) -> bool:
    """Return True if a definition is no such thing: a line that goes on in one that is indented more.

    That is how a field, a bullet or a paragraph is written by hand: docutils takes its text for a term.
    A list or code goes on with nothing.
    """
    term, told = _parts(definitions)
    parent = definitions.parent
    if _is_whole(definitions) and told and re.search(r"[.!?]$", term):
        return True
    if parent is None or not told or re.search(r"[.:;!?]$", term):
        return False
    if definitions.children[0].children[-1].children[0].tagname != "paragraph":
        return False
    if parent.tagname == "field_body" and parent.children[0] is definitions:
        return " " in term
    if len(term.split()) < _A_SENTENCE:
        return False
    if parent.tagname in ("field_body", "list_item"):
        return not told[0].isupper()
    return len(term.split()) >= _A_LONG_ONE and term[0].isupper() and told[0].islower()


def introduces(definitions: Any) -> bool:
    """Return True if a term is a sentence that introduces what is indented below it: "In this order:"."""
    term, told = _parts(definitions)
    is_sentence = len(term.split()) >= _A_SENTENCE or _is_whole(definitions)
    return bool(told) and term.endswith(":") and is_sentence


def _is_whole(definitions: Any) -> bool:
    """Return True if a definition is all of an item of a list: a step, and what is told of it below."""
    parent = definitions.parent
    return parent is not None and parent.tagname == "list_item" and len(parent.children) == 1


def _parts(definitions: Any) -> tuple[str, str]:
    """Return the text of the first term and of its definition; empty for one with a classifier, or none."""
    parts = {part.tagname: part for part in definitions.children[0].children}
    if "classifier" in parts or "definition" not in parts or "term" not in parts:
        return "", ""
    return parts["term"].astext().strip(), parts["definition"].astext().lstrip()
