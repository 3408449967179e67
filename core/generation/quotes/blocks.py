"""Markdown cut to blocks: what belongs together when a passage is quoted, shortened or weighed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from core.text.markup import closes, outside_code
from core.text.tables import BELOW_HEADER, cells
from core.text.words import index_terms, one_line, sentences

Kind = Literal["heading", "paragraph", "item", "code", "table", "row", "quote", "rule"]
"""`row` is a row of a table under its header, where the table is too long to be quoted."""

_CAPTION = 80
"""Characters up to which what stands above a table is its name; ours."""
_FENCE = re.compile(r"^(\s*)(`{3,}(?=[^`]*$)|~{3,})(.*)$")
_CITED_END = re.compile(r"^(\s*(?:`{3,}|~{3,}))[^\S\n]*((?:\[\d{1,3}\][^\S\n]*){1,9})\.?$")
_HEADING = re.compile(r"^#{1,6}\s+\S")
_ITEM = re.compile(r"^(\s{0,3})(?:[-*+]|\d{1,3}[.)])\s+\S")
_ITEM_MARK = re.compile(r" {0,3}(?:[-*+]|\d{1,3}[.)])\s+")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_BELOW_HEADER = re.compile(rf" *+{BELOW_HEADER}")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a whole list item, a whole fence, a table, a heading … with its Markdown."""

    kind: Kind
    text: str
    lead: str = ""
    """The lines of an entry's text that lead to it, where it is one of a list inside of a long item."""
    introduced: bool = False
    """Whether it is an item by itself of a list that something introduces."""

    @property
    def introduces(self) -> bool:
        """Return True if it only makes sense with the block after it."""
        return self.kind in ("paragraph", "item") and self.text.rstrip("*_ ").endswith(":")


_REFERENCES = re.compile(
    r"\s*+[*_]{0,2}Related issues and pull requests on GitHub\b.*|\s++(?:#\d{1,7}[,.;]?\s*+)++", re.IGNORECASE
)
"""A line of an entry that is nothing but the numbers of issues, which tells readers nothing."""


_FACT = re.compile(
    r"[-*+] (?:[*_`]{0,3}(?:default|type|required|optional|value|unit|since|alias|environment)\w{0,2}"
    r"(?: \w{1,12})?[*_`]{0,3}(?::[*_`]{0,3} [^\n]{1,60}| `[^`\n]{1,60}`)"
    r"|(?:description|syntax|context|override|status|module|compatibility|scope): [^\n]{1,160})",
    re.IGNORECASE,
)


def are_facts(blocks: Sequence[Block]) -> bool:
    """Return True for a list of which each item is no more than a key with its value: "Default: `true`"."""
    return all(one.kind == "item" and _FACT.fullmatch(one.text.strip()) for one in blocks)


_REQUIRES = re.compile(
    r"\b(?:must|(?:have|has|needs?)\sto|requires?d?|mandatory|only\s(?:works?|possible|if|when|with)|unless"
    r"|cannot|can['’]t|(?:do|does|is|are)\s(?:not|n['’]t)\s(?:support|work|compatible|allowed|available)\w*)\b",
    re.IGNORECASE,
)
"""What says that something must be so for what stands before it to hold."""
_NOTE = re.compile(r"[^\S\n]?\[\^\d{1,3}\](?!\()")


def without_notes(markdown: str) -> str:
    """Leave out the marks of a page's footnotes (`[^1]`): readers take them for an answer's own sources."""
    return outside_code(markdown, lambda prose: _NOTE.sub("", prose))


