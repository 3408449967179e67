"""Manual pages that are one `<pre>`: bold lines are headings, what is indented alike is prose or a list.

Bold lines with an address of their own are headings wherever they stand, those in capitals at the margin
also without one. Below them an indented text belongs to the line above it, as an option's does.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from bs4 import Tag
from bs4.element import NavigableString

from core.ingestion.formats._shared import fence
from core.text.words import one_line

LEAST = 3
"""Bold lines that are headings from which preformatted text is a manual page; ours."""
DEEPER = range(4, 11)
"""Columns by which the text of an entry stands deeper than its name; `man` takes 7 or 8."""
SHORT = 60
"""Column before which a line of a manual page was ended by its writer; `man` fills them up to 72 or 78."""
_HYPHEN = re.compile(r"(?<=[a-z])-\n *(?=[a-z])")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,/&()'-]+")
_POINT = re.compile(r"[o*+•·-]")
_STEP = re.compile(r"(\d{1,3})[.)]")
_NAMED = re.compile(r"([^\s()]*[\w>\]]) (\(.*\))", re.DOTALL)
"""A setting with its default: `tcp_windowsize (0)`."""


def sections_of(pre: Tag) -> list[tuple[str, str, list[str]]]:
    """Return heading, address and blocks of each part of a manual page, nothing for other such text.

    What stands before the first part has no heading; lines that only name the page are left out.
    """
    heads = {id(tag): _address(tag) for tag in pre.find_all("b", recursive=False) if _is_heading(tag)}
    if len(heads) < LEAST:
        return []
    found: list[tuple[str, str, str]] = []
    heading, address, said = "", "", ""
    for child in pre.children:
        if id(child) in heads:
            found.append((heading, address, said))
            heading, address, said = one_line(child.get_text()), heads[id(child)], ""
        else:
            said += child.get_text()
    parts = [(head, at, _blocks(text, head)) for head, at, text in (*found, (heading, address, said))]
    return parts if parts[0][2] else parts[1:]


def _is_heading(tag: Tag) -> bool:
    """Return True for a bold line with an address, or in capitals at the margin."""
    return bool(_address(tag)) or (_CAPITALS.fullmatch(tag.get_text()) is not None and _is_alone(tag))


def _is_alone(tag: Tag) -> bool:
    """Return True for what begins and ends a line of preformatted text."""
    before, after = tag.previous_sibling, tag.next_sibling
    begins = before is None or (isinstance(before, NavigableString) and before.endswith("\n"))
    return begins and (after is None or (isinstance(after, NavigableString) and after.startswith("\n")))


def _address(tag: Tag) -> str:
    name = tag.find("a", attrs={"name": True})
    return str(name["name"]) if isinstance(name, Tag) and one_line(name.get_text()) else ""


def _blocks(text: str, heading: str) -> list[str]:
    """Return the blocks of a part; what is typed at a prompt (the synopsis) stands as it is."""
    parts = [part.strip("\n").split("\n") for part in re.split(r"\n[ \t]*\n", text.expandtabs())]
    parts = [part for part in parts if any(map(str.strip, part)) and not _is_running(part)]
    if not parts:
        return []
    if heading == "SYNOPSIS":
        return [fence(textwrap.dedent("\n\n".join("\n".join(part) for part in parts)))]
    return _told(parts)


def _is_running(lines: Sequence[str]) -> bool:
    """Return True for the line above or below a manual page: "PIPE(8)          PIPE(8)"."""
    words = lines[0].split()
    return len(lines) == 1 and bool(words) and words[0].endswith(")") and words[-1] == words[0]


def _told(parts: Sequence[list[str]]) -> list[str]:
    """Return paragraphs as prose where their lines begin at one place, entries of a list, else code.

    `parts` are the lines of each; all that stands deeper behind an entry belongs to it.
    """
    least = min(_indent(part[0]) for part in parts)
    blocks: list[str] = []
    names: list[str] = []
    at = 0
    while at < len(parts):
        part, end = parts[at], at + 1
        while end < len(parts) and _indent(parts[end][0]) > least:
            end += 1
        if not _is_code(part) and (entry := _entry(part, parts[at + 1 : end], least)):
            blocks.append(_item([*names, entry[0]], _told(entry[1]) if entry[1] else []))
            names, at = [], end
            continue
        if len(part) == 1 and part[0].strip().startswith("-") and end < len(parts):
            names.append(part[0].strip())  # two options of one text
            at += 1
            continue
        blocks += [_item([name], []) for name in names]
        blocks.append(_paragraph(part, least))
        names, at = [], at + 1
    return [*_together(blocks), *(_item([name], []) for name in names)]


def _entry(
    part: Sequence[str], deeper: Sequence[list[str]], least: int
) -> tuple[str, list[list[str]]] | None:
    """Return the name of an entry and the lines of its text; None for what is none."""
    first, rest = part[0], list(part[1:])
    if _indent(first) != least:
        return None
    below = _indent(rest[0]) if rest else _indent(deeper[0][0]) if deeper else 0
    inline = re.match(r" *(\S+(?: \S+)*?)  +(?=\S)", first)
    is_point = inline is not None and (len(inline[1]) == 1 or _STEP.fullmatch(inline[1]) is not None)
    if inline and inline.end() - least in DEEPER and (below == inline.end() or (not below and is_point)):
        return inline[1], [[" " * inline.end() + first[inline.end() :], *rest], *deeper]
    is_named = below - least in DEEPER and all(_indent(line) >= below for line in rest if line.strip())
    if not is_named or first.rstrip().endswith((":", ".")):
        return None
    if not rest and not _is_name(first.strip()):
        return None
    return first.strip(), [rest, *deeper] if rest else list(deeper)


def _is_name(line: str) -> bool:
    """Return True for a line that can be the name of an entry: an option, a setting, one word."""
    return line.startswith("-") or " " not in line or _NAMED.fullmatch(line) is not None


def _is_code(lines: Sequence[str]) -> bool:
    """Return True for lines that begin at several places, as no paragraph or entry does."""
    return len({_indent(line) for line in lines[1:]}) > 1


def _item(names: Sequence[str], blocks: Sequence[str]) -> str:
    """Write an entry as an item of a list, its text indented below it."""
    name = names[0] if len(names) == 1 else ""
    step = _STEP.fullmatch(name)
    lead = f"{step[1]}. " if step else "- "
    said = "\n\n".join(blocks)
    if not step and not _POINT.fullmatch(name):
        called = ", ".join(map(_called, names))
        said = f"{called}: {said}" if said else called
    return lead + textwrap.indent(said, " " * len(lead)).lstrip()


def _called(name: str) -> str:
    """Write what an entry is of as code, its default behind it."""
    name = one_line(name)
    named = _NAMED.fullmatch(name)
    return f"`{named[1]}` {named[2]}" if named else f"`{name}`" if "`" not in name else name


def _paragraph(lines: Sequence[str], least: int) -> str:
    if any(_indent(line) != least for line in lines):
        return fence(textwrap.dedent("\n".join(lines)))
    if len(lines) > 2 and all(len(line.rstrip()) < SHORT for line in lines):
        return "\n".join(f"- {one_line(line)}" for line in lines)
    return one_line(_HYPHEN.sub("", "\n".join(lines)))


def _together(blocks: Sequence[str]) -> list[str]:
    """Join items that follow one another to one list."""
    joined: list[str] = []
    for block in blocks:
        is_item = re.match(r"- |\d{1,3}\. ", block) is not None
        if joined and is_item and re.match(r"- |\d{1,3}\. ", joined[-1]):
            joined[-1] += f"\n{block}"
        else:
            joined.append(block)
    return joined


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
