"""The ways in which a question ends: an answer said again, written, quoted, or none; each is kept."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from core.domain import Answer, Citation, Evidence, Product, QAPair, Recall, Route, Taken
from core.errors import ModelUnavailable, WordsGone
from core.generation import phrases
from core.generation.answer import write as written_by
from core.generation.citations import citation
from core.generation.composite import nothing_on
from core.generation.context.fitting import Request
from core.generation.quotes.quote import without_introduction
from core.memory.community import CommunityMemory
from core.memory.scoring.prior import PriorScorer
from core.memory.scoring.score import SUPPORTED, support
from core.pipeline.context import QueryContext
from core.pipeline.context_selector import ContextSelector, without
from core.pipeline.research import Research
from core.ports import LanguageModel, Listener, MemoryStore, Remembered
from core.privacy.names import since_never
from core.prompts import DONT_KNOW, PROMPT_VERSION
from core.query.followups.carried import carried, others, own
from core.retrieval.found import Found

log = logging.getLogger(__name__)

_GONE = "Somebody was forgotten while an answer was made of their words; it is not kept. Ask again."


class AnswerBuilder:
    """Makes the answer that a route leads to, and saves it with the pair that votes may promote."""

    def __init__(
        self,
        product: Product,
        memory: CommunityMemory,
        store: MemoryStore,
        research: Research,
        model: LanguageModel | None,
        reader: ContextSelector,
        scorer: PriorScorer | None,
        gone: Callable[[Collection[str], float], bool] = since_never,
    ) -> None:
        """Make answers; `gone` tells whether any of these people was forgotten since a time."""
        self._gone = gone
        self._product = product
        self._memory = memory
        self._store = store
        self._research = research
        self._model = model
        self._reader = reader
        self._scorer = scorer

    async def reuse(self, asked: QueryContext, near: tuple[QAPair, float]) -> Answer:
        """Say a remembered answer again; one in another language only where no model can write anew."""
        pair, similarity = near
        asked.trace["origin"] = pair.origin
        asked.taken = replace(asked.taken, pairs=frozenset({pair.id}))
        text = without_introduction(pair.answer)
        if pair.language != asked.language:
            text = f"{phrases.in_another_language(pair.language)}\n\n{text}"
        answer = self._new(asked, "reuse", text, pair.citations, confidence=pair.score)
        answer = replace(answer, pair_id=pair.id, similarity=similarity)
        first = await self._store.answer(f"a{pair.id[1:]}")
        if first and asked.resolution.origin in ("latest", "channel"):
            answer = replace(answer, offers=tuple(first["trace"].get("offers", ())))
        return await self._keep(asked, answer)

    async def write(self, asked: QueryContext, recall: Recall, found: Found, listener: Listener) -> Answer:
        """Have the model write it from the pages; raises the `ModelError`s of `core.errors`."""
        if self._model is None:
            raise ModelUnavailable("No model is configured; set OLLAMA_HOST.")
        request = await self._reader.request(asked, recall, found)
        asked.trace |= {
            "model": self._model.name,
            "prompts": PROMPT_VERSION,
            "temperature": request.temperature,
        }
        if asked.course.failure:
            raise asked.course.failure
        written = await written_by(self._model, request, asked.timed(listener.text))
        asked.lap("write")
        if written.text == DONT_KNOW:
            return await self.dont_know(asked, found)
        route: Route = "reference" if recall.high else "avoid" if recall.low else "documents"
        citations = written.citations or tuple(citation(e, n) for n, e in enumerate(request.evidence[:2], 1))
        asked.trace["uncited"] = not written.citations
        asked.repeats = await self._memory.repeated(written.text, asked.topic, recall)
        asked.taken = self._taken(asked, request, written.text, citations)
        return await self._say(asked, route, written.text, citations, found, asked.open)

    def _taken(
        self, asked: QueryContext, request: Request, text: str, citations: Sequence[Citation]
    ) -> Taken:
        """Tell by its words whose a text is that a model wrote: of the thread, pairs, people's pages."""
        mine = [*own(asked.question, self._product), asked.queries.base]
        mine += [_words(item) for item in request.evidence if not item.chunk.people]
        cited = {entry.hash for entry in citations}
        said = others(asked.question)
        said += [(_words(item), item.chunk.people) for item in request.evidence]
        told = carried(text, mine, said) | _authors(
            [item for item in request.evidence if item.chunk.hash in cited]
        )
        pairs = [(f"{pair.question}\n{pair.answer}", (pair.id,)) for pair in (*request.high, *request.low)]
        return replace(asked.taken, people=told, pairs=carried(text, mine, pairs))

    def _takes(self, asked: QueryContext, pages: Sequence[Evidence]) -> None:
        """Note that the words of these pages are said."""
        asked.taken = replace(asked.taken, people=asked.taken.people | _authors(pages))

    async def quote(self, asked: QueryContext, recall: Recall, found: Found) -> Answer:
        """Quote the pages; what was voted down for this very question is not quoted again."""
        delta = self._memory.thresholds.delta
        rejected = {c.hash for pair, near in recall.low if near >= delta for c in pair.citations}
        text, citations, missed = self._reader.quoted(asked, found, rejected)
        asked.lap("quote")
        if not citations:
            return await self.dont_know(asked, found)
        cited = {entry.hash for entry in citations}
        self._takes(asked, [item for item in found.evidence if item.chunk.hash in cited])
        return await self._say(asked, "quote", text, citations, without(found, rejected), missed)

    async def _say(
        self,
        asked: QueryContext,
        route: Route,
        text: str,
        citations: tuple[Citation, ...],
        found: Found,
        missed: Sequence[str],
    ) -> Answer:
        """Finish an answer from pages: say what they lack, and which releases say something else."""
        first = next((item for item in found.evidence if item.chunk.hash == citations[0].hash), None)
        told = text.partition("\n\n")[2] if route == "quote" else text
        offers = await self._research.offers(asked, told, first) if first else ()
        asked.trace["offers"] = list(offers)
        asked.lap("offers")
        lacking = nothing_on(missed, self._product.name, asked.partition)
        text = "\n\n".join(part for part in (text, lacking) if part)
        return await self._keep(
            asked, replace(self._new(asked, route, text, citations, found), offers=offers)
        )

    async def dont_know(self, asked: QueryContext, found: Found) -> Answer:
        """Say that the documentation does not answer it, and which pages come nearest."""
        self._takes(asked, found.near)
        return await self.abstain(asked, phrases.dont_know(self._product, found.near), found)

    async def abstain(self, asked: QueryContext, text: str, found: Found | None = None) -> Answer:
        """Answer with a fixed sentence, without pages; of what nobody asked the bot nothing is kept."""
        asked.is_draft = asked.is_draft or asked.question.unasked
        answer = self._new(asked, "abstain", text, (), found)
        release = "" if asked.resolution.unknown else answer.release
        return await self._keep(asked, replace(answer, release=release))

    def _new(
        self,
        asked: QueryContext,
        route: Route,
        text: str,
        citations: tuple[Citation, ...],
        found: Found | None = None,
        confidence: float = 0.0,
    ) -> Answer:
        return Answer(
            id=f"a{uuid.uuid4().hex[:16]}",
            text=text,
            route=route,
            release=asked.partition,
            citations=citations,
            evidence=found.evidence if found else (),
            queries=asked.queries,
            confidence=found.confidence if found else confidence,
            resolution=asked.resolution,
            timings_ms=asked.timings,
            trace=asked.trace,
            taken=replace(asked.taken, shown=_authors(found.evidence if found else ())),
        )

    async def _prior(self, asked: QueryContext, answer: Answer) -> float:
        """Score an answer by its evidence before anybody votes; a quote is its evidence."""
        if answer.route == "quote":
            return SUPPORTED
        if self._scorer is None:
            return support(answer.text, answer.evidence)
        encoder = await self._research.encoder_of(asked)
        asked.trace["support"] = await self._scorer.score(answer.text, answer.evidence, encoder)
        return float(asked.trace["support"]["prior"])

    async def _keep(self, asked: QueryContext, answer: Answer) -> Answer:
        """Save the answer, and the neutral pair that votes may promote; a draft is not kept.

        An answer that says again what a pair says is one more answer of that pair. Raises WordsGone where
        somebody was forgotten meanwhile whose words it holds.
        """
        taken = answer.taken
        people = {asked.question.asker, *asked.question.authors, *taken.asked, *taken.people, *taken.shown}

        def still() -> bool:
            return not self._gone(people, asked.began)

        if not still():
            raise WordsGone(_GONE)
        if asked.is_draft:
            return answer
        pair = None
        if asked.repeats:
            answer = replace(answer, pair_id=asked.repeats)
        elif answer.route not in ("reuse", "abstain") and asked.question.scope.remembered:
            pair = Remembered(
                id=f"p{answer.id[1:]}",
                question=asked.queries.base,
                topic=asked.topic,
                answer=answer.text,
                release=asked.partition,
                scope=asked.question.scope.key,
                prior=await self._prior(asked, answer),
                created_at=time.time(),
                citations=answer.citations,
                asker=asked.question.asker,
                channel=asked.question.channel,
                language=asked.language,
            )
            await self._memory.remember(pair, asked.vectors[0])
            answer = replace(answer, pair_id=pair.id)
        asked.trace["ms"] = round(sum(asked.timings.values()), 1)
        asked.trace["timings"] = dict(asked.timings)
        if not await self._store.save_answer(answer, asked.question, pair, still):
            raise WordsGone(_GONE)
        asked.lap("save")
        fields = {
            "answer": answer.id,
            "route": answer.route,
            "release": answer.release,
            "ms": asked.trace["ms"],
        }
        log.info("answered", extra=fields)
        return answer


def _authors(pages: Sequence[Evidence]) -> frozenset[str]:
    """Return who wrote pages that are made of what people said."""
    return frozenset(person for item in pages for person in item.chunk.people)


def _words(item: Evidence) -> str:
    return "\n".join((item.chunk.title, item.chunk.heading, item.chunk.text))
