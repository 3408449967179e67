"""A question about a cell is answered by the header of its table and the one row that it asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.generation.quotes.blocks import Block, is_caption
from core.retrieval.features import is_name
from core.text.markup import fences
from core.text.tables import cells
from core.text.words import STOP_WORDS, index_terms, whole_word

MOST_ROWS = 3
"""Rows that answer at most: where more are meant, the question is about the table; ours."""
MAX_TABLE_ROWS = 12
_MOST_LOOKED_AT = 400
"""Rows up to which a table is quoted, and up to which each of a longer one is looked at; ours."""
_LONGEST_CELL = 6
"""Terms of a cell up to which all of it may stand in a question; ours."""
_RULE = re.compile(r"^\s*\|(?:\s*:?-{1,200}:?\s*\|){1,200}\s*$")
_CODE = re.compile(r"`([A-Za-z_][\w.]{3,80})(?:\(\))?`")
_WHAT_FOR = re.compile(
    r"\b[Ww]hat\s+(?:does|do)\b.{1,120}\b(?:do|mean|say|stand\s+for)\b|\b[Ww]hat\b.{1,120}\bfor\b|\bmeaning\b"
    r"|\b[Ww]hat\s+(?:is|are)\s+(?:the\s+)?[`'\"]?[A-Z][A-Z\d_]{2,60}\b"
)
"""What asks for all that a row says of what it is about, whatever its columns are called."""


@dataclass(frozen=True, slots=True)
class Table:
    """A Markdown table: its two first lines, the names of its columns, and its rows with their cells."""

    head: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]

    def only(self, rows: Sequence[int]) -> str:
        """Return it with these rows alone."""
        return "\n".join([self.head, *(self.rows[n][0] for n in rows)])


@lru_cache(maxsize=512)
def table_of(markdown: str) -> Table | None:
    """Read a table; None for one without a header."""
    lines = [line for line in markdown.split("\n") if line.strip()]
    if len(lines) < 3 or not _RULE.match(lines[1]):
        return None
    names = cells(lines[0])
    if not any(names):
        return None
    rows = tuple((line, cells(line)) for line in lines[2:])
    return Table("\n".join(lines[:2]), names, rows)


def one_again(section: str) -> str:
    """Join tables right below each other that have one header: one that was too long for a page."""
    if section.count("|\n|") < 3:
        return section
    lines: list[str] = []
    head: tuple[str, str] | None = None
    told = section.split("\n")
    shown = {at for fence in fences(told) for at in range(fence.first, fence.last)}
    for at, line in enumerate(told):
        if lines and at not in shown and _RULE.match(line) and lines[-1].lstrip().startswith("|"):
            same, head = head == (lines[-1], line), (lines[-1], line)
            if same and len(lines) > 2 and not lines[-2].strip() and lines[-3].lstrip().startswith("|"):
                del lines[-2:]
                continue
        lines.append(line)
    return "\n".join(lines)


def rows_of(group: Sequence[Block]) -> list[list[Block]]:
    """Return what stands before a table that is too long to be quoted, and each row under its header."""
    at = next((n for n, block in enumerate(group) if block.kind == "table"), -1)
    table = table_of(group[at].text) if at >= 0 else None
    if table is None or not MAX_TABLE_ROWS < len(table.rows) <= _MOST_LOOKED_AT:
        return []
    lead = [*group[: at - 1], *([] if at and group[at - 1].introduces else group[max(at - 1, 0) : at])]
    rows = [[Block("row", table.only([n]))] for n in range(len(table.rows))]
    return [*([lead] if lead else []), *rows]


def row_for(markdown: str, question: str) -> str | None:
    """Return a table with the row alone that answers a question about a cell; None for other questions.

    The question has to name the row (by its first cell, or by another one and its column) and a column, or to
    ask what the row is for.
    """
    table = table_of(markdown)
    rows = _rows(table, question) if table else ()
    return table.only(rows) if table and rows else None


def row_among(blocks: Sequence[Block], question: str) -> tuple[Block, ...]:
    """Return the row that a question about a cell asks for, behind its table's caption; empty without one."""
    for at, block in enumerate(blocks):
        row = row_for(block.text, question) if block.kind in ("table", "row") else None
        if row is not None:
            caption = [one for one in blocks[max(at - 1, 0) : at] if is_caption(one)]
            return (*caption, replace(block, text=row))
    return ()


def _rows(table: Table, question: str) -> Sequence[int]:
    asked = frozenset(_terms(question))
    named = [n for n, (_line, cells) in enumerate(table.rows) if _is_in(cells[0], asked)]
    if named:
        rest = frozenset(index_terms(_without(question, [table.rows[n][1][0] for n in named])))
        columns = any(rest.intersection(_column(name)) for name in table.names[1:])
        if not columns and not _WHAT_FOR.search(question):
            return ()
        # the longest name is what is meant: `MAX_SIZE` of `MAX` and `MAX_SIZE`
        longest = max(len(_terms(table.rows[n][1][0])) for n in named)
        named = [n for n in named if len(_terms(table.rows[n][1][0])) == longest]
    else:
        named = _of_a_name(table, question)
        named = named or [n for n, (_, some) in enumerate(table.rows) if _is_told(table, some, asked)]
    if not named:
        return ()
    held = {n: sum(_is_in(cell, asked) for cell in table.rows[n][1]) for n in named}
    best = [n for n in named if held[n] == max(held.values())]
    return best if len(best) <= MOST_ROWS else ()


def _of_a_name(table: Table, question: str) -> list[int]:
    """Return the rows that alone have a thing in code that the question names: `InvalidHeader()`."""
    names = [{name for name in _CODE.findall(line) if is_name(name)} for line, _cells in table.rows]
    once = {name for name, times in Counter(name for some in names for name in some).items() if times == 1}
    asked = {name for name in once if whole_word(name).search(question)}
    return [n for n, some in enumerate(names) if some & asked]


def _without(question: str, labels: Sequence[str]) -> str:
    """Return a question without the names of rows in it, the longest first."""
    for label in sorted({label.strip("`*_ ") for label in labels}, key=len, reverse=True):
        question = whole_word(label).sub(" ", question)
    return question


def _is_told(table: Table, cells: Sequence[str], asked: Collection[str]) -> bool:
    """Return True if a question has a cell with a number or a name in it, and the name of its column."""
    return any(
        _is_in(cell, asked)
        and not cell.replace(" ", "").isalpha()
        and any(term in asked for term in _column(name))
        for name, cell in zip(table.names[1:], cells[1:], strict=False)
    )


def _is_in(cell: str, asked: Collection[str]) -> bool:
    terms = _terms(cell)
    return 0 < len(terms) <= _LONGEST_CELL and all(term in asked for term in terms)


def _column(name: str) -> Sequence[str]:
    """Return the terms of a column's name: a stop word counts where it is all of it, as in "Note"."""
    return _terms(name) or (index_terms(name) if " " not in name and len(name) > 2 else ())


@lru_cache(maxsize=4096)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(term for term in index_terms(text) if term not in STOP_WORDS)
