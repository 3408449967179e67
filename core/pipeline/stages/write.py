"""The answer in the model's words (Hybrid CRAG, QAMR step 5)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from core.domain import Answer, Citation, Evidence, Product, Route, Taken, WrittenTrace
from core.errors import ModelError, ModelUnavailable
from core.generation.answer import write
from core.generation.citations import Cleaned, citation
from core.generation.context.fitting import Request
from core.generation.temperature import adaptive
from core.languages import name_of
from core.memory.community import CommunityMemory
from core.pipeline.answers import dont_know
from core.pipeline.context import Draft, Needs, QueryContext, authors
from core.pipeline.resources import Resources
from core.ports import LanguageModel
from core.prompts import DONT_KNOW, PROMPT_VERSION
from core.query.followups.carried import carried, others, own

log = logging.getLogger(__name__)


class Write:
    """Has the model write from pages and pairs; ends with the fixed phrase where it does not know.

    A model that is not there or fails drafts nothing, and the trace says why. Unless `is_new`, an answer that
    a recalled pair gave already is one more answer of that pair.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources, is_new: bool = False) -> None:
        self._is_new = is_new
        self._product: Product = parts.product
        self._memory: CommunityMemory = parts.memory
        self._model: LanguageModel | None = parts.model

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Draft the answer."""
        request = request_of(context, self._product.name)
        if self._model is not None and not request.evidence:  # reduction left nothing
            return dont_know(context, self._product)
        try:
            written = await self._written(context, request)
        except ModelError as error:
            context.trace.model_error, context.failed = str(error), error
            if self._model is not None:
                log.warning(
                    "the model did not answer, so pages are quoted", extra={"why": type(error).__name__}
                )
            return None
        if written.text == DONT_KNOW:
            return dont_know(context, self._product)
        route: Route = "reference" if context.recall.high else "avoid" if context.recall.low else "documents"
        citations = written.citations or tuple(citation(e, n) for n, e in enumerate(request.evidence[:2], 1))
        context.trace.uncited = not written.citations
        if not self._is_new:
            context.repeats = await self._memory.repeated(written.text, context.topic, context.recall)
        context.taken = _taken(context, self._product, request, written.text, citations)
        context.draft = Draft(route, written.text, citations, context.open)
        return None

    async def _written(self, context: QueryContext, request: Request) -> Cleaned:
        """Have it written; raises the `ModelError`s of `core.errors`."""
        if self._model is None:
            raise ModelUnavailable("No model is configured; set OLLAMA_HOST.")
        context.trace.written = WrittenTrace(self._model.name, PROMPT_VERSION, request.temperature)
        if context.course.failure:
            raise context.course.failure
        written = await self._by(self._model, request, context)
        context.lap("write")
        return written

    async def _by(self, model: LanguageModel, request: Request, context: QueryContext) -> Cleaned:
        return await write(model, request, context.timed(context.listener.text))


def request_of(context: QueryContext, product: str) -> Request:
    """Say what an answer is to be written from."""
    question, recall = context.question, context.recall
    evidence = tuple(context.pages.evidence if context.chosen is None else context.chosen)
    read = {item.chunk.id for item in evidence}
    request = Request(
        question=context.answerable,
        product=product,
        releases=context.releases,
        evidence=evidence,
        high=tuple(pair for pair, _ in recall.high if pair.id not in read),
        low=tuple(pair for pair, _ in recall.low),
        history=question.history,
        parts=tuple(part for part in context.parts if part not in context.open),
        texts=context.texts or {},
        language=name_of(question.language) if question.language else "",
        original=question.text if context.is_translated else "",
    )
    return request if context.temperature is None else replace(request, temperature=context.temperature)


def _taken(
    context: QueryContext, product: Product, request: Request, text: str, citations: Sequence[Citation]
) -> Taken:
    """Tell by its words whose a text is that a model wrote: of the thread, pairs, people's pages."""
    mine = [*own(context.question, product), context.queries.base]
    mine += [_words(item) for item in request.evidence if not item.chunk.people]
    cited = {entry.hash for entry in citations}
    said = others(context.question)
    said += [(_words(item), item.chunk.people) for item in request.evidence]
    shown = [item for item in request.evidence if item.chunk.hash in cited]
    told = carried(text, mine, said) | authors(shown)
    recalled = (pair for pair, _ in (*context.recall.high, *context.recall.low))
    pairs = [(f"{pair.question}\n{pair.answer}", (pair.id,)) for pair in recalled]
    return replace(context.taken, people=told, pairs=carried(text, mine, pairs))


def _words(item: Evidence) -> str:
    return "\n".join((item.chunk.title, item.chunk.heading, item.chunk.text))


class Temper:
    """Sets the temperature from how far the scores of the good pairs lie apart.

    With `also_low` the bad pairs' scores count where there are no good ones: the paper takes those of
    whatever pairs are evidence.
    """

    needs: Needs = "model"

    def __init__(self, also_low: bool = False) -> None:
        self._also_low = also_low

    async def __call__(self, context: QueryContext) -> None:
        """Set the temperature."""
        pairs = context.recall.high or (context.recall.low if self._also_low else ())
        context.temperature = adaptive([pair.score for pair, _ in pairs])
