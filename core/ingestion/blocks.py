"""Markdown cut into the pieces that chunks are made of, and put together again.

A block (paragraph, list, code, table) consists of atoms: sentences, list lines, code lines, table
rows. A piece is a run of atoms of one block; written out it is whole Markdown again, so a cut code
block reopens its fence with its language and a cut table repeats its header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.text.words import closes_fence, sentences

Kind = Literal["prose", "list", "code", "table"]

MAX_INDENT = 12
"""Spaces of indentation that are kept when a paragraph is cut; ours: three lists inside each other."""

# A longer word after the mark is text that begins with one, not a language.
_FENCE = re.compile(r"^(\s*)(`{3,}+|~{3,}+)\s*+([\w+#./-]{0,30}+)\s*+$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_RULE = re.compile(r"^\s*+(?:\|\s*+)?:?-{3,}+:?\s*+(?:\|\s*+:?-{3,}+:?\s*+)*+(?:\|\s*+)?$")
_QUESTION = re.compile(
    r"^[\W_]*(?:who|what|when|where|why|how|is|can|does|do|did|will|would|could|should|are|was|were|has|have|had"
    r"|which|whom|whose)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of atoms of the block number `block`.

    `head` is what opens every piece of the block: a fence with its language, a table's header, the
    indentation of a paragraph inside a list. `joint` stands between atoms.
    """

    block: int
    kind: Kind
    head: str
    atoms: tuple[str, ...]
    joint: str = " "

    @property
    def text(self) -> str:
        """Write the piece as Markdown."""
        body = self.joint.join(self.atoms)
        if self.kind == "code":
            indent = re.match(r"\s*", self.head)
            mark = re.match(r"`+|~+", self.head.strip())
            return f"{self.head}\n{body}\n{indent[0] if indent else ''}{mark[0] if mark else '```'}"
        if self.kind == "table":
            return f"{self.head}\n{body}" if body else self.head
        return self.head + body

    def part(self, start: int, stop: int) -> Piece:
        """Return the piece of the atoms from `start` to before `stop`."""
        return replace(self, atoms=self.atoms[start:stop])

    @property
    def leads(self) -> bool:
        """Return True if it belongs to what follows: a question, or a line that ends in a colon."""
        if self.kind not in ("prose", "list") or not self.atoms:
            return False
        last = self.atoms[-1].rstrip("*_ ")
        return last.endswith(":") or is_question(last)


def is_question(sentence: str) -> bool:
    """Return True if a sentence is question-like (Hybrid CRAG: by its end or its first word)."""
    return sentence.rstrip("\"'*_)` ").endswith("?") or bool(_QUESTION.match(sentence))


def pieces(text: str) -> list[Piece]:
    """Cut Markdown into its blocks, one piece each, losing nothing but blank lines."""
    found: list[Piece] = []
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        fence = _FENCE.match(line)
        if not line.strip():
            position += 1
        elif fence:
            end = position + 1
            while end < len(lines) and not closes_fence(lines[end], fence.group(2)):
                end += 1
            found.append(Piece(len(found), "code", line.rstrip(), tuple(lines[position + 1 : end]), "\n"))
            position = end + 1
        else:
            end = position
            while end < len(lines) and lines[end].strip() and not _FENCE.match(lines[end]):
                end += 1
            found.append(_running(len(found), lines[position:end]))
            position = end
    return found


def _running(number: int, lines: list[str]) -> Piece:
    if len(lines) > 1 and lines[0].lstrip().startswith("|") and _RULE.match(lines[1]):
        return Piece(number, "table", "\n".join(lines[:2]), tuple(lines[2:]), "\n")
    if any(_ITEM.match(line) for line in lines):
        atoms: list[list[str]] = []
        for line in lines:
            # A wrapped line belongs to its item.
            if atoms and not _ITEM.match(line):
                atoms[-1].append(line)
            else:
                atoms.append([line])
        return Piece(number, "list", "", tuple("\n".join(atom) for atom in atoms), "\n")
    indent = re.match(r"\s*", lines[0])
    head = indent[0][:MAX_INDENT] if indent else ""
    if len(lines) > 1:
        # Lines kept apart on purpose (signatures, verse) stay apart.
        return Piece(number, "prose", "", tuple(lines), "\n")
    return Piece(number, "prose", head, tuple(sentences(lines[0].strip())))


