"""The answer in the model's words (Hybrid CRAG, QAMR step 5)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain import (
    Answer,
    Citation,
    ContextChunk,
    Evidence,
    Product,
    QAPair,
    Route,
    Taken,
    WrittenTrace,
)
from core.errors import ModelError, ModelUnavailable
from core.generation.answer import write
from core.generation.citations import Cleaned, following, uncited
from core.generation.context.fitting import Request
from core.generation.phrases import not_mentioned
from core.generation.quotes.listing import fate
from core.generation.quotes.quote import without_introduction
from core.generation.reasoning import reason_openly
from core.generation.temperature import adaptive
from core.languages import N_, _, name_of
from core.memory.community import CommunityMemory
from core.memory.scoring import SUPPORTED, support
from core.pipeline.context import Draft, Needs, QueryContext, authors
from core.pipeline.resources import Resources
from core.pipeline.stage import abstention, dont_know, nearly
from core.ports import LanguageModel, Remembered
from core.ports.opinions import OpinionStore
from core.privacy.names import asker_texts, carried, others_texts
from core.prompts import DONT_KNOW, PROMPT_VERSION
from core.query.language import detected
from core.text.words import one_line, shortened

log = logging.getLogger(__name__)

_PAGES_FIRST = 2
"""Pages that stand before what people said, where the pages are enough; the first is what is read best."""

STRONG = 0.8
"""Confidence from which the pages say it, and the model has only to say it again; ours, as is `CLOSE`."""
CLOSE = 0.3
"""Temperature there; not 0, at which small models fall into loops (the cards of Qwen)."""

_REASONS = {
    "release": "People say that it is for the wrong release.",
    "wrong": "People say that it is wrong.",
    "outdated": "People say that it is outdated.",
    "other": "People say that it is not what was asked.",
}


class Write:
    """Has the model write from pages and pairs; ends with the fixed phrase where it does not know.

    A model that is not there or fails drafts nothing, and the trace says why. Unless `is_new`, an answer that
    a recalled pair gave already is one more answer of that pair, and one that says again what was voted down
    is written once more.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources, is_new: bool = False) -> None:
        self._is_new = is_new
        self._product: Product = parts.product
        self._memory: CommunityMemory = parts.memory
        self._model: LanguageModel | None = parts.model
        self._opinions: OpinionStore | None = parts.opinions

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Draft the answer."""
        rejected = await self._rejected(context)
        request = request_of(context, self._product.name)
        request = replace(
            request, evidence=await self._with_community(context, request), rejected=rejected.notes
        )
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
            # what people said would have been enough, the pages are not
            goes_on = self._is_new or context.pages.is_close
            return None if goes_on else nearly(context) or dont_know(context, self._product)
        if written.text == DONT_KNOW:  # what notes tell of a false premise is said by quoting them
            return None if context.is_corrected else dont_know(context, self._product)
        written = self._corrected(context, written)
        recall = context.recall
        route: Route = "reference" if recall.high else "avoid" if recall.denied else "documents"
        if written.repeats:
            return self._nothing_better(context)
        citations = written.citations
        if not self._is_new:
            context.repeats = await self._memory.repeated(written.text, context.topic, context.recall)
        context.taken = _taken(context, self._product, request, written.text, citations, rejected.better)
        context.draft = Draft(route, written.text, citations, context.unfound)
        context.note_further()
        return None

    async def _written(self, context: QueryContext, request: Request) -> Cleaned:
        """Have it written; raises the `ModelError`s of `core.errors`."""
        if self._model is None:
            raise ModelUnavailable(N_("No model is configured; set OLLAMA_HOST."))
        context.trace.written = WrittenTrace(self._model.name, PROMPT_VERSION, request.temperature)
        if context.course.failure:
            raise context.course.failure
        written = await self._by(self._model, request, context)
        context.note_first()
        context.lap("write")
        return written

    async def _by(self, model: LanguageModel, request: Request, context: QueryContext) -> Cleaned:
        objects = context.recall.denied and not self._is_new
        objection = (lambda text: self._objection(context, text)) if objects else None
        said = f"{self._correction(context)[0]}\n\n" if context.is_corrected else ""
        hear = context.timed(lambda text: context.listener.text(f"{said}{text}"))

        async def plainly() -> Cleaned:
            return await write(model, request, hear, objection=objection)

        if not context.question.why:
            return await plainly()
        reasoned = await reason_openly(model, request, plainly)
        context.trace.reasoning = reasoned.reasoning or None
        return reasoned.written

    def _corrected(self, context: QueryContext, written: Cleaned) -> Cleaned:
        """Let an answer begin with the sentence that contradicts the question's premise, cited."""
        if not context.is_corrected or written.repeats:
            return written
        said, citations = self._correction(context)
        text, cited = following(written.text, written.citations, citations)
        return replace(written, text=f"{said}\n\n{text}", citations=cited)

    def _correction(self, context: QueryContext) -> tuple[str, tuple[Citation, ...]]:
        name, there = context.elsewhere
        if name:
            return not_mentioned(name, self._product.name, context.partition, there), ()
        names = {one.name for one in context.gone}
        return fate(context.gone, self._product.name, context.partition, lacks_it=names, briefly=True)

    async def _with_community(self, context: QueryContext, request: Request) -> tuple[Evidence, ...]:
        """Return the evidence with answers that people found good, to be cited like pages (ComRAG §4.3)."""
        read = {item.chunk.id for item in request.evidence}
        high = [pair for pair, _near in context.recall.high if pair.id not in read]
        kept = await self._memory.pairs([pair.id for pair in high])
        every = (*context.pages.evidence, *context.further)
        first = max((item.number for item in every), default=0) + 1
        said = [
            _as_evidence(number, pair, kept[pair.id])
            for number, pair in enumerate((pair for pair in high if pair.id in kept), first)
        ]
        at = _PAGES_FIRST if context.pages.is_enough else 0
        return (*request.evidence[:at], *said, *request.evidence[at:])

    async def _rejected(self, context: QueryContext) -> _Rejected:
        """Return what people found wrong with the recalled bad answers, and wrote instead."""
        notes: dict[str, str] = {}
        better: list[tuple[str, tuple[str, ...]]] = []
        for pair, _near in context.recall.low if self._opinions else ():
            told: list[str] = []
            for one in await self._opinions.corrections(f"a{pair.id[1:]}"):  # type: ignore[union-attr]
                told.append(_REASONS.get(one.what, ""))
                # what is remembered may be told; the rest was said to the bot alone
                if one.better and one.pair_id and context.question.scope.hears(one.scope):
                    told.append(f"Somebody wrote a better answer: {one.better}")
                    better.append((one.better, (one.person,)))
            notes[pair.id] = " ".join(dict.fromkeys(filter(None, told)))
        return _Rejected(notes, better)

    async def _objection(self, context: QueryContext, text: str) -> str:
        """Return that people voted down what a text says again to this question; empty where they did not."""
        low = tuple(entry for entry in context.recall.low if entry[0].id in context.recall.denied)
        plain = _plain(text)
        again = next((pair for pair, _ in low if _plain(pair.answer) == plain), None)
        if again is None:
            named = await self._memory.repeated(plain, context.topic, replace(context.recall, high=low))
            again = next((pair for pair, _ in low if pair.id == named), None)
        if again is None:
            return ""
        return (
            "It says again what people marked as wrong or unhelpful:"
            f" “{shortened(_plain(again.answer), 160)}”."
            " Find what that answer missed, or say that you do not know."
        )

    def _nothing_better(self, context: QueryContext) -> Answer:
        """Say that what the pages lead to was voted down, and which pages they are."""
        said = _("People voted down the answer that I find to this, and I found nothing better.")
        pages = dont_know(context, self._product).text.partition("\n\n")[2]
        return abstention(context, "\n\n".join(filter(None, (said, pages))))


