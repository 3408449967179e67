"""Pages of HTML that are too tangled to be read, told by their tags alone."""

from __future__ import annotations

import re

MAX_OPEN = 300
"""Elements that may be open at once; real pages have up to 60."""
MAX_TAGS = 100_000
"""Elements of a page; the longest pages of documentation have half of it, and each takes 0.1 ms."""
MAX_EFFORT = 5_000_000
"""Sum of all elements' depths; a page of 5 MB has a fifth of it, and time grows with it."""

MAX_ATTRIBUTES = 20_000
"""Characters of a tag above which it does not close itself; a drawing's longest path has a few thousand."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_WITHOUT_END = "area base br col embed hr img input link meta param source track wbr"
_MAY_LACK_END = "p li dt dd tr td th thead tbody tfoot option optgroup colgroup caption html head body"
_OPEN_ENDED = frozenset(f"{_WITHOUT_END} {_MAY_LACK_END}".split())
"""Elements that need not be closed (HTML standard): however many there are, they may lie side by side."""


def tangle_of(text: str) -> str:
    """Say why a page cannot be read, empty where it can; takes time by the page's length alone."""
    depth = effort = tags = 0
    for found in _TAG.finditer(text):
        tags += not found[1]
        if found[2].lower() not in _OPEN_ENDED and not _closes_itself(text, found.end()):
            depth = max(depth - 1, 0) if found[1] else depth + 1
        effort += depth
        if depth > MAX_OPEN or effort > MAX_EFFORT:
            return "is nested too deeply to be read"
        if tags > MAX_TAGS:
            return f"has more than {MAX_TAGS:,} elements"
    return ""


def _closes_itself(text: str, at: int) -> bool:
    """Return True if a tag whose name ends there ends with "/>", as the shapes of drawings do."""
    end = text.find(">", at, at + MAX_ATTRIBUTES)
    if end < 0 or text[end - 1] != "/" or text.find("<", at, end) >= 0:
        return False
    between = text[at:end]
    return between.count('"') % 2 == 0 and between.count("'") % 2 == 0
