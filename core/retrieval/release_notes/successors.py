"""Which names take the place of one that is gone, by the sentences that tell its fate."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.retrieval.release_notes.gone import Told, named
from core.text.words import sentences

MOST_SUCCESSORS = 2
"""Names that are told to take the place of one; ours."""
_SUCCESSOR = re.compile(
    r"(?:\buse|\balias (?:for|of)|\brenamed (?:to|as)|\breplaced (?:by|with)|\bin favou?r of"
    r"|\bimport them (?:directly )?from"
    r"|\bmoved to(?: \w{1,20}){0,5}|\boverridden (?:using|with|by))(?: the| a)?(?: new)?"
    r" `(?P<after>[^`\s]{1,80}?)(?:\([^`]{0,80}\))?`"
    r"|`(?P<before>[^`\s]{1,80})` (?:now )?replaces `(?P<old>[^`]{1,80})`",
    re.IGNORECASE,
)


_IN_CODE = re.compile(r"`([^`]{1,80})`")
_LISTED = re.compile(r"(?:`[^`]{1,80}`(?:,? (?:and|or) |, )?){1,8}")


def successors(told: Sequence[Told]) -> tuple[str, ...]:
    """Return the names that take the place of a name, by the sentences that tell its fate and those after."""
    found: dict[str, None] = {}
    for one in told:
        known = named(one.name)
        parts = sentences(one.line)
        at = next((n for n, part in enumerate(parts) if known.search(part)), None)
        if at is None or not one.fate:
            continue
        before = [part for part in parts[:at] if re.search(r"\b(?:is|are|was|were) moved to\b", part)]
        after = [part for part in parts[at + 1 : at + 2] if not re.search(r"`[^`]{1,80}` (?:is|are) ", part)]
        for match in (one for part in (*before, parts[at], *after) for one in _SUCCESSOR.finditer(part)):
            name = match["after"] or (match["before"] if known.fullmatch(match["old"]) else "")
            name = _at_its_place(known, match) or name
            if name and not known.fullmatch(name):
                found[name] = None
    return tuple(found)[:MOST_SUCCESSORS]


def _at_its_place(known: re.Pattern[str], match: re.Match[str]) -> str:
    """Return the name that takes a name's place where several are told in one order: "A and B to C and D"."""
    listed = _LISTED.match(match.string, match.start("after") - 1) if match["after"] else None
    if listed is None:
        return ""
    old, new = _IN_CODE.findall(match.string[: listed.start()]), _IN_CODE.findall(listed[0])
    at = next((n for n, one in enumerate(old) if known.search(one)), None)
    return new[at].partition("(")[0].lstrip("~.") if at is not None and len(old) == len(new) > 1 else ""