def split(markdown: str) -> list[Block]:
    """Cut Markdown to blocks in order; a fence that is never closed runs to the end."""
    blocks: list[Block] = []
    lines = _lines(markdown)
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        end = at + 1
        kind: Kind = "paragraph"
        if fence := _FENCE.match(line):
            kind = "code"
            end = _fence_end(lines, at, fence.group(2))
        elif _HEADING.match(line):
            kind = "heading"
        elif _RULE.match(line):
            kind = "rule"
        elif _TABLE.match(line):
            kind = "table"
            end = _while(lines, end, _TABLE)
        elif line.lstrip().startswith(">"):
            kind = "quote"
            while end < len(lines) and lines[end].lstrip().startswith(">"):
                end += 1
        elif item := _ITEM.match(line):
            kind = "item"
            end = _item_end(lines, at, len(item.group(1)))
        elif _is_bare_table(lines, at):
            kind = "table"
            while end < len(lines) and "|" in lines[end]:
                if _starts_block(lines[end]) and not _TABLE.match(lines[end]):
                    break
                end += 1
            lines[at:end] = [f"| {' | '.join(cells(line))} |" for line in lines[at:end]]
        else:
            while end < len(lines) and lines[end].strip() and not _starts_block(lines[end]):
                if _is_bare_table(lines, end):
                    break
                end += 1
        blocks.append(Block(kind, "\n".join(lines[at:end]).rstrip()))
        at = end
    return blocks


def _is_bare_table(lines: Sequence[str], at: int) -> bool:
    """Return True if a table begins whose lines may leave out the bars at their ends: `a | b`."""
    if "|" not in lines[at] or at + 1 == len(lines) or not _BELOW_HEADER.fullmatch(lines[at + 1]):
        return False
    return len(cells(lines[at])) == len(cells(lines[at + 1]))


def _lines(markdown: str) -> list[str]:
    """Return the lines without those of issues' numbers, and without tabs; code keeps all as it is."""
    found: list[str] = []
    mark = ""
    for line in markdown.split("\n"):
        if mark:
            mark = "" if closes(line, mark) else mark
            found.append(line)
            continue
        line = line.expandtabs(4)
        if fence := _FENCE.match(line):
            mark = fence.group(2)
        if mark or not _REFERENCES.fullmatch(line):
            found.append(line)
    return found


def closed(markdown: str) -> str:
    """Put citations that stand behind the end of a fence below it: so written it would end nothing."""
    lines: list[str] = []
    mark = ""
    for line in markdown.split("\n"):
        if not mark:
            mark = fence.group(2) if (fence := _FENCE.match(line)) else ""
        elif closes(line, mark):
            mark = ""
        elif (cited := _CITED_END.match(line)) and closes(cited[1], mark):
            lines += [cited[1].rstrip(), cited[2].strip()]
            mark = ""
            continue
        lines.append(line)
    return "\n".join(lines)


def _starts_block(line: str) -> bool:
    return bool(
        _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line) or _TABLE.match(line)
    ) or line.startswith(">")


def _fence_end(lines: list[str], start: int, mark: str) -> int:
    ends = (at + 1 for at in range(start + 1, len(lines)) if closes(lines[at], mark))
    return next(ends, len(lines))


def _item_end(lines: list[str], start: int, indent: int) -> int:
    """Find the end of a list item: what is indented under it belongs to it, nested items too."""
    at = start + 1
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            follower = next((x for x in lines[at + 1 : at + 3] if x.strip()), "")
            if len(follower) - len(follower.lstrip()) < indent + 2:
                return at
        elif len(line) - len(line.lstrip()) <= indent and _starts_block(line):
            return at
        elif fence := _FENCE.match(line):
            at = _fence_end(lines, at, fence.group(2)) - 1
        at += 1
    return at


