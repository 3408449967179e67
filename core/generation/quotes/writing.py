"""How a quote is written: under its heading, prose as quoted, code as code, with its number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from textwrap import dedent
from typing import Literal

from core.domain import ContextChunk, Evidence
from core.generation.quotes.blocks import Block, indent, requires, without_notes
from core.generation.quotes.sections import Whole
from core.generation.quotes.stretches import Stretch, is_term
from core.generation.quotes.titles import headings_of, last_heading
from core.languages import N_, _
from core.text.markup import GAP, inert
from core.text.words import one_line, sentences

_PARAGRAPH = 700
"""Characters of a paragraph that are quoted, from its beginning."""
_ROOM = 1.3
"""Times as long as it may be a paragraph is quoted whole, and with what it requires; ours."""
_LABEL = 40
"""Characters of a paragraph that only names what follows; ours."""
_NAMES = re.compile(r"> (?:\*\*[^*\n]{1,60}\*\*:?|`[^`\n]{1,60}`:?)")
"""A label of what follows it, and nothing else."""
_MORE = N_("There is more on this page.")
_MORE_PAGES = N_("There is more on these pages.")
_ANNOUNCED = re.compile(r"\bthe following (?:[\w-]{1,30} ){0,2}\w{2,30}s:[*_ ]*$", re.IGNORECASE)
"""How a sentence ends that announces a list: "you can use the following contracts:"."""
_DENIES = re.compile(
    r"n['’]t\b|\b(?:not|never|no|without|except|avoid|unless|only|neither|nor)\b", re.IGNORECASE
)
_PROSE = re.compile(r"[A-Z][a-z]+ (?!:)[^\n|]{0,400}(?:\n[^\n|:]{0,400}){0,20}\.")
"""A paragraph that is a sentence at least, and no definition, field or row."""
_FEWEST = 6
"""Words of a paragraph that is no item of a list; ours."""


Cut = Literal["", "section", "list"]


@dataclass(frozen=True, slots=True)
class Piece:
    """What of a page is quoted."""

    evidence: Evidence
    stretches: tuple[Stretch, ...]
    cut: Cut = ""
    """Whether the section goes on, or begins before it; what is said beside others only of a list."""
    signature: str = ""
    """What tells the defaults of quoted parameters, where they do not."""

    @property
    def blocks(self) -> list[Block]:
        """Return the blocks in order."""
        return [block for stretch in self.stretches for block in stretch.blocks]


def heading_over(chunk: ContextChunk, product: str, release: str) -> str:
    """Return what stands above a quote: title and heading, with the release where it is not the asked one."""
    heading = headings_of(chunk)
    if chunk.release and release and chunk.release != release:
        heading = f"{heading} ({product} {chunk.release})" if heading else f"{product} {chunk.release}"
    return heading


def written(piece: Piece, number: int, product: str, release: str) -> str:
    """Write a quote under its heading; the last of its prose bears the number, else the heading does."""
    chunk = piece.evidence.chunk
    heading = heading_over(chunk, product, release)
    parts: list[str] = []
    whole = _without_promises(piece.blocks)
    blocks = _joined(_without_term(whole, last_heading(chunk.title, chunk.heading)))
    for at, block in enumerate(blocks):
        text = without_notes(_under_its_lead(block, blocks[at - 1].lead if at else ""))
        # inside of a quote no platform shows a table as one
        if block.kind in ("code", "table", "row"):
            parts.append(text)
            continue
        if "```" in text:
            parts += _with_code(text) if block.kind == "item" else [text]
            continue
        if block.kind == "paragraph":
            leads = at + 1 < len(blocks) and block.introduces
            paragraph = replace(block, text=text)
            text = _one_line((paragraph if leads else _shortened(paragraph, _PARAGRAPH)).text)
        quoted = _quoted(text)
        if block.kind == "item" and at and blocks[at - 1].kind == "item" and parts[-1].startswith("> "):
            parts[-1] += f"\n{quoted}"
        else:
            parts.append(quoted)
    if piece.signature:
        parts.insert(0, f"> {piece.signature}")
    quoted_at = [i for i, part in enumerate(parts) if part.startswith("> ")]
    # a number behind a label ("**Windows:**") would be that of the code under it
    at = next((i for i in reversed(quoted_at) if not _NAMES.fullmatch(parts[i])), (quoted_at or [-1])[-1])
    if at < 0:
        return inert("\n\n".join([f"**{heading or chunk.path}** [{number}]", *parts]))
    leads = at + 1 < len(parts) and parts[at].endswith((":", "："))
    # a number behind a colon would be read as that of what follows
    parts[at] = f"{parts[at][:-1]} [{number}]{parts[at][-1]}" if leads else f"{parts[at]} [{number}]"
    if heading and parts[0].startswith("> "):
        parts[0] = f"**{heading}**\n{parts[0]}"
    elif heading:
        parts.insert(0, f"**{heading}**")
    return inert("\n\n".join(parts))


def written_all(pieces: Iterable[tuple[Piece, int]], product: str, release: str) -> str:
    """Write quotes with their numbers one below the other, and which pages say more than is quoted last."""
    told = list(pieces)
    parts = [written(piece, number, product, release) for piece, number in told]
    cut = dict.fromkeys(number for piece, number in told if piece.cut)
    return more("\n\n".join(parts), cut)


def _shortened(paragraph: Block, most: int) -> Block:
    """Return a paragraph's first sentences up to a length, with what must be so for them to hold.

    It is whole where that is not much longer.
    """
    told = sentences(one_line(paragraph.text))
    ends = list(accumulate(map(len, told)))
    if sum(ends[-1:]) <= _ROOM * most:
        return paragraph
    kept = max(sum(end <= most for end in ends), 1)
    while kept < len(told) and ends[kept] <= _ROOM * most and requires(told[kept]):
        kept += 1
    return Block("paragraph", " ".join(told[:kept]))


def _under_its_lead(block: Block, said: str) -> str:
    """Return the text of an entry of a list under what leads to it, which tells of what was left out.

    That is not `said` twice.
    """
    if not block.lead:
        return block.text
    entry = block.text[len(block.lead) :].lstrip("\n")
    lead = block.lead.rstrip()
    return entry if block.lead == said else f"{lead} {GAP}{block.lead[len(lead) :]}\n{entry}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_FENCED = re.compile(r"(?ms)^[ ]*(`{3,})[^`\n]*\n.*?(?:^[ ]*\1`*[ ]*$|\Z)")


def _with_code(item: str) -> list[str]:
    """Write a list item that holds code: its prose as quoted, its code by itself."""
    codes = list(_FENCED.finditer(item))
    ends = [*(code.start() for code in codes[1:]), len(item)]
    first = item[: codes[0].start() if codes else None]
    others = [item[code.end() : end] for code, end in zip(codes, ends, strict=False)]
    levels = sorted({indent(line) for part in others for line in part.split("\n") if line.strip()})
    parts = [_quoted(first.strip("\n").rstrip())] if first.strip() else []
    for code, prose in zip(codes, others, strict=True):
        parts.append(dedent(code[0]).rstrip())
        if prose.strip():
            parts.append(_quoted(_levelled(prose.strip("\n").rstrip(), levels)))
    return parts


def _levelled(prose: str, levels: Sequence[int]) -> str:
    """Write what follows code in an item so that it stands as deep as before, seen from the outermost of it.

    `levels` are the indentations of all that follows. Before the first item nothing stands deeper than one
    level: there it would be code.
    """
    lines: list[str] = []
    most = 1
    for line in prose.split("\n"):
        most = len(levels) if _ITEM.match(line) else most
        depth = min(levels.index(indent(line)), most) if line.strip() else 0
        lines.append("  " * depth + line.strip())
    return "\n".join(lines)


def more(told: str, numbers: Collection[int]) -> str:
    """Add that pages say more than what is quoted of them, below all quotes: the pages do not say this."""
    if not numbers:
        return told
    marks = "".join(f"[{number}]" for number in numbers)
    return f"{told}\n\n{_(_MORE) if len(numbers) == 1 else _(_MORE_PAGES)} {marks}"


def _one_line(paragraph: str) -> str:
    """Return a paragraph on one line; a definition's colon goes with what it defines."""
    return one_line(re.sub(r"(?<!\s)[^\S\n]*+\n\s*+:\s+", ": ", paragraph))


