"""Manual pages that are one `<pre>`: bold lines with a name are headings, what is indented alike is prose."""

from __future__ import annotations

import re
import textwrap

from bs4 import Tag

from core.ingestion.formats._shared import fence, one_line

LEAST = 3
"""Bold lines with a name from which preformatted text is a manual page; ours."""
_HYPHEN = re.compile(r"(?<=[a-z])-\n *(?=[a-z])")


def sections_of(pre: Tag) -> list[tuple[str, str, list[str]]]:
    """Return heading, address and blocks of each part of a manual page, nothing for other such text."""
    heads = [tag for tag in pre.find_all("b", recursive=False) if _address(tag)]
    if len(heads) < LEAST:
        return []
    found: list[tuple[str, str, list[str]]] = []
    said: list[str] = []
    for child in pre.children:
        if isinstance(child, Tag) and child in heads:
            _end(found, said)
            found.append((one_line(child.get_text()), _address(child), []))
            said = []
        elif found:
            said.append(child.get_text() if isinstance(child, Tag) else str(child))
    _end(found, said)
    return found


def _address(tag: Tag) -> str:
    name = tag.find("a", attrs={"name": True})
    return str(name["name"]) if isinstance(name, Tag) and one_line(name.get_text()) else ""


def _end(found: list[tuple[str, str, list[str]]], said: list[str]) -> None:
    if found:
        found[-1][2].extend(_blocks("".join(said)))


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
