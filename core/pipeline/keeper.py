"""Saves what was answered, with the neutral pair that votes may promote."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import replace

from core.domain import Answer
from core.errors import WordsGone
from core.memory.community import CommunityMemory
from core.pipeline.context import QueryContext
from core.ports import MemoryStore, Remembered

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
        answer=context.lasting or answer.text,
        release=context.partition,
        scope=context.question.scope.key,
        prior=context.prior,
        created_at=time.time(),
        citations=answer.citations,
        asker=context.question.asker,
        channel=context.question.channel,
        language=context.language,
    )