def join(parts: Iterable[Piece]) -> str:
    """Write pieces out, those of one block as one."""
    merged: list[Piece] = []
    for part in parts:
        if merged and merged[-1].block == part.block:
            merged[-1] = replace(merged[-1], atoms=merged[-1].atoms + part.atoms)
        else:
            merged.append(part)
    return "\n\n".join(part.text for part in merged)


def groups(piece: Piece, size: int) -> list[Piece]:
    """Cut prose into groups of `size` sentences; a question-like one takes what follows it along."""
    if piece.kind != "prose":
        return [piece]
    cuts = [0]
    for position in range(1, len(piece.atoms)):
        if position - cuts[-1] >= size and not is_question(piece.atoms[position - 1]):
            cuts.append(position)
    return [piece.part(start, stop) for start, stop in zip(cuts, [*cuts[1:], len(piece.atoms)], strict=True)]


def fitting(piece: Piece, fits: Callable[[str], bool]) -> list[Piece]:
    """Cut a piece until every part fits: between atoms first, inside an atom only where it alone is too long.

    `fits` tells of a written piece whether it is small enough.
    """
    if fits(piece.text) or not piece.atoms:
        return [piece]
    if piece.head.strip() and not fits("\n".join([replace(piece, atoms=()).text] * 2)):
        # A head that leaves no room for what it heads is text like any other.
        piece = Piece(piece.block, "list", "", (*piece.head.split("\n"), *piece.atoms), "\n")
    if len(piece.atoms) > 1:
        cut: list[Piece] = []
        start = 0
        for stop in range(1, len(piece.atoms) + 1):
            if stop - start > 1 and not fits(piece.part(start, stop).text):
                end = stop - 1
                if _asks(piece, end - 1) and end - 1 > start and fits(piece.part(end - 1, stop).text):
                    end -= 1  # a question goes on with what follows it
                cut.append(piece.part(start, end))
                start = end
        cut.append(piece.part(start, len(piece.atoms)))
        return [small for part in cut for small in (fitting(part, fits) if len(part.atoms) == 1 else [part])]
    return _inside(piece, fits)


def _asks(piece: Piece, position: int) -> bool:
    return piece.kind == "prose" and piece.joint == " " and is_question(piece.atoms[position])


def _inside(piece: Piece, fits: Callable[[str], bool]) -> list[Piece]:
    """Cut the one atom of a piece: at sentences, then words, then anywhere."""
    atom = piece.atoms[0]
    for split in (_sentences_of, _words_of, _halves):
        parts = split(atom)
        if len(parts) > 1:
            packed = _packed(piece, parts, fits)
            if len(packed) > 1:
                return [
                    small
                    for part in packed
                    for small in (fitting(part, fits) if part.atoms != piece.atoms else [part])
                ]
    return [piece]


def _packed(piece: Piece, parts: Sequence[str], fits: Callable[[str], bool]) -> list[Piece]:
    """Join parts to as few atoms as fit, each its own piece."""
    found: list[Piece] = []
    current = ""
    # Searching by doubling keeps the number of token counts low for atoms of thousands of words.
    position = 0
    while position < len(parts):
        step, best = 1, 1
        while position + step <= len(parts) and fits(
            replace(piece, atoms=("".join(parts[position : position + step]),)).text
        ):
            best, step = step, step * 2
        low, high = best, min(step, len(parts) - position + 1)
        while high - low > 1:
            middle = (low + high) // 2
            if fits(replace(piece, atoms=("".join(parts[position : position + middle]),)).text):
                low = middle
            else:
                high = middle
        current = "".join(parts[position : position + low])
        found.append(replace(piece, atoms=(current.strip() if found else current.rstrip(),)))
        position += low
    return [part for part in found if part.atoms[0]]


def _sentences_of(atom: str) -> list[str]:
    lines = atom.split("\n")
    if len(lines) > 1:
        return [line + "\n" for line in lines]
    return [sentence + " " for sentence in sentences(atom)]


def _words_of(atom: str) -> list[str]:
    return re.findall(r"(?<!\s)\s*\S+", atom)


def _halves(atom: str) -> list[str]:
    middle = len(atom) // 2
    return [atom[:middle], atom[middle:]] if middle else [atom]
