"""Answers to composite questions: every part quoted on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.domain import Citation, Evidence, numbered
from core.generation.quotes.quote import Quoted, Weight, quote
from core.generation.quotes.sections import Whole
from core.generation.quotes.writing import more, written
from core.text.markup import inert

MAX_QUOTES = 1
"""Quotes a part; a single question may have one more."""


@dataclass(frozen=True, slots=True)
class Part:
    """One question of a composite one, the terms it is searched by, and what was found on it.

    Without a `text` it has no line of its own above its quotes; several of one text in a row, as of
    several releases, have one together.
    """

    text: str
    terms: Sequence[str]
    evidence: Sequence[Evidence]
    weight: Weight
    bears: Callable[[Quoted], bool] = lambda quoted: True
    """Tells whether what was quoted bears on it at all."""


def quote_parts(
    parts: Sequence[Part], product: str, release: str, sections: Mapping[str, Whole] | None = None
) -> tuple[str, tuple[Citation, ...], tuple[str, ...]]:
    """Quote what bears on each part, under the part; citations are numbered through from 1.

    `sections` holds the whole section of each page, by the page's id, where more is known of it.

    What an earlier part shows already is not shown again: both parts stand above it. Returns Markdown, its
    citations, and the parts of which nothing could be quoted.
    """
    told: list[tuple[list[str], str]] = []
    citations: list[Citation] = []
    answered: list[str] = []
    cut: set[int] = set()
    for part in parts:
        quoted = quote(
            part.terms, part.evidence, part.weight, product, release, MAX_QUOTES, sections=sections
        )
        found = quoted.citations
        if not found or not part.bears(quoted):
            continue
        anew = numbered(found, citations)
        citations += [one for one in anew if one not in citations]
        pieces = [(piece, now.number) for piece, now in zip(quoted.pieces, anew, strict=True)]
        cut |= {number for piece, number in pieces if piece.cut}
        above = [f"*{inert(part.text)}*"] if part.text not in ("", *answered) else []
        body = "\n\n".join(written(piece, number, product, release) for piece, number in pieces)
        shown = next((labels for labels, text in told if labels and body in text), None)
        if above and shown is not None:
            shown += above
        else:
            told.append((above, body))
        answered.append(part.text)
    missed = dict.fromkeys(part.text for part in parts if part.text not in answered)
    text = "\n\n".join(one for labels, body in told for one in (*labels, body))
    return more(text, sorted(cut)), tuple(citations), tuple(missed)
