"""Answers made of a question's context, and kept with the neutral pair that votes may promote."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import replace

from core.domain import Answer, Citation, Product, Route
from core.errors import WordsGone
from core.generation import phrases
from core.memory.community import CommunityMemory
from core.pipeline.context import QueryContext, authors
from core.ports import MemoryStore, Remembered


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


log = logging.getLogger(__name__)

_GONE = "Somebody was forgotten while an answer was made of their words; it is not kept. Ask again."


class AnswerKeeper:
    """Keeps answers; `gone` tells whether any of these people was forgotten since a time."""

    def __init__(
        self, memory: CommunityMemory, store: MemoryStore, gone: Callable[[Collection[str], float], bool]
    ) -> None:
        self._memory = memory
        self._store = store
        self._gone = gone

    async def keep(self, context: QueryContext, answer: Answer) -> Answer:
        """Save an answer and return it with its trace; a draft is not kept.

        An answer that says again what a pair says is one more answer of that pair. Raises WordsGone where
        somebody was forgotten meanwhile whose words it holds.
        """
        question, taken = context.question, answer.taken
        people = {question.asker, *question.authors, *taken.asked, *taken.people, *taken.shown}

        def still() -> bool:
            return not self._gone(people, context.began)

        if not still():
            raise WordsGone(_GONE)
        if context.is_draft:
            return replace(answer, trace=context.trace.as_dict())
        pair = None
        if context.repeats:
            answer = replace(answer, pair_id=context.repeats)
        elif _is_new(context, answer):
            pair = _pair(context, answer)
            await self._memory.remember(pair, context.vectors[0])
            answer = replace(answer, pair_id=pair.id)
        context.trace.ms = round(sum(context.timings.values()), 1)
        context.trace.timings = dict(context.timings)
        answer = replace(answer, trace=context.trace.as_dict())
        if not await self._store.save_answer(answer, context.question, pair, still):
            raise WordsGone(_GONE)
        context.lap("save")
        told = {"answer": answer.id, "route": answer.route, "release": answer.release}
        log.info("answered", extra=told | {"ms": context.trace.ms})
        return answer


def _is_new(context: QueryContext, answer: Answer) -> bool:
    """Return True if votes may promote an answer: it is made of pages, and may be remembered."""
    return answer.route not in ("reuse", "abstain") and context.question.scope.remembered


def _pair(context: QueryContext, answer: Answer) -> Remembered:
    """Return the neutral pair of a new answer."""
    return Remembered(
        id=f"p{answer.id[1:]}",
        question=context.queries.base,
        topic=context.topic,
        answer=answer.text,
        release=context.partition,
        scope=context.question.scope.key,
        prior=context.prior,
        created_at=time.time(),
        citations=answer.citations,
        asker=context.question.asker,
        channel=context.question.channel,
        language=context.language,
    )
