"""Slips of the pen in roles and lists that docutils takes literally, read as they were meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.ingestion.formats.rst.sphinx import is_known

_LITERAL = re.compile(r"(``.+?``(?!`))", re.S)
_DOMAIN = "(?:py|c|cpp|js|std|rst):"
_UNOPENED = re.compile(rf"(?<![\w:`.\\]){_DOMAIN}[a-z]{{1,12}}:(?=`[^`\s])")
"""A role without its first colon: py:meth:`run`."""
_LINKED = re.compile(r"(?P<role>:[\w:+.-]{1,40}:)(?P<said>`[^`\n]{1,200}`)__?(?!\w)")
"""A role that ends as a link does: :ref:`testing`_."""
_SPACED = re.compile(r"(?<![\w:`\\])(?P<role>:[a-z:]{1,30}:)[ ](?P<said>`[^`\s][^`\n]{0,100}`)")
"""A role that stands apart from what it is about: :issue: `12`."""
_UNSPACED = re.compile(
    r"(?<![\w`])(?P<said>`[^`<>\n]{0,100}[^`<>\s])(?P<link><https?://[^`<>\s]{1,500}>`__?)(?!\w)"
)
"""A link whose words touch its address: `the guide<https://a.example>`_."""
_GLUED = re.compile(r"(?<=[\w`)][,;.])(?=:[a-z:]{1,30}:`[^`\s])")
"""Where a space was forgotten before a role: one,:meth:`two`."""
_SIGNS = ("-", "*", "•")
_BULLET = re.compile(r"[-*•] +(?=\S)")
_LISTED = re.compile(r"[-*•] +\S| +\S")
"""A line of a list, as one stands above what follows it at the left."""
_ENDED = re.compile(r"[.:!?][)`'\"*]?\s*$")
_GOES_ON = re.compile(r"[a-z`'\"(]|\d+(?![.)\d])")
"""How a line begins that is no heading of what follows."""
MAX_LINES = 40
"""Lines of one bullet, or paragraph, that are looked through; ours."""


def mended(text: str, captions: Mapping[str, str]) -> str:
    """Return running text with its roles as they were meant; `captions` are roles of the project's own."""
    if not any(sign in text for sign in (":`", ": `", "<http")):
        return text

    def joined(found: re.Match[str]) -> str:
        known = is_known(found["role"].strip(":").lower(), captions)
        return found["role"] + found["said"] if known else found[0]

    parts = _LITERAL.split(text)
    for at in range(0, len(parts), 2):
        said = _LINKED.sub(joined, _UNOPENED.sub(r":\g<0>", parts[at]))
        said = _UNSPACED.sub(r"\g<said> \g<link>", said)
        parts[at] = _GLUED.sub(" ", _SPACED.sub(joined, said))
    return "".join(parts)


def part_bullets(lines: Any, at: int) -> None:
    """Put the blank line before bullets that follow a paragraph's line directly: else they are its text.

    Two lines that begin with the same sign are bullets. One is, where the line before ends a sentence, or
    where the paragraph follows a list so. What goes on at the left is indented. `lines` are docutils' own,
    `at` is the second one of the paragraph.
    """
    last = min(len(lines), at + MAX_LINES)
    end = next((n for n in range(at, last) if not lines[n].strip()), last)
    first = next((n for n in range(at, end) if _BULLET.match(lines[n])), 0)
    if not first or lines[first - 1].rstrip().endswith("::"):
        return
    sign = f"{lines[first][0]} "
    several = sum(lines[n].startswith(sign) for n in range(first, end)) > 1
    follows = at > 1 and bool(_LISTED.match(lines[at - 2]))
    if not several and not follows and not _ENDED.search(lines[first - 1]):
        return
    width = 0
    for number in range(first, end):
        if found := _BULLET.match(lines[number]):
            width = found.end()
        elif lines[number].rstrip().endswith(":"):
            break
        elif not lines[number].startswith(" "):
            lines[number] = " " * width + lines[number]
    lines.insert(first, "", *lines.items[first])


def indent_what_goes_on(lines: Any, at: int, width: int) -> None:
    """Indent the lines with which a bullet goes on at the left, where more bullets follow with no blank line.

    `lines` are docutils' own, `at` is the bullet and `width` where its text begins.
    """
    sign = lines[at][:1]
    if sign not in _SIGNS:
        return
    plain: list[int] = []
    for number in range(at + 1, min(len(lines), at + MAX_LINES)):
        line = lines[number]
        if line.startswith(f"{sign} "):
            for one in plain:
                lines[one] = " " * width + lines[one]
            return
        if not line.strip():
            return
        if not line.startswith(" "):
            if not _GOES_ON.match(line) or line.rstrip().endswith(":"):
                return
            plain.append(number)
        elif plain:
            return
