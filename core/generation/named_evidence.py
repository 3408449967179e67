"""Sentences that name their evidence, "According to evidence 2, …", made to cite it where they end."""

from __future__ import annotations

import re
from collections.abc import Collection

_NUMBERS = r"\d{1,2}(?:\s?(?:,|&|and|und)\s?(?:(?:evidence|evidenz)\s)?\d{1,2}){0,4}"
_THAT = (
    r"(?:says|say|states|state|shows|show|indicates|indicate|confirms|confirm|notes|explains|mentions)\sthat"
)
_VERB = (
    r"(?:also\s|only\s)?(?:says?|states?|shows?|mentions?|describes?|explains?|lists?|adds?|gives?|tells?"
    r"|recommends?|suggests?|defines?|provides?|contains?|covers?|has|have)\b"
)
_BEGIN = r"(?P<lead>(?:\A|(?<=\n)|(?<=[.!?:]\s))(?:[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+)?)"
_LED = re.compile(
    rf"{_BEGIN}(?:(?:according\sto|based\son|as\sper|per|as\s(?:stated|described|shown|mentioned|noted)\sin)\s"
    rf"(?:evidence|source)\s(?P<by>{_NUMBERS})\b,?\s"
    rf"|(?:evidence|source)\s(?P<that>{_NUMBERS})\s{_THAT}\s"
    rf"|(?:(?:evidence|source)\s(?P<said>{_NUMBERS})|\[(?P<mark>\d{{1,2}})\])(?=\s(?-i:{_VERB}))"
    rf"|(?P<laut>laut|gemäß)\s(?:evidenz|quelle)\s(?P<german>{_NUMBERS})\b)",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bz\.B)[.!?](?=\s+[^\Wa-z]|\s+[\ue000*_\"(\[]|\s*\n|\s*\Z)|:?\s*(?:\n|\Z)"
)


def cited_at_the_end(text: str, known: Collection[int]) -> str:
    """Return prose whose sentences cite by [number] at their end what they named at their beginning."""
    for found in reversed(list(_LED.finditer(text))):
        named = next(filter(None, (found[name] for name in ("by", "that", "said", "mark", "german"))))
        numbers = [number for number in map(int, re.findall(r"\d+", named)) if number in known]
        end = _END.search(text, found.end())
        if not numbers or end is None:
            continue
        rest = text[found.end() : end.start()]
        marks = "".join(f"[{number}]" for number in numbers if f"[{number}]" not in rest)
        if found["german"]:
            rest = f"{found['laut']} der gefundenen Dokumentation{rest}"
        elif found["said"] or found["mark"]:
            rest = f"The documentation I found{rest}"
        rest = rest[:1].upper() + rest[1:]
        text = f"{text[: found.start()]}{found['lead']}{rest}{' ' * bool(marks)}{marks}{text[end.start() :]}"
    return text
