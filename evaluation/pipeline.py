"""One question through one configuration: every step of QAMR can be switched off (QAMR IV-C)."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Protocol

from core.domain import Evidence, Product, Queries, Question
from core.errors import ModelInterrupted, ModelMalformed
from core.generation.answer import Request, write
from core.generation.citations import uncited
from core.generation.context.by_rule import reduce, select
from core.generation.quotes.quote import quote
from core.models.embedding.encoder import Encoders
from core.pipeline.context import QueryContext
from core.pipeline.research import Research
from core.ports import CorpusStore, VectorIndex, WordIndex
from core.prompts import DONT_KNOW
from core.query.releases.resolve import resolve
from core.retrieval.found import Found, merged
from core.retrieval.pregenerated import FIELDS
from evaluation.baselines import Baseline, Mix
from evaluation.configurations import Configuration
from evaluation.counted import Counted
from evaluation.gold import GoldLine, is_right, rank_of
from evaluation.metrics import Outcome

log = logging.getLogger(__name__)


class Reducing(Protocol):
    """Keeps of each chunk what bears on the question: number → text (QAMR step 3)."""

    async def __call__(self, asked: QueryContext, found: Found) -> Mapping[int, str]:
        """Return the texts that are left, without the chunks that have nothing."""


class Selecting(Protocol):
    """Chooses the most useful chunks, best first (QAMR step 4)."""

    async def __call__(
        self, asked: QueryContext, found: Found, texts: Mapping[int, str] | None
    ) -> Sequence[Evidence]:
        """Return the chosen evidence."""


async def reduce_by_rule(asked: QueryContext, found: Found) -> Mapping[int, str]:
    """Reduce by the terms of the question."""
    return reduce(found.evidence, asked.terms, found.weight)


async def select_by_rule(
    asked: QueryContext, found: Found, texts: Mapping[int, str] | None
) -> Sequence[Evidence]:
    """Select by what each chunk adds of the question's terms."""
    return select(found.evidence, asked.terms, found.weight, texts)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the harness measures: the wired parts of the product.

    Without a `model` answers quote. For the calls to be counted, `research`, `reducing` and
    `selecting` have to use the very same `Counted` model.
    """

    product: Product
    research: Research
    encoders: Encoders
    store: CorpusStore
    vectors: VectorIndex
    words: WordIndex
    model: Counted | None = None
    reducing: Reducing = reduce_by_rule
    selecting: Selecting = select_by_rule


@dataclass(slots=True)
class _Run:
    asked: QueryContext
    found: Found
    handed: tuple[Evidence, ...] = ()
    texts: dict[int, str] = field(default_factory=dict)


class Pipeline:
    """Asks labelled questions in one configuration; to be opened first."""

    def __init__(
        self, parts: Parts, configuration: Configuration, enough: float | None, answers: bool
    ) -> None:
        self._parts = parts
        self._how = configuration
        self._enough = enough
        self._answers = answers
        mix = configuration.mix or (None if configuration.dual else Mix(dual=False))
        self._baseline = Baseline(parts.store, parts.vectors, parts.words, mix) if mix else None
        self._research = parts.research if configuration.pairs else parts.research.without_pairs()
        if configuration.fields is not None:
            weights = {name: float(name in configuration.fields) for name in FIELDS}
            self._research = parts.research.by_pairs(weights if configuration.fields else None)

    async def open(self) -> None:
        """Read what a baseline needs; load the encoder, so that no question pays for it."""
        if self._baseline:
            await self._baseline.open()
        for corpus in self._parts.research.corpora.values():
            await self._parts.encoders.named(corpus.encoder)

    async def ask(self, line: GoldLine) -> Outcome:
        """Ask one question and say how it went."""
        model = self._parts.model
        before = model.calls if model else 0
        began = time.perf_counter()
        asked = await self._understood(line)
        if asked.resolution.unknown:
            return self._outcome(line, _Run(asked, Found()), began, before, "", abstained=False)
        run = await self._read(asked)
        found = run.found
        enough = found.judgement.enough if self._enough is None else self._enough
        abstained = found.confidence < enough
        answer = await self._written(run) if self._answers and not abstained else ""
        abstained = abstained or answer == DONT_KNOW
        return self._outcome(line, run, began, before, answer, abstained=abstained)

    # --- the steps ----------------------------------------------------------------------------

    async def _understood(self, line: GoldLine) -> QueryContext:
        history = line.history
        text = line.question
        if self._how.standalone and line.standalone:
            text, history = line.standalone, ()
        if self._how.rewrite:
            return await self._parts.research.understand(
                Question(text, history=history, release=line.ask_release)
            )
        # The raw turn: nothing of the thread, no forms, no parts; only the release is found.
        question = Question(text, release=line.ask_release)
        resolution = resolve(question, self._parts.product)
        releases = resolution.named if resolution.comparison else (resolution.release,)
        corpora = self._parts.research.corpora
        corpus = corpora.get(releases[0])
        encoders = self._parts.encoders
        encoder = await (encoders.named(corpus.encoder) if corpus else encoders.current())
        vectors = await encoder.encode([text])
        raw = Queries(text, text, parts=(text,), topic=text)
        return QueryContext(question, resolution, raw, releases, vectors)

    async def _read(self, asked: QueryContext) -> _Run:
        run = _Run(asked, await self._retrieved(asked))
        run.handed = run.found.evidence
        run.texts = {item.number: item.chunk.text for item in run.handed}
        if self._how.reduce:
            run.texts = dict(await self._parts.reducing(asked, run.found))
            run.handed = tuple(item for item in run.handed if run.texts.get(item.number))
        if self._how.select:
            texts = run.texts if self._how.reduce else None
            run.handed = tuple(await self._parts.selecting(asked, run.found, texts))
        return run

    async def _retrieved(self, asked: QueryContext) -> Found:
        if self._baseline is None:
            return await self._research.search(asked)
        lists = []
        for release in asked.releases:
            if not asked.parts:
                lists.append(await self._baseline.search(asked.queries, asked.vectors, release))
            for place, part in enumerate(asked.parts, start=1):
                form = replace(asked.queries, base=part, filtered=part, versionless="", carried=())
                vectors = asked.vectors[place : place + 1]
                lists.append(await self._baseline.search(form, vectors, release))
        return merged(lists)

    async def _written(self, run: _Run) -> str:
        parts, asked = self._parts, run.asked
        if parts.model:
            request = Request(
                question=asked.queries.base,
                product=parts.product.name,
                releases=asked.releases,
                evidence=run.handed,
                history=asked.question.history,
                parts=asked.parts,
                texts=run.texts,
            )
            try:
                return (await write(parts.model, request)).text
            except (ModelMalformed, ModelInterrupted) as error:
                # One bad answer must not cost a run of hours; the product would quote here too.
                log.warning("%s: quoted instead: %s", asked.question.text, error)
        shown = tuple(
            replace(item, chunk=replace(item.chunk, page=run.texts[item.number], before="", after=""))
            if self._how.reduce
            else item
            for item in run.handed
        )
        name = parts.product.name
        return quote(asked.terms, shown, run.found.weight, name, asked.partition).text or DONT_KNOW

    def _outcome(
        self, line: GoldLine, run: _Run, began: float, calls: int, answer: str, *, abstained: bool
    ) -> Outcome:
        shown = [(e.chunk.release, e.chunk.path, e.chunk.text) for e in run.found.evidence]
        handed = [(e.chunk.release, e.chunk.path, run.texts.get(e.number, "")) for e in run.handed]
        right = {*line.places} or {line.release or run.asked.resolution.release}
        model = self._parts.model
        said = uncited(answer) if answer and not abstained else ""
        return Outcome(
            line=line,
            rank=rank_of(line.places, shown) if line.places else 0,
            handed_rank=rank_of(line.places, handed) if line.places else 0,
            wrong_release=any(release not in right and release for release, _, _ in shown[:3]),
            abstained=abstained,
            refused=bool(run.asked.resolution.unknown),
            confidence=run.found.confidence,
            right=is_right(line, said) if self._answers and line.answerable else None,
            characters=sum(len(text) for _, _, text in handed),
            ms=(time.perf_counter() - began) * 1000,
            calls=(model.calls if model else 0) - calls,
            answer=said,
            contexts=tuple(text for _, _, text in handed),
            signs=asdict(run.found.signs),
            queries=asdict(run.asked.queries),
            release=run.asked.partition,
            retrieved=tuple((release, path) for release, path, _ in shown),
        )