def _without_promises(blocks: Sequence[Block]) -> list[Block]:
    """Leave out a sentence that announces a list where prose follows: the list stands in other sections.

    One that denies stays, for what follows would say the opposite without it.
    """
    kept: list[Block] = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        said = sentences(one_line(block.text)) if block.kind == "paragraph" else []
        promises = bool(said) and _ANNOUNCED.search(said[-1]) and not _DENIES.search(said[-1])
        if promises and following and _is_prose(following):
            rest = " ".join(said[:-1])
            kept += [replace(block, text=rest)] if rest else []
        else:
            kept.append(block)
    return kept


def _is_prose(block: Block) -> bool:
    words = block.text.split()
    return block.kind == "paragraph" and len(words) >= _FEWEST and bool(_PROSE.fullmatch(block.text))


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """Put a label ("Example:", a caption) into the paragraph before it that introduces the same code."""
    kept: list[Block] = []
    for block in blocks:
        names = block.introduces or " " not in block.text.strip()
        label = is_term(block) or (names and len(block.text) <= _LABEL)
        if kept and kept[-1].kind == block.kind == "paragraph" and kept[-1].introduces and label:
            # a bare "Example:" says nothing that the colon before it does not
            said = "" if " " not in block.text and block.introduces else f" {block.text}"
            kept[-1] = replace(kept[-1], text=kept[-1].text + said)
        else:
            kept.append(block)
    return kept


