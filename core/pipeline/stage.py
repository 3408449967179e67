"""The shape of a step from a question to its answer, the walk through them, and how an answer is kept."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Protocol
from unicodedata import normalize

from core.domain import Answer, Citation, Evidence, Product, Route, own_pair
from core.errors import ServerDown, WordsGone
from core.generation import phrases
from core.generation.checked.raw import says_lack
from core.generation.checked.statements import statements
from core.generation.citations import uncited
from core.generation.quotes.quote import without_introduction
from core.languages import _, told_name
from core.memory.community import CommunityMemory
from core.pipeline.context import Needs, QueryContext, authors
from core.ports import MemoryStore, Remembered
from core.query.forms import asks_newest
from core.query.language import small_words
from core.text.words import index_terms

BEARS = 0.5
"""Share of the question's weight that a page must hold to be named where there is no answer; ours."""
_SPEAKS = 0.3
"""Share of it that a page must hold to be where to look for what changes from day to day; ours."""
LACKING = 0.3
"""Confidence at most of an answer that begins with what the documentation does not say; ours."""
LIKELY = 0.35
"""Confidence above which the nearest pages are named although they hold little of the question; ours."""
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
    told = statements(draft.text) if draft.route != "quote" else []
    if told and says_lack(told[0].text):  # whatever its pages are, it is no answer to what was asked
        return replace(answer, offers=draft.offers, level="close", confidence=min(answer.confidence, LACKING))
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
    return _nothing(context, product, _bearing(context, product, _weights(context)))


def _nothing(context: QueryContext, product: Product, near: Sequence[Evidence]) -> Answer:
    """Say that the documentation does not answer it; offer pages that are `near`, a remembered answer."""
    weights = _weights(context)
    context.takes(near)
    like = ""
    if pair := next((pair for pair, _near in context.recall.high if not pair.stale), None):
        like = phrases.remembered(pair.question, uncited(without_introduction(pair.answer)))
        context.taken = replace(context.taken, pairs=context.taken.pairs | {pair.id})
    foreign = context.language if context.untranslated else ""
    told = phrases.dont_know(product, near, like, foreign, weights)
    # where no model runs asking again never helps, and it is said that none does
    was_tried = "understand" in context.course.taken  # and failed, or wrote what is no translation
    if foreign and was_tried and not isinstance(context.course.failure, ServerDown):
        failed = _("I could not translate your question just now. Ask again in a moment, or in {language}.")
        rest = told.partition("\n\n")[2]
        told = "\n\n".join(filter(None, (failed.format(language=told_name(product.language)), rest)))
    return abstention(context, told)


def changes_often(context: QueryContext, product: Product) -> Answer:
    """Say that nobody knows from pages what changes from day to day; offer those that speak of it.

    Who asks for the newest release is told which one the catalogue has, as no page can tell.
    """
    weights = _weights(context)
    if context.untranslated:
        near = _bearing(context, product, weights)
    else:  # how near they are says nothing here: only their words tell where to look
        shares = [(_share(weights, _terms_of(item)), item) for item in context.pages.evidence]
        near = [item for share, item in shares if share >= BEARS]
        near = near or [item for share, item in shares if share >= _SPEAKS]
    answer = _nothing(context, product, near)
    said, gap, pages = answer.text.partition("\n\n")
    why = _("The answer changes often, and I have not read it anywhere just now.")
    if asks_newest(context.queries.base or context.question.text, product):
        newest = _("The newest release whose documentation I have is {product} {release}.")
        why = f"{why} {newest.format(product=product.name, release=product.latest.name)}"
    return replace(answer, text=f"{said}\n\n{why}{gap}{pages}")


def _bearing(context: QueryContext, product: Product, weights: Mapping[str, float]) -> list[Evidence]:
    """Return the pages that hold enough of a question to be worth a look, best first.

    Where none does the nearest are, if they are likely to answer: people often use other words than pages.
    Of one in another language than theirs that is any word but its small ones and the product's name, be it
    in their spelling (`uploaden`, `upload`); those with most first.
    """
    if not context.untranslated:
        near = [item for item in context.pages.near if _share(weights, _terms_of(item)) >= BEARS]
        return near or list(context.pages.near if context.pages.confidence > LIKELY else ())
    small = index_terms(" ".join((product.name, *product.aliases, *small_words(context.language))))
    weights = {term: weights[term] or 1.0 for term in weights.keys() - set(small)}
    shares = {}
    for item in context.pages.near:
        there = _terms_of(item)
        held = {term for term in weights if any(_alike(term, other) for other in there)}
        shares[item.number] = _share(weights, held)
    return sorted((i for i in context.pages.near if shares[i.number]), key=lambda i: -shares[i.number])