@dataclass(frozen=True, slots=True)
class _Rejected:
    """What is said of bad answers, by their pair, and the better texts with who wrote them."""

    notes: Mapping[str, str]
    better: Sequence[tuple[str, tuple[str, ...]]]


def _as_evidence(number: int, pair: QAPair, kept: Remembered) -> Evidence:
    """Return a remembered pair as evidence that names its votes, and leads to where it was said."""
    opinions = [vote[0] for vote in (*kept.opinions, *kept.strangers)]
    good = sum(opinions)
    title = _("Community")
    if opinions:
        title = _("Community, {good} of {all} found it good").format(good=good, all=len(opinions))
    if pair.stale:
        title = _("{title}, its pages have changed").format(title=title)
    url = next((entry.url for entry in pair.citations if not entry.path), "")
    page = f"{one_line(pair.question)}\n\n{uncited(without_introduction(pair.answer))}"
    chunk = ContextChunk(pair.id, "", title, shortened(pair.question, 100), url, page, release=pair.release)
    return Evidence(number, chunk, pair.score)


def _plain(text: str) -> str:
    return one_line(uncited(without_introduction(text)))


def request_of(context: QueryContext, product: str) -> Request:
    """Say what an answer is to be written from."""
    question, recall = context.question, context.recall
    request = Request(
        question=context.answerable,
        product=product,
        releases=context.releases,
        evidence=tuple(context.pages.evidence if context.chosen is None else context.chosen),
        low=tuple(pair for pair, _ in recall.low),
        history=question.history,
        parts=() if context.gap else tuple(part for part in context.parts if part not in context.unfound),
        texts=context.texts or {},
        language=name_of(context.language),
        code=question.language,
        documented=context.documentation,
        speaks=detected,
        original=question.text if context.is_translated else "",
        answered=uncited(f"{context.gap.before.text}\n\n{context.gap.text}") if context.gap else "",
    )
    return request if context.temperature is None else replace(request, temperature=context.temperature)


