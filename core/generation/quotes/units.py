"""What can be quoted from a page: whole sentences, list items and tables, with the code they lead to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.generation.quotes.blocks import Block, split
from core.text.words import one_line, sentences

MAX_CODE_LINES = 40
_MAX_ITEM_CHARACTERS = 600
_MAX_TABLE_ROWS = 12
_MAX_INTRODUCED_ITEMS = 8
_SHORTEST, _LONGEST = 16, 600

_ENDED = re.compile(r"[.!?:。！？][\"'”’)\]*_`]*$")
_TERM = re.compile(r"^(?:\*\*[^*\n]{1,80}\*\*|`[^`\n]{1,100}`|\*\*`[^`\n]{1,100}`\*\*)$")
_DEBRIS = re.compile(
    r"(?:^|\s)\.\. \w|:[a-z]+:`|`_{1,2}(?:\W|$)|\{%|\{\{#|\|\w+\||</?(?:div|span|p|a|nav|script)\b"
    r"|^[-=~^+*#|\s]+$|^(?:table of contents|contents|on this page|previous|next|edit (?:this|on)|copyright"
    r"|all rights reserved|skip to|last (?:updated|modified)|view source|toggle)\b|^see also:?$|©",
    re.IGNORECASE,
)
_IDENTIFIER_START = re.compile(r"^[a-z][\w.]*[_.(][\w.()]*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece that can stand in a quote.

    `term` is what it defines, `follow` the code that must come with it, `next` the number of the unit that
    goes on from it in the same paragraph (-1 for none), `first` tells that it opens the page.
    """

    text: str
    kind: str
    block: int
    term: str = ""
    follow: str = ""
    next: int = -1
    first: bool = False


def units(page: str) -> list[Unit]:
    """Cut a page to the units that are whole and readable; debris and fragments are left out."""
    blocks = [_unquoted(block) for block in split(page)]
    found: list[Unit] = []
    term = ""
    at = 0
    while at < len(blocks):
        block = blocks[at]
        if block.kind == "paragraph" and _TERM.match(block.text.strip()):
            # Over code it is a caption, a file's name for instance.
            captions = at + 1 < len(blocks) and blocks[at + 1].kind == "code"
            term = "" if captions else block.text.strip()
        elif block.kind == "paragraph":
            follow, used = _follow(blocks, at)
            found += _sentences(block, at, term, follow, len(found))
            at += used
            term = ""
        elif block.kind == "item" and len(block.text) <= _MAX_ITEM_CHARACTERS:
            found += _item(block, at)
        elif block.kind == "table" and block.text.count("\n") < _MAX_TABLE_ROWS + 2:
            found.append(Unit(block.text, "table", at))
        elif block.kind == "code" and not found and _is_quotable(block):
            # A page that opens with code: its heading says what it shows.
            found.append(Unit("", "code", at, term, _dedented(block.text)))
            term = ""
        if block.kind == "heading":
            term = ""
        at += 1
    if found:
        found[0] = replace(found[0], first=True)
    return found


def _unquoted(block: Block) -> Block:
    if block.kind != "quote":
        return block
    return Block("paragraph", "\n".join(re.sub(r"^\s*>\s?", "", line) for line in block.text.split("\n")))


def _follow(blocks: Sequence[Block], at: int) -> tuple[str, int]:
    """Return the code or list that a paragraph leads to, and how many blocks it takes."""
    rest = blocks[at + 1 :]
    if rest and rest[0].kind == "code":
        return (_dedented(rest[0].text) if _is_quotable(rest[0]) else ""), 1
    if not blocks[at].introduces or not rest or rest[0].kind not in ("item", "table"):
        return "", 0
    if rest[0].kind == "table":
        return (rest[0].text if rest[0].text.count("\n") < _MAX_TABLE_ROWS + 2 else ""), 0
    items = [b.text for b in _run_of_items(rest)]
    # The list's items can be quoted on their own as well, so they are not taken.
    if len(items) <= _MAX_INTRODUCED_ITEMS and sum(map(len, items)) <= 2 * _MAX_ITEM_CHARACTERS:
        return "\n".join(items), 0
    return "", 0


def _run_of_items(blocks: Sequence[Block]) -> list[Block]:
    end = next((i for i, block in enumerate(blocks) if block.kind != "item"), len(blocks))
    return list(blocks[:end])


def _is_quotable(block: Block) -> bool:
    lines = block.text.count("\n") + 1
    return 3 <= lines <= MAX_CODE_LINES + 2


def _dedented(code: str) -> str:
    lines = code.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[min(indent, len(line) - len(line.lstrip())) :] for line in lines)


def _sentences(block: Block, number: int, term: str, follow: str, start: int) -> list[Unit]:
    text = one_line(re.sub(r"(?<!\s)[^\S\n]*+\n\s*+:\s+", ": ", block.text))
    told = sentences(text)
    made: list[Unit] = []
    previous = -2
    for position, sentence in enumerate(told):
        last = position == len(told) - 1
        carried = follow if last else ""
        if not _is_readable(sentence) or (sentence.rstrip("*_").endswith(":") and not carried):
            continue
        if made and previous == position - 1:
            made[-1] = replace(made[-1], next=start + len(made))
        made.append(Unit(sentence, "paragraph", number, term if not made else "", carried))
        previous = position
    return made


def _item(block: Block, number: int) -> list[Unit]:
    """Take a list item whole, code inside it apart."""
    text = block.text.strip()
    if "```" in text:
        return []
    inner = re.sub(r"^(?:[-*+]|\d{1,3}[.)])\s+", "", text)
    if len(inner) < _SHORTEST or _DEBRIS.search(inner) or not _is_balanced(inner) or _is_link_only(inner):
        return []
    # Out of its list an ordinal says nothing.
    return [Unit(f"- {inner}", "item", number)]


def _is_link_only(text: str) -> bool:
    """Tell an entry of a table of contents: a title or a link and nothing said about it."""
    return len(re.findall(r"\w+", re.sub(r"\[([^\]]{0,300}+)\]\([^)]{0,1000}+\)", "", text))) < 3


def _is_readable(sentence: str) -> bool:
    if not _SHORTEST <= len(sentence) <= _LONGEST or _DEBRIS.search(sentence):
        return False
    if not _ENDED.search(sentence) or not _is_balanced(sentence):
        return False
    start = sentence.lstrip("\"'“‘*_([")
    if start[:1].islower() and not _IDENTIFIER_START.match(start):
        return False
    return len(re.findall(r"[^\W\d_]{2,}|`[^`]+`", sentence)) >= 3 or not sentence.isascii()


def _is_balanced(text: str) -> bool:
    plain = re.sub(r"`[^`]*`", "", text)
    return "`" not in plain and plain.count("(") == plain.count(")") and plain.count("[") == plain.count("]")
