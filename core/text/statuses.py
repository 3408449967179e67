"""HTTP statuses by number, as people name them, and by what pages call them (*ours*).

Reason phrases are those of RFC 9110, section 15, and of those before it: pages of libraries keep the older
ones (`RequestEntityTooLarge`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus

from core.text.spelling import outside_code
from core.text.words import query_terms

_OFTEN = 12
"""Passages with a number from which it alone finds pages; ours."""
_BESIDE = 40
"""Characters before and behind a number that tell whether it counts; ours."""
_SOME = 100
"""Passages that may have a name and are looked at; ours."""
_OTHER: dict[int, tuple[str, ...]] = {
    413: ("Request Entity Too Large", "Payload Too Large", "Content Too Large"),
    414: ("Request-URI Too Long", "URI Too Long"),
    416: ("Requested Range Not Satisfiable", "Range Not Satisfiable"),
    422: ("Unprocessable Entity", "Unprocessable Content"),
}
"""What those are called that have several names, the oldest first; Python 3.13 knows the newest only."""
NAMES: dict[str, tuple[str, ...]] = {
    str(status.value): _OTHER.get(status.value, (status.phrase,))
    for status in HTTPStatus
    if status.value >= 400 and status.value not in (400, 404, 500)
}
"""Names of each status that tells of an error, by its number. Those that everybody knows are left out."""
_NUMBER = re.compile(r"(?<!\w\()(?<![\w`'’./\\@:#$%+-])([45]\d\d)(?![\w`'’/\\@%+-]|[.,:]\d)")
_COUNTS_BEFORE = re.compile(
    r"(?:\b(?:line|lines|port|issue|pr|page|chapter|version|over|under|about|around|max|maximum|min|least|most|than|to"
    r"|up|all|last|first|next|every|timeout|limit|size|length|python|width|height|chmod|umask|mode|[ugp]?id|rfc|bug"
    r"|ticket|section|user|group)|[<>~≥≤])\s*$",
    re.IGNORECASE,
)
"""What stands before a number that counts or names something else."""
_COUNTS_AFTER = re.compile(
    r"\s*(?:[mµ]?s|secs?|seconds?|min|minutes?|hours?|[kmgt]i?b|bytes?|chars?|px|of)\b|\s(?:\w+\s)?(?!errors?\b|responses?\b"
    r"|pages?\b|status\b|is\b|was\b|as\b|this\b|always\b|unless\b|sometimes\b|means\b|comes\b|codes?\b|handlers?\b|\w*ss\b"
    r")[a-z]{3,}s\b",
    re.IGNORECASE,
)
"""What stands behind a number that counts."""


def statuses(text: str) -> list[str]:
    """Return the HTTP statuses of errors that a question names by number alone: "dies with 413".

    Numbers that count, name a line or a port are none, nor one whose name stands there, too.
    """
    found: dict[str, None] = {}
    for match in _NUMBER.finditer(outside_code(text)):
        number, said, (start, end) = match[1], match.string, match.span()
        before, after = said[max(start - _BESIDE, 0) : start], said[end : end + _BESIDE]
        if number in NAMES and not (_COUNTS_BEFORE.search(before) or _COUNTS_AFTER.match(after)):
            found[number] = None
    return [number for number in found if not any(named(name).search(text) for name in NAMES[number])]


def named(name: str) -> re.Pattern[str]:
    """Return the pattern of a status's name, in words or as a class: `RequestEntityTooLarge`."""
    return re.compile(r"[\s_-]?".join(map(re.escape, _words(name))), re.IGNORECASE)


async def written_out(
    numbers: Sequence[str],
    holding: Callable[[Sequence[str], int], Awaitable[Sequence[str]]],
    text_of: Mapping[str, str],
) -> dict[str, str]:
    """Return statuses with the name that most passages call them by; those that are told by number are left.

    Of one that no passage has, by number or name, the name stands alone: its words say what is meant.

    `holding` returns the ids of so many passages that have all of these terms, `text_of` their texts. A name
    counts behind its number, and one of several words as a title or a class: `not acceptable` says a lot.
    """
    found = {}
    for number in numbers:
        by_number = len(await holding([number], _OFTEN + 1))
        if by_number > _OFTEN:
            continue
        told = {}
        for name in NAMES[number]:
            ids = await holding(query_terms(name), _SOME)
            told[name] = sum(1 for key in ids if _told(number, name).search(text_of.get(key, "")))
        best = max(told, key=lambda name: told[name])
        if told[best]:
            found[number] = f"{number} {best}"
        elif not by_number:
            found[number] = NAMES[number][0]
    return found


@lru_cache(maxsize=256)
def _told(number: str, name: str) -> re.Pattern[str]:
    """Return the pattern of a passage that names a status."""
    behind = rf"\b{number}\W{{1,4}}(?i:{named(name).pattern})"
    words = _words(name)
    if len(words) == 1:
        return re.compile(rf"{behind}|HTTP_?{words[0]}")
    forms = (" ".join(words), "".join(word.title() for word in words), "_".join(words).upper())
    return re.compile("|".join([behind, *map(re.escape, forms)]))


def _words(name: str) -> list[str]:
    return name.replace("-", " ").split()
