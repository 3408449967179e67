"""Names of code in running text that a reader of Markdown would take for markup: `**kwargs`, `__init__`."""

from __future__ import annotations

import re

_ALONE, _ENDS = r"(?<![\w*`\\/<>{}$.)\]-])", r"(?![\w*`/<>{}-])"
"""What stands beside a name that is no part of a path, a pattern or a longer name."""
# a word with a capital is a note under a table or a print that was not closed: "*Only with a lid"
_STARRED = re.compile(rf"{_ALONE}\*{{1,2}}(?=[A-Za-z_])(?![A-Z][a-z]{{2}})\w++(?!\.\w){_ENDS}")
_UNDERSCORED = re.compile(
    rf"{_ALONE}(?:[A-Za-z]\w{{0,60}}+\.){{0,6}}+(_{{1,2}})(?=[A-Za-z])\w{{1,60}}(?<=[A-Za-z\d])\1"
    rf"(?:\.\w{{1,60}}){{0,6}}(?:\(\))?{_ENDS}"
)
_STRESSED = re.compile(rf"{_ALONE}_([A-Za-z]{{2,40}})_(?!\.\w){_ENDS}")
"""A word between underscores: no markup in reStructuredText, but what somebody took for it."""


def starred(text: str) -> str:
    """Write names of arguments as code: *args, **options."""
    return _STARRED.sub(r"`\g<0>`", text) if "*" in text else text


def as_code(text: str) -> str:
    """Write names of arguments, and names between underscores, as code; the text has no markup of its own.

    One word between two underscores is emphasis.
    """
    text = starred(text)
    return _UNDERSCORED.sub(r"`\g<0>`", _STRESSED.sub(r"*\1*", text)) if "_" in text else text
