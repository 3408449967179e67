"""Code that is run when a page is made: what of it the readers of the page see."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from core.vocabulary import words_of

_WORDS = words_of(__package__)
_HIDING = frozenset(_WORDS["hiding_options"].split())
_TAGS = frozenset(_WORDS["hiding_tags"].split())
PLOTS = frozenset(_WORDS["plots"].split()) | frozenset(_WORDS["shown_plots"].split())
_REFUSED = frozenset({"false", "no", "n", "0", "off"})
_DECORATED = re.compile(r"[ \t]*@(suppress|savefig|verbatim|okexcept|okwarning|doctest)\b(?![ \t]*[.(\[=])")
"""What tells IPython's directive how to run the next statement; it is no Python and not on the page."""
_FOLLOWING = re.compile(r"[ \t)\]}]|Out\[|(?:else|elif|except|finally)\b")


def is_hidden(name: str, options: Mapping[str, str], plots: Collection[str]) -> bool:
    """Return True if a directive runs its code without showing it, as `plots` do by default."""
    if _HIDING & options.keys() or _TAGS & set(re.findall(r"[\w-]+", options.get("tags", ""))):
        return True
    if name not in PLOTS:
        return False
    said = options.get("include-source")
    return name in plots if said is None else said.strip().lower() in _REFUSED


def seen(name: str, lines: Sequence[str]) -> list[str]:
    """Return the lines of a directive's code that are on the page."""
    if name != "ipython":
        return list(lines)
    kept: list[str] = []
    hides = began = quotes = False
    for line in lines:
        decorated = _DECORATED.match(line)
        if decorated:
            hides, began, quotes = decorated[1] == "suppress", False, False
        elif hides and (not began or quotes or _goes_on(line)):
            began = began or bool(line.strip())
            quotes ^= (line.count('"""') + line.count("'''")) % 2 == 1
        elif line.strip() or not hides:
            hides = False
            kept.append(line)
    return kept


def _goes_on(line: str) -> bool:
    """Return True if a line belongs to the statement that began before it, or is what that printed."""
    return _FOLLOWING.match(line) is not None