def _without_term(blocks: list[Block], heading: str) -> list[Block]:
    """Leave out a term that the heading says, and put any other one before what defines it."""
    kept: list[Block] = []
    for at, block in enumerate(blocks):
        term = block.text.strip()
        following = blocks[at + 1] if at + 1 < len(blocks) else None
        if is_term(block) and following and following.kind == "paragraph":
            name, _sign, parameters = re.sub(r"[*`]", "", term).partition("(")
            same = name.rsplit(" = ")[0].endswith(heading.partition("(")[0])
            if not same:
                blocks[at + 1] = replace(following, text=f"{term}: {following.text}")
            if not same or not parameters.strip(") "):
                continue
        kept.append(blocks[at])
    return kept


_WHOLE_SIGNATURE = 240
"""Characters up to which a signature is shown whole; of a longer one only what is quoted; ours."""
_PARAMETER = re.compile(r"[-*] `\*{0,2}([A-Za-z_]\w*)`")
_SIGNATURE = re.compile(r"`([^`(]{1,120})\(([^`\n]{1,3000})\)[^`()\n]{0,200}`")
_TELLS = re.compile(r"\bdefault", re.IGNORECASE)
_GIVEN = re.compile(r"([A-Za-z_]\w*+)(?:\s*+:[^=]*+)?\s*+=\s*+(?!None\b)\S")


def signed(piece: Piece, whole: Whole | None) -> Piece:
    """Add the signature above quoted parameters that do not tell their default: from the `whole` section.

    What is quoted anyway, and a default of None, need no line.
    """
    silent = [
        found[1]
        for block in piece.blocks
        if block.kind == "item" and (found := _PARAMETER.match(block.text)) and not _TELLS.search(block.text)
    ]
    text = whole.text if whole else piece.evidence.chunk.page
    for line in map(str.strip, text.split("\n") if silent else ()):
        called = _SIGNATURE.fullmatch(line)
        parts = list(_parameters(called[2])) if called else []
        told = [part for part in parts if (given := _GIVEN.match(part)) and given[1] in silent]
        if called and told:
            if any(line in block.text for block in piece.blocks):
                return piece
            shown = line if len(line) <= _WHOLE_SIGNATURE else f"`{called[1]}({_some(parts, told)})`"
            return replace(piece, signature=shown)
    return piece


def _parameters(inner: str) -> Iterator[str]:
    """Cut what stands between the brackets at its own commas, not at those of a default."""
    depth, start, quote = 0, 0, ""
    for at, sign in enumerate(inner):
        if quote:
            quote = "" if sign == quote and inner[at - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and not depth:
            yield inner[start:at].strip()
            start = at + 1
    yield inner[start:].strip()


def _some(parts: Sequence[str], told: Sequence[str]) -> str:
    """Return these of a signature's parts, with an ellipsis where others stand."""
    kept = [part if part in told else "…" for part in parts]
    return ", ".join(part for at, part in enumerate(kept) if part != "…" or kept[at - 1 : at] != ["…"])
