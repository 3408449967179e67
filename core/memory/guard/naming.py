"""What two questions name: numbers, identifiers, software, abbreviations."""

from __future__ import annotations

import re

from core.memory.guard.sense import Sense
from core.memory.guard.sentences import only, said
from core.memory.guard.words import alike, mentions

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
