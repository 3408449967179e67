"""What two questions name: numbers, identifiers, software, abbreviations."""

from __future__ import annotations

import re
from functools import lru_cache

from core.memory.guard.sense import Sense, root
from core.memory.guard.words import alike, mentions, only, said
from core.text.words import STOP_WORDS
from core.vocabulary import NUMBER_WORDS

_COUNT = re.compile(rf"\b({'|'.join(NUMBER_WORDS)}|\d{{1,9}})\s+([a-z]+)\b")
_DOMAIN = re.compile(r"\.(?:com|org|net|io|dev|de|eu|co|js)$", re.IGNORECASE)


def numbers(left: Sense, right: Sense) -> str:
    """Find other numbers, a number that one of them lacks, or another unit of the same number."""
    ours, theirs = left.worded - right.worded, right.worded - left.worded
    if ours and theirs:
        return said(", ".join(sorted(ours)), ", ".join(sorted(theirs)))
    if single := (ours & left.numbers) | (theirs & right.numbers):
        return only(", ".join(sorted(single)))
    for value, unit in sorted(left.units):
        others = {u for v, u in right.units if v == value}
        if others and unit not in others:
            return said(f"{value} {unit}", f"{value} {min(others)}")
    return ""


def counts(left: Sense, right: Sense) -> str:
    """Find another number of the same: one database for two apps, and two for one."""
    ours, theirs = _counted(left.said), _counted(right.said)
    other = [n for n in sorted(ours.keys() & theirs.keys()) if not ours[n].keys() & theirs[n].keys()]
    if not other or (len(other) == 1 and "1" in ours[other[0]].keys() | theirs[other[0]].keys()):
        return ""  # "merge two branches" and "merge one branch into another"
    return said(min(ours[other[0]].values()), min(theirs[other[0]].values()))


@lru_cache(maxsize=512)
def _counted(text: str) -> dict[str, dict[str, str]]:
    """Map the stem of what is counted to the numbers of it, each as it was written."""
    found: dict[str, dict[str, str]] = {}
    for match in _COUNT.finditer(text):
        number, noun = str(match[1]), str(match[2])
        if noun not in STOP_WORDS:
            found.setdefault(root(noun), {})[NUMBER_WORDS.get(number, number)] = match[0]
    return found


def code(left: Sense, right: Sense) -> str:
    """Find other identifiers, or one that just one of them has and that is no plain word."""
    ours = [name for name in left.code if not mentions(name, right)]
    theirs = [name for name in right.code if not mentions(name, left)]
    if ours and theirs:
        return said(f"`{ours[0]}`", f"`{theirs[0]}`")
    strict = [name for name in ours + theirs if re.search(r"[_.:()]|^-", name) and not _DOMAIN.search(name)]
    return only(f"`{strict[0]}`") if strict else ""


def software(left: Sense, right: Sense) -> str:
    """Find another piece of software on each side."""
    ours, theirs = left.software - right.software, right.software - left.software
    return said(min(ours), min(theirs)) if ours and theirs else ""


def capitals(left: Sense, right: Sense) -> str:
    """Find another abbreviation on each side, one letter's difference such as HTTP and HTTPS included."""
    ours = {c for c in left.capitals - right.capitals if len(c) == 1 or f" {c} " not in right.plain}
    theirs = {c for c in right.capitals - left.capitals if len(c) == 1 or f" {c} " not in left.plain}
    if any(a + "s" == b or b + "s" == a for a in ours for b in theirs):  # HTTP and HTTPS
        return said(min(ours).upper(), min(theirs).upper())
    if any(alike(a, b) or (a[0] == b[0] and (a in b or b in a)) for a in ours for b in theirs):
        return ""
    return said(min(ours).upper(), min(theirs).upper()) if ours and theirs else ""