def _weights(context: QueryContext) -> dict[str, float]:
    return {term: context.pages.weight(term) for term in context.terms}


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


class Stage(Protocol):
    """One step of a recipe. It knows the question's context, and no other stage."""

    @property
    def needs(self) -> Needs:
        """Name what the stage cannot do without; a journey that withholds it passes the stage over."""
        ...

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Add to the context, or end the journey with an answer."""
        ...


class OnRoute:
    """Runs stages only where memory chose this route."""

    needs: Needs = ""

    def __init__(self, route: Route, *stages: Stage) -> None:
        self._route = route
        self._stages = stages

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Run them, or do nothing."""
        return await walk(self._stages, context) if context.recall.route == self._route else None


async def walk(stages: Sequence[Stage], context: QueryContext) -> Answer | None:
    """Take a question through the stages; return the first answer, None where none of them ended it."""
    for stage in stages:
        if stage.needs not in context.withheld and (answer := await stage(context)) is not None:
            return answer
    return None


async def run(stages: Sequence[Stage], context: QueryContext) -> Answer:
    """Take a question through the stages; return the first answer, else what they drafted; trace the times.

    Raises ValueError for stages that did neither.
    """
    answer = await walk(stages, context) or drafted(context)
    context.trace.ms = round(sum(context.timings.values()), 1)
    context.trace.timings = dict(context.timings)
    return answer


log = logging.getLogger(__name__)

_GONE = "Somebody was forgotten while an answer was made of their words; it is not kept. Ask again."


class AnswerKeeper:
    """Keeps answers; `gone` tells whether any of these people was forgotten since a time, once it `heard`."""

    def __init__(
        self,
        memory: CommunityMemory,
        store: MemoryStore,
        gone: Callable[[Collection[str], float], bool],
        heard: Callable[[], Awaitable[None]],
    ) -> None:
        self._memory = memory
        self._store = store
        self._gone = gone
        self._heard = heard

    async def keep(self, context: QueryContext, answer: Answer) -> Answer:
        """Save an answer and return it with its trace; a draft is not kept.

        An answer that says again what a pair says is one more answer of that pair. Raises WordsGone where
        somebody was forgotten meanwhile whose words it holds.
        """
        question, taken = context.question, answer.taken
        people = {question.asker, *question.authors, *taken.asked, *taken.people, *taken.shown}

        async def still() -> bool:
            await self._heard()
            return not self._gone(people, context.began)

        if self._gone(people, context.began):
            raise WordsGone(_GONE)
        if context.is_draft:
            return replace(answer, trace=context.trace.as_dict())
        pair = topic = None
        if context.repeats:
            answer = replace(answer, pair_id=context.repeats)
        elif _is_new(context, answer):
            pair = _pair(context, answer)
            topic = self._memory.topic_of(pair, context.vectors[0])
            answer = replace(answer, pair_id=pair.id)
        answer = replace(answer, trace=context.trace.as_dict())
        if not await self._store.save_answer(answer, context.question, pair, still, topic):
            raise WordsGone(_GONE)
        context.lap("save")
        told = {"answer": answer.id, "route": answer.route, "release": answer.release}
        log.info("answered", extra=told | {"ms": context.trace.ms})
        return answer


def _is_new(context: QueryContext, answer: Answer) -> bool:
    """Return True if votes may promote an answer: it is made of pages, and may be remembered."""
    return answer.route not in ("reuse", "calculation", "abstain") and context.question.scope.remembered


def _pair(context: QueryContext, answer: Answer) -> Remembered:
    """Return the neutral pair of a new answer."""
    return Remembered(
        id=own_pair(answer.id),
        question=context.queries.base,
        topic=context.topic,
        answer=context.lasting or answer.text,
        release=context.partition,
        scope=context.question.scope.key,
        prior=context.prior,
        created_at=time.time(),
        citations=answer.citations,
        stale=context.is_stale,
        asker=context.question.asker,
        channel=context.question.channel,
        language=context.language,
    )
