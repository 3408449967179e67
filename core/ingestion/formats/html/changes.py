"""In which version something came or changed, told by tables and lines of HTML, as Sphinx writes it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_VERSION = r"v?\d+(?:\.\d+)*"
_VERSIONS = re.compile(rf"{_VERSION}(?:, {_VERSION})*")
_STATED = re.compile(rf"(Added|Deprecated|Removed|Changed) (in|since): ?({_VERSION}(?:, {_VERSION})*)")
HISTORY = re.compile(r"\b(?:history|change ?log|changes)\b", re.I)


def history(rows: Sequence[Sequence[str]], above: str) -> list[str]:
    """Return what a table of versions and changes tells, a mark for each row; nothing for any other table.

    "v15.2.0 | The option is new." becomes "Changed in version 15.2.0: The option is new." Its second column
    says that it tells changes, or the heading `above` does.
    """
    heads = [cell.strip("*").lower() for cell in rows[0]] if rows else []
    if len(heads) != 2 or heads[0] != "version":
        return []
    if heads[1] not in ("change", "changes") and not (heads[1] == "description" and HISTORY.search(above)):
        return []
    told = [(row[0], row[1]) for row in rows[1:] if len(row) == 2]
    if len(told) != len(rows) - 1 or not all(said and _VERSIONS.fullmatch(one) for one, said in told):
        return []
    return [
        mark
        for version, said in told
        for mark in (stated(said) or [f"Changed in version {_plain(version)}: {said}"])
    ]


def stated(line: str) -> list[str]:
    """Return what a line of nothing but versions tells: "Added in: v10.0.0" is "Added in version 10.0.0."."""
    found = list(_STATED.finditer(line))
    if not found or _STATED.sub("", line).strip():
        return []
    return [f"{one[1]} {one[2]} version {_plain(one[3])}." for one in found]


def _plain(versions: str) -> str:
    return versions.replace("v", "")
