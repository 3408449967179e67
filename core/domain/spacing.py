"""White space as people mean it: one space between words, one blank line between paragraphs."""

from __future__ import annotations

import re
from functools import lru_cache

INDENTED = 40
"""Characters of white space that a line may begin with: code pasted without a fence stays as it is."""

_SPACE = re.compile(
    r"(?P<code>(?P<fence>`{3,}+).*?(?:(?P=fence)|\Z)"
    r"|^[ \t]*(?P<tildes>~{3,}+).*?(?:^[ \t]*(?P=tildes)|\Z)"
    r"|`{1,2}[^`\n]++`++)"
    r"|(?P<lead>(?<![^\n])[^\S\n]+)(?=\S)"
    r"|(?P<lines>\n(?:[^\S\n]*+\n){2,}+)"
    r"|[^\S\n]{2,}+",
    re.MULTILINE | re.DOTALL,
)


@lru_cache(maxsize=512)  # the same posts are read again with every question asked after them
def single_spaced(text: str) -> str:
    """Return a text with one space, or one blank line, where there are several; code stays as it is.

    Code is what stands in fences and between backticks. A line keeps what it is indented by, up to 40
    characters. What is single spaced stays as it is.
    """
    return _SPACE.sub(_shortest, text)


def _shortest(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return found[0]
    if found["lead"] is not None:
        return found[0][:INDENTED]
    return "\n\n" if found["lines"] is not None else " "
