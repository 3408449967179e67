"""What is the same in all prompts: the version, and tags that nobody can close."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.invisible import visible
from core.text.words import one_line

PROMPT_VERSION = "6"
"""Changes with every change of meaning here, so that figures can be told apart."""

_TAGS = "evidence|conversation|remembered|rejected|question|unit|passage|previous|wrong"
_TAG = re.compile(rf"<(\s*+(?:/\s*+)?(?:{_TAGS})\b)", re.IGNORECASE)


def data(text: str) -> str:
    """Make text from outside unable to open or close one of our tags, also by what nobody sees in them."""
    return _TAG.sub(r"‹\1", visible(text))


def attribute(text: str) -> str:
    """Make text fit for an attribute of a tag: one line without double quotes."""
    return one_line(data(text).replace('"', "'"))


def releases_of(product: str, releases: Sequence[str]) -> str:
    """Name the releases: `Flask 3.1`, `Flask 2.3 and 3.1`."""
    if not releases:
        return product
    names = releases[0] if len(releases) == 1 else f"{', '.join(releases[:-1])} and {releases[-1]}"
    return f"{product} {names}"


def conversation(turns: Sequence[tuple[str, str]]) -> str:
    """Return the thread so far as (who, text), oldest first."""
    if not turns:
        return ""
    # further lines are indented, so that code keeps its shape and nobody writes another's turn
    told = "\n".join(f"{who}: " + "\n  ".join(data(text).strip().split("\n")) for who, text in turns)
    return f"The conversation before the question:\n<conversation>\n{told}\n</conversation>"
