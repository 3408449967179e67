"""What release notes say above quotes: the end of names, and with which version they came."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.domain import Citation, Evidence
from core.generation.citations import following
from core.generation.quotes.listing import arrival, dropping, fate
from core.generation.quotes.quote import quote
from core.generation.quotes.sections import Whole
from core.pipeline.context import QueryContext
from core.retrieval.release_notes.gone import successors
from core.retrieval.release_notes.notes import version_of
from core.retrieval.release_notes.search import later, numbers
from core.text.words import index_terms, query_terms


@dataclass(frozen=True, slots=True)
class Told:
    """What was quoted, and the parts of the question on which there is nothing."""

    text: str
    citations: tuple[Citation, ...]
    missed: tuple[str, ...] = ()
    held: float = 1.0
    """Share of the question's weight that the quotes hold."""
    lasting: str = ""
    """What of it makes sense apart from the answer before, where that is less."""


def ended(context: QueryContext, product: str) -> Told:
    """Say what became of the names that are asked for, and which of them the asked release still has."""
    until = numbers(context.partition)
    ends = [one for one in context.gone if one.fate not in ("", "deprecated")]
    over = {one.name for one in ends if not (until and later(one.version, until))}
    still = [name for name in dict.fromkeys(one.name for one in ends) if name not in over]
    return Told(*fate(context.gone, product, context.partition, still))


_BEARS, _BEARS_ALONE = 0.5, 0.8
"""Share of what else a question asks that a quote below a contradicted premise must hold, where something
takes the name's place and where nothing does; ours."""


def contradicted(context: QueryContext, product: str, sections: Mapping[str, Whole]) -> Told | None:
    """Say that a name ended which the question takes for there, then quote what bears on the rest of it.

    That is what takes the name's place, or else at least two other words. None where no premise is false.
    """
    if not context.false_premise:
        return None
    names = {one.name for one in context.gone}
    text, citations = fate(context.gone, product, context.partition, lacks_it=names)
    notes = {one.page.id for one in context.gone}
    ended = {term for name in names for term in index_terms(name)}
    instead = query_terms(" ".join(successors(context.gone)))
    terms = list(dict.fromkeys([*instead, *(term for term in context.terms if term not in ended)]))
    rest = [item for item in context.pages.evidence if item.chunk.id not in notes]
    rest = [item for item in rest if item.chunk.release == context.partition and not is_notes(item)]
    if not instead and len(terms) < 2:
        return Told(text, citations)
    below = quote(terms, rest, context.pages.weight, product, context.partition, 1, sections)
    if below.held < (_BEARS if instead else _BEARS_ALONE):
        return Told(text, citations)
    more, cited = following(below.text, below.citations, citations)
    return Told(f"{text}\n\n{more}", cited)


def begun(
    context: QueryContext, product: str, sections: Mapping[str, Whole], rejected: Collection[str]
) -> Told | None:
    """Say with which version names came, then quote a page on them; None where that is not told."""
    if not context.came or rejected:
        return None
    text, citations = arrival(context.came, product, context.partition)
    terms = query_terms(" ".join(one.name for one in context.came))
    rest = [item for item in context.pages.evidence if not is_notes(item)]
    below = quote(terms, rest, context.pages.weight, product, context.partition, 1, sections)
    if below.held < _BEARS:
        return Told(text, citations)
    more, cited = following(below.text, below.citations, citations)
    return Told(f"{text}\n\n{more}", cited)


def refused(context: QueryContext, product: str, rejected: Collection[str]) -> Told | None:
    """Say no where a version of other software was dropped that a question asks about; None elsewhere."""
    if context.dropped is None or context.dropped.page.hash in rejected:
        return None
    return Told(*dropping(context.dropped, product, context.partition))


def is_notes(item: Evidence) -> bool:
    """Return True for a page of release notes."""
    return bool(version_of(f"{item.chunk.title} > {item.chunk.heading}"))
