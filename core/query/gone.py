"""Read the names that a question believes to be gone: "is X still there?", "cannot import name X"."""

from __future__ import annotations

import re

from core.domain import Product
from core.query.forms import content, without_product
from core.text.words import identifiers

_NAME = r"['\"`‘’“”]?(?P<name>@?[A-Za-z_][\w.]*|--[\w-]+)"
_ERRORS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"cannot import name {_NAME}",
        rf"has no attribute {_NAME}",
        rf"unexpected keyword argument {_NAME}",
        rf"no module named {_NAME}",
        rf"\bname {_NAME}['\"`’”]? is not defined",
        rf"no such option:? {_NAME}",
        rf"(?:warning|error): {_NAME}['\"`’”]?(?:\(\))? (?:is|was) (?:deprecated|removed|renamed|replaced)",
        rf"(?:undefined|unknown|unresolved) (?:name|method|function|reference|import|attribute):? {_NAME}",
    )
)
"""What interpreters and tools say of a name that is not there."""
_ASKS = re.compile(
    r"\bstill\b|\bany\s?more\b|\bgone\b|\bremov(?:e|ed|al)\b|\bdeprecat|\breplac(?:e|ed|es|ement)\b|\brenam"
    r"|\bdropp?ed\b|\bdisappear|\bno longer\b|\bmissing\b|\bwent away\b|\bhappened to\b|\binstead of\b"
    r"|\balternatives?\b|\bsuccessor\b"
    r"|\bwhere (?:is|did|has)\b.{1,80}\b(?:go|gone|moved?)\b|\bdoes(?:n['’]?t| not)? .{1,80}\bexist",
    re.IGNORECASE,
)
_LONG = 6
"""Letters of a plain word that may be a name."""
_MOST = 3
"""Names that are looked for."""


def gone(text: str, product: Product) -> tuple[str, ...]:
    """Return the names that a question believes to be removed, renamed or replaced."""
    told = [match["name"] for pattern in _ERRORS for match in pattern.finditer(text)]
    if not told and _ASKS.search(text):
        about = without_product(text, product)
        told = identifiers(about) or identifiers(text)
        told = told or [
            word
            for word in content(about)
            if len(word) >= _LONG and word.isalpha() and not _ASKS.search(word)
        ]
    names = (name.strip(".").lstrip("@") for name in told)
    return tuple(dict.fromkeys(name for name in names if len(name) > 1))[:_MOST]
