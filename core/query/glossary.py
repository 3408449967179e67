"""The product's own words: expand a query by them, and propose new ones from the documents (QAMR)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_DEFINED = re.compile(r"\b((?:[A-Za-z][\w-]*\s+){1,7})\(([A-Z][A-Za-z0-9]{1,7})s?\)")
_AFTER = re.compile(r"\b([A-Z][A-Z0-9]{1,7})\s+\(((?:[A-Za-z][\w-]*\s+){1,6}[A-Za-z][\w-]*)\)")
_SMALL = frozenset(["a", "an", "and", "for", "in", "of", "on", "the", "to", "with"])


@lru_cache(maxsize=4096)
def _pattern(term: str) -> re.Pattern[str]:
    # a short acronym in capitals is not the same word in small letters: PM, pm; IT, it
    flags = 0 if term.isupper() and len(term) <= 3 else re.IGNORECASE
    spaced = r"[\s-]+".join(re.escape(part) for part in term.split())
    return re.compile(rf"(?<![\w.]){spaced}(?:s|es)?(?!\w)", flags)


def expansions(text: str, glossary: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return what the glossary adds to a query: meanings of its terms, and terms of its meanings."""
    added: list[str] = []
    for term, meanings in glossary.items():
        spelled = (term, *meanings)
        present = [word for word in spelled if _pattern(word).search(text)]
        if present:
            added += [word for word in spelled if word not in present]
    return tuple(dict.fromkeys(added))


def propose(texts: Iterable[str], least: int = 1) -> dict[str, tuple[str, ...]]:
    """Find acronyms that texts define, "Performance Monitoring (PM)" or "PM (performance monitoring)".

    Returns acronym to meanings, the most frequent first; for a person to review. A definition found
    fewer than `least` times is left out.
    """
    counted: dict[str, Counter[str]] = {}
    for text in texts:
        for match in _DEFINED.finditer(text):
            if meaning := _long_form(match[1].split(), match[2]):
                counted.setdefault(match[2], Counter())[meaning.lower()] += 1
        for match in _AFTER.finditer(text):
            if meaning := _long_form(match[2].split(), match[1]):
                counted.setdefault(match[1], Counter())[meaning.lower()] += 1
    found = {
        acronym: tuple(meaning for meaning, count in meanings.most_common() if count >= least)
        for acronym, meanings in sorted(counted.items())
    }
    return {acronym: meanings for acronym, meanings in found.items() if meanings}


def _long_form(words: Sequence[str], acronym: str) -> str:
    """Return the shortest run of last words whose initials spell the acronym (small words may be skipped)."""
    for start in range(len(words) - 1, -1, -1):
        run = words[start:]
        initials = [part[0].lower() for word in run for part in word.split("-") if part]
        heavy = [
            part[0].lower() for word in run if word.lower() not in _SMALL for part in word.split("-") if part
        ]
        if "".join(initials) == acronym.lower() or "".join(heavy) == acronym.lower():
            return " ".join(run)
    return ""
