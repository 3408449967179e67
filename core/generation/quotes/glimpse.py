"""The one sentence of a page that tells what somebody would find there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from core.domain import ContextChunk
from core.generation.quotes.blocks import split, without_notes
from core.generation.quotes.stretches import is_debris
from core.generation.quotes.titles import last_heading
from core.retrieval.features import is_name
from core.text.markup import inert
from core.text.words import cut_at_word, index_terms, one_line, sentences

GLIMPSE = 200
"""Characters of a sentence that are shown; ours."""
_MARK = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+")
"""What an item of a list begins with."""
_FEWEST = 5
"""Words of a sentence worth showing: fewer are a default, a type, a name."""


def glimpse_of(chunk: ContextChunk, weights: Mapping[str, float]) -> str:
    """Return the sentence that tells what stands in a section, as `glimpse` does.

    Of the entry of a thing in code that is the first one: it says what the thing is.
    """
    return glimpse(chunk.page, {} if is_name(last_heading(chunk.title, chunk.heading)) else weights)


def glimpse(page: str, weights: Mapping[str, float]) -> str:
    """Return the sentence of a page (Markdown) that holds most of a question, on one line, without links.

    `weights` holds the weight of each of the question's terms. Of equals the first counts. Empty where the
    page has no sentence.
    """
    if weights:
        of = {line: sum(weights.get(term, 0.0) for term in terms) for line, terms in _read(page)}
        best = max(of, key=of.__getitem__, default="")
    else:
        best = next(_lines(page), "")
    told = cut_at_word(best, GLIMPSE)
    if told.count("`") % 2:  # it was cut within code
        told = f"{told[: told.rindex('`')].rstrip()} …"
    return inert(told)


@lru_cache(maxsize=512)
def _read(page: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the sentences of a page with their terms, each once; many questions lead to the same pages."""
    return tuple((line, tuple(dict.fromkeys(index_terms(line)))) for line in _lines(page))


def _lines(page: str) -> Iterator[str]:
    """Yield the sentences of a page that are worth showing, each on one line."""
    for block in split(without_notes(page)):
        if block.kind not in ("paragraph", "item"):
            continue
        for sentence in sentences(one_line(block.text.partition("```")[0])):
            mark = _MARK.match(sentence)
            line = sentence[mark.end() :] if mark else sentence
            if len(line.split()) >= _FEWEST and not (line.endswith(":") or is_debris(line)):
                yield line