def _taken(
    context: QueryContext,
    product: Product,
    request: Request,
    text: str,
    citations: Sequence[Citation],
    better: Sequence[tuple[str, tuple[str, ...]]],
) -> Taken:
    """Tell by its words whose a text is that a model wrote: of the thread, pairs, people's pages."""
    recall = context.recall
    mine = [*asker_texts(context.question, product), context.queries.base]
    pages = [item for item in request.evidence if item.chunk.path and not item.chunk.people]
    mine += [_words(item) for item in pages if item.chunk.id not in {pair.id for pair, _near in recall.high}]
    cited = {entry.hash for entry in citations}
    said = others_texts(context.question)
    said += [(_words(item), item.chunk.people) for item in request.evidence]
    said += better
    shown = [item for item in request.evidence if item.chunk.hash in cited]
    told = carried(text, mine, said) | authors(shown)
    pairs = [(f"{pair.question}\n{pair.answer}", (pair.id,)) for pair, _near in (*recall.high, *recall.low)]
    return replace(context.taken, people=told, pairs=carried(text, mine, pairs))


def _words(item: Evidence) -> str:
    return "\n".join((item.chunk.title, item.chunk.heading, item.chunk.text))


class Temper:
    """Sets the temperature from how far the scores of the good pairs lie apart.

    Where fewer than two are there, strong pages set it low. With `also_low` it is as in the paper: the bad
    pairs' scores count where there are no good ones, and pages do not.
    """

    needs: Needs = "model"

    def __init__(self, also_low: bool = False) -> None:
        self._also_low = also_low

    async def __call__(self, context: QueryContext) -> None:
        """Set the temperature."""
        pairs = context.recall.high or (context.recall.low if self._also_low else ())
        if not self._also_low and len(pairs) < 2 and context.pages.confidence >= STRONG:
            context.temperature = CLOSE
            return
        context.temperature = adaptive([pair.score for pair, _ in pairs])


class Ground:
    """Scores a draft that memory will keep; a quote is its evidence."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._parts = parts

    async def __call__(self, context: QueryContext) -> None:
        """Set the prior."""
        is_kept = context.question.scope.remembered and not context.is_draft and not context.repeats
        if is_kept and context.draft is not None:
            context.prior = await self._scored(context, context.draft)

    async def _scored(self, context: QueryContext, draft: Draft) -> float:
        if draft.route == "quote":
            return SUPPORTED
        cited = {entry.hash for entry in draft.citations}
        # of many pages the first are looked at: let it be those that the answer rests on
        evidence = sorted(context.pages.evidence, key=lambda item: item.chunk.hash not in cited)
        if self._parts.scorer is None:
            return support(draft.text, evidence)
        encoder = await self._parts.encoder_of(context.releases[0])
        context.trace.support = await self._parts.scorer.score(draft.text, evidence, encoder)
        return float(context.trace.support["prior"])
