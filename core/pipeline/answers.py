"""Answers made of a question's context: what was drafted, an abstention, or that the pages hold nothing."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import takewhile
from unicodedata import normalize

from core.domain import Answer, Citation, Evidence, Product, Route
from core.generation import phrases
from core.generation.citations import uncited
from core.generation.quotes.quote import without_introduction
from core.languages import _, told_name
from core.pipeline.context import QueryContext, authors
from core.query.language import small_words
from core.text.words import index_terms

BEARS = 0.5
"""Share of the question's weight that a page must hold to be named where there is no answer; ours."""
_STEM, _COGNATE = 5, 0.6
"""Letters, and their share of the longer word, in which words of two languages begin alike; ours."""


def answer_of(
    context: QueryContext,
    route: Route,
    text: str,
    citations: tuple[Citation, ...] = (),
    confidence: float | None = None,
) -> Answer:
    """Return an answer with what led to it; `confidence` is that of what was found where none is given."""
    found = context.pages
    sure = found.confidence if context.found else 0.0
    return Answer(
        id=f"a{uuid.uuid4().hex[:16]}",
        text=text,
        route=route,
        release=context.partition,
        citations=citations,
        evidence=found.evidence,
        queries=context.queries,
        confidence=sure if confidence is None else confidence,
        level=found.level if context.found else "none",
        resolution=context.resolution,
        timings_ms=context.timings,
        taken=replace(context.taken, shown=authors(found.evidence)),
    )


def drafted(context: QueryContext) -> Answer:
    """Return the answer that was drafted; raises ValueError where none was."""
    draft = context.draft
    if draft is None:
        raise ValueError("The recipe's stages neither answered nor drafted an answer; end it with Quote.")
    answer = answer_of(context, draft.route, draft.text, draft.citations, draft.confidence)
    return replace(answer, offers=draft.offers, level=draft.level or answer.level)


def abstention(context: QueryContext, text: str) -> Answer:
    """Return a fixed sentence, without pages; of what nobody asked the bot nothing is kept."""
    context.is_draft = context.is_draft or context.question.unasked
    answer = answer_of(context, "abstain", text)
    return replace(answer, release="" if context.resolution.unknown else answer.release)


def nearly(context: QueryContext) -> Answer | None:
    """Quote what people answered to nearly the same question, named with it; None where they did not.

    For where pages hold nothing, and no model can tell whether it fits.
    """
    if context.recall.nearly is None:
        return None
    pair, closeness = context.recall.nearly
    context.taken = replace(context.taken, pairs=context.taken.pairs | {pair.id})
    context.trace.origin, context.repeats, context.found = pair.origin, pair.id, None
    text = phrases.remembered(pair.question, uncited(without_introduction(pair.answer)))
    answer = answer_of(context, "quote", text, pair.citations, pair.score * closeness)
    return replace(answer, similarity=closeness)


def dont_know(context: QueryContext, product: Product) -> Answer:
    """Say that the documentation does not answer it; offer what is near: pages, a remembered answer."""
    near = _bearing(context, product)
    context.takes(near)
    like = ""
    if pair := next((pair for pair, _near in context.recall.high if not pair.stale), None):
        like = phrases.remembered(pair.question, uncited(without_introduction(pair.answer)))
        context.taken = replace(context.taken, pairs=context.taken.pairs | {pair.id})
    foreign = context.language if context.untranslated else ""
    told = phrases.dont_know(product, near, like, foreign)
    if foreign and context.course.taken.get("understand", "").startswith("rules"):
        failed = _("I could not translate your question just now. Ask again in a moment, or in {language}.")
        rest = told.partition("\n\n")[2]
        told = "\n\n".join(filter(None, (failed.format(language=told_name(product.language)), rest)))
    return abstention(context, told)


def _bearing(context: QueryContext, product: Product) -> list[Evidence]:
    """Return the pages that hold enough of a question to be worth a look, best first.

    Of one in another language than theirs that is any word but its small ones and the product's name, be it
    in their spelling (`uploaden`, `upload`); those with most first.
    """
    weights = {term: context.pages.weight(term) for term in context.terms}
    if not context.untranslated:
        return [item for item in context.pages.near if _share(weights, _terms_of(item)) >= BEARS]
    small = index_terms(" ".join((product.name, *product.aliases, *small_words(context.language))))
    weights = {term: weights[term] or 1.0 for term in weights.keys() - set(small)}
    shares = {}
    for item in context.pages.near:
        there = _terms_of(item)
        held = {term for term in weights if any(_alike(term, other) for other in there)}
        shares[item.number] = _share(weights, held)
    return sorted((i for i in context.pages.near if shares[i.number]), key=lambda i: -shares[i.number])


def _terms_of(item: Evidence) -> set[str]:
    chunk = item.chunk
    return set(index_terms(f"{chunk.title} {chunk.heading}\n{chunk.page}"))


def _share(weights: Mapping[str, float], held: Collection[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in held) / (sum(weights.values()) or 1.0)


def _alike(one: str, other: str) -> bool:
    """Return True if a word of one language is that of another, but for its ending and its accents."""
    plain = normalize("NFD", one).encode("ascii", "ignore").decode()
    same = sum(1 for _pair in takewhile(lambda pair: pair[0] == pair[1], zip(plain, other, strict=False)))
    return one == other or (same >= _STEM and same >= _COGNATE * max(len(plain), len(other)))