def entries_of(item: Block, most: int) -> list[Block]:
    """Return entries and paragraphs of an item longer than `most`, under what leads to them; else itself."""
    mark = _ITEM_MARK.match(item.text)
    if mark is None or len(item.text) <= most:
        return [item]
    width = len(mark[0])
    head, *lines = item.text.split("\n")
    inner = split("\n".join([head[width:], *(line[min(width, indent(line)) :] for line in lines)]))
    if inner[0].kind != "paragraph" or sum(block.kind in ("item", "paragraph") for block in inner[1:]) < 2:
        return [item]

    def under(text: str) -> str:
        return "\n".join(" " * width + line if line else "" for line in text.split("\n"))

    first = mark[0] + under(inner[0].text).lstrip()
    found: list[Block] = []
    for at, block in enumerate(inner[1:], 1):
        before = inner[at - 1]
        if block.kind == "item":
            lead = first
            led = next((one for one in reversed(inner[1:at]) if one.kind != "item"), None)
            if led is not None and led.introduces:
                lead += f"\n\n{under(led.text)}\n"
            for one in entries_of(block, most):
                within = f"{lead}\n{under(one.lead)}" if one.lead else lead
                found.append(Block("item", f"{lead}\n{under(one.text)}", within, True))
        elif found and before.kind == "paragraph" and before.introduces and at > 1:
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n\n{under(block.text)}")
        elif not (block.introduces and inner[at + 1 : at + 2] and inner[at + 1].kind == "item"):
            found.append(Block("item", f"{first}\n\n{under(block.text)}", f"{first}\n", True))
    return found


def requires(text: str) -> bool:
    """Return True for a text that says what must be so for what stands before it to hold."""
    return bool(_REQUIRES.search(text))


def indent(line: str) -> int:
    """Return the spaces that a line begins with."""
    return len(line) - len(line.lstrip(" "))


def _while(lines: list[str], at: int, pattern: re.Pattern[str]) -> int:
    while at < len(lines) and pattern.match(lines[at]):
        at += 1
    return at


def is_caption(block: Block) -> bool:
    """Return True for a short line, which is the name of the table under it."""
    return block.kind == "paragraph" and len(block.text) <= _CAPTION and "\n" not in block.text.strip()


def prose(block: Block) -> list[str]:
    """Return the sentences of a paragraph; anything else is one piece."""
    return sentences(one_line(block.text)) if block.kind == "paragraph" else [block.text]


@lru_cache(maxsize=1 << 15)
def _word_terms(word: str) -> tuple[str, ...]:
    return tuple(index_terms(word))


def terms(text: str) -> Iterable[str]:
    """Return what `index_terms` does, quickly for words seen before."""
    return (term for word in text.split() for term in _word_terms(word))


_OWN_LINE = re.compile(r"(`{3,})([^`]*)$")
Fenced = tuple[int, int, str, str]
"""The lines of an opening and of a closing fence, the mark, and the language."""


def rejoined(pages: Iterable[str], size: int) -> str:
    """Join pages; a block of code that was too long for one page is one block again.

    Two blocks beside each other were one if they have one language and are longer than a page's `size`.
    """
    lines: list[str] = []
    last: Fenced | None = None
    for page in pages:
        added = page.split("\n")
        fences = _fences(added)
        if last and fences and last[1] == len(lines) - 1 and not fences[0][0] and last[2:] == fences[0][2:]:
            first = fences[0]
            if sum(map(len, (*lines[last[0] :], *added[: first[1] + 1]))) > size:
                at = len(lines) - 2
                lines[-1:] = added[1:]
                start, end, *_ = fences[-1]
                last = (last[0] if len(fences) == 1 else at + start, at + end, *fences[-1][2:])
                continue
        if lines:
            lines.append("")
        at = len(lines)
        lines += added
        last = (at + fences[-1][0], at + fences[-1][1], *fences[-1][2:]) if fences else None
    return "\n".join(lines)


def _fences(lines: Sequence[str]) -> list[Fenced]:
    found: list[Fenced] = []
    start, mark, language = -1, "", ""
    for at, line in enumerate(lines):
        fence = _OWN_LINE.match(line)
        if start >= 0:
            if fence and len(fence[1]) >= len(mark) and not fence[2].strip():
                found.append((start, at, mark, language))
                start = -1
        elif fence:
            start, mark, language = at, fence[1], fence[2]
    return found
