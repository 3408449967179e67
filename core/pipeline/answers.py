"""Answers made of a question's context: what was drafted, an abstention, or that the pages hold nothing."""

from __future__ import annotations

import uuid
from dataclasses import replace

from core.domain import Answer, Citation, Product, Route
from core.generation import phrases
from core.pipeline.context import QueryContext, authors


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
    return replace(answer_of(context, draft.route, draft.text, draft.citations), offers=draft.offers)


def abstention(context: QueryContext, text: str) -> Answer:
    """Return a fixed sentence, without pages; of what nobody asked the bot nothing is kept."""
    context.is_draft = context.is_draft or context.question.unasked
    answer = answer_of(context, "abstain", text)
    return replace(answer, release="" if context.resolution.unknown else answer.release)


def dont_know(context: QueryContext, product: Product) -> Answer:
    """Say that the documentation does not answer it, and which pages come nearest."""
    near = context.pages.near
    context.takes(near)
    return abstention(context, phrases.dont_know(product, near))
