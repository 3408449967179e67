"""Manual pages that are one `<pre>`: bold lines with a name are headings, what is indented alike is prose."""

from __future__ import annotations

import re
import textwrap

from bs4 import Tag

from core.ingestion.formats._shared import fence
from core.text.words import one_line

LEAST = 3
"""Bold lines with a name from which preformatted text is a manual page; ours."""
_HYPHEN = re.compile(r"(?<=[a-z])-\n *(?=[a-z])")


def sections_of(pre: Tag) -> list[tuple[str, str, list[str]]]:
    """Return heading, address and blocks of each part of a manual page, nothing for other such text.

    What stands before the first part has no heading; a line of the page's own name is left out there.
    """
    heads = {id(tag): address for tag in pre.find_all("b", recursive=False) if (address := _address(tag))}
    if len(heads) < LEAST:
        return []
    found: list[tuple[str, str, list[str]]] = []
    heading, address, said = "", "", ""
    for child in pre.children:
        if id(child) in heads:
            found.append((heading, address, _blocks(said)))
            heading, address, said = one_line(child.get_text()), heads[id(child)], ""
        else:
            said += child.get_text()
    before, *parts = [*found, (heading, address, _blocks(said))]
    above = [block for block in before[2] if not _is_running(block)]
    return [("", "", above), *parts] if above else parts


def _is_running(block: str) -> bool:
    """Return True for the line above a manual page: "PIPE(8)          PIPE(8)"."""
    words = block.strip("`").split()
    return bool(words) and words[0] == words[-1] and words[0].endswith(")")


def _address(tag: Tag) -> str:
    name = tag.find("a", attrs={"name": True})
    return str(name["name"]) if isinstance(name, Tag) and one_line(name.get_text()) else ""


def _blocks(text: str) -> list[str]:
    """Return paragraphs as prose where their lines begin at one place, else as they stand."""
    blocks = []
    parts = [part.strip("\n") for part in re.split(r"\n[ \t]*\n", text)]
    parts = [part for part in parts if part.strip()]
    least = min((_indent(part.split("\n")[0]) for part in parts), default=0)
    for part in parts:
        lines = part.split("\n")
        if all(_indent(line) == least for line in lines):
            blocks.append(one_line(_HYPHEN.sub("", part)))
        else:
            blocks.append(fence(textwrap.dedent(part)))
    return blocks


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
