"""One question through one configuration: the stages of a serving recipe, with steps taken out (QAMR IV-C).

Nothing is kept, and memory is withheld, so that no figure depends on what a home happens to remember, nor
on the order of the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace

from core.domain import Answer, Evidence, FoundTrace, Queries, Question
from core.generation.citations import uncited
from core.generation.quotes.quote import without_introduction
from core.pipeline.context import Needs, QueryContext
from core.pipeline.research import Research
from core.pipeline.resources import Resources
from core.pipeline.stage import Stage, answer_of, run
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Reduce, Retrieve, Select
from core.pipeline.stages.search_again import SearchAgain
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Ground, Write
from core.ports import for_questions
from core.query.releases.resolve import resolve
from core.recipes import recipe_of
from core.retrieval.confidence import PLAIN_JUDGEMENT, Signs
from core.retrieval.pregenerated import FIELDS
from core.retrieval.search import Searcher
from evaluation.configurations import Baseline, Configuration, Mix
from evaluation.gold import GoldLine, is_right, rank_of
from evaluation.metrics import Outcome

_WRITING = (Write, Quote, Cite, Ground)


class AsItStands:
    """Understands nothing: the raw turn, without what was said before, other forms or parts."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._parts = parts

    async def __call__(self, context: QueryContext) -> None:
        """Find the release, and embed the question word for word."""
        question = context.question = replace(context.question, history=())
        context.resolution = resolution = resolve(question, self._parts.product)
        context.releases = resolution.named if resolution.comparison else (resolution.release,)
        context.queries = Queries(question.text, question.text, parts=(question.text,), topic=question.text)
        context.note_understood()
        if not resolution.unknown:
            encoder = for_questions(await self._parts.encoder_of(context.releases[0]))
            context.vectors = await encoder.encode([question.text])


class Unanswered:
    """Ends a journey whose answer nobody wants to read."""

    needs: Needs = ""

    async def __call__(self, context: QueryContext) -> Answer:
        """Answer with nothing."""
        return answer_of(context, "quote", "")


def stages_of(
    research: Research,
    recipe: str,
    how: Configuration | None = None,
    enough: float | None = None,
    answers: bool = True,
) -> tuple[Stage, ...]:
    """Return the stages of a recipe as a configuration has them, the serving ones where there is none.

    `enough` is the least confidence for an answer, None for the product's own; without `answers` nothing is
    written. Raises ConfigurationError for an unknown recipe.
    """
    how = how or Configuration(recipe)
    parts = research.parts
    searcher = _searcher_of(parts.searcher, how, enough)

    kinds: dict[type, bool] = {Reduce: how.reduce, Select: how.select, **dict.fromkeys(_WRITING, answers)}
    left_out = tuple(kind for kind, is_on in kinds.items() if not is_on)

    def configured(stages: Sequence[Stage]) -> Sequence[Stage]:
        chosen: list[Stage] = []
        for stage in (one for one in stages if not isinstance(one, left_out)):
            if isinstance(stage, SearchAgain):
                chosen += [stage.by(configured)] if answers else configured(stage.read)
            elif isinstance(stage, Understand) and not how.rewrite:
                chosen.append(AsItStands(parts))
            elif isinstance(stage, Retrieve) and how.searches_otherwise:
                chosen.append(Retrieve(replace(parts, searcher=searcher)))
            else:
                chosen.append(stage)
        return chosen

    stages = configured(recipe_of(recipe)(replace(parts, searcher=searcher)))
    return (*stages, *(() if answers else (Unanswered(),)))


def _searcher_of(searcher: Searcher, how: Configuration, enough: float | None) -> Searcher:
    plain, ranking = PLAIN_JUDGEMENT, searcher.ranking
    if enough is not None:
        plain = replace(plain, enough=enough)
        searcher = searcher.by(replace(ranking, judgement=replace(ranking.judgement, enough=enough)))
    if how.fields is not None:
        weights = {name: float(name in how.fields) for name in FIELDS}
        return searcher.by_pairs(weights if how.fields else None)
    if mix := how.mix or (None if how.dual else Mix(dual=False)):
        return searcher.by(retriever=Baseline(mix, plain))
    return searcher if how.pairs else searcher.without_pairs()


async def warm(research: Research) -> None:
    """Load the encoders of all corpora, so that no question pays for it."""
    for corpus in research.corpora.values():
        await research.parts.encoders.named(corpus.encoder)


async def ask(stages: Sequence[Stage], line: GoldLine, standalone: bool = False) -> tuple[Answer, Outcome]:
    """Take one gold question through the stages; return the answer and how it went.

    With `standalone` a follow-up is asked in the form that a person wrote for it.
    """
    question = Question(line.question, history=line.history, release=line.ask_release)
    if standalone and line.standalone:
        question = Question(line.standalone, release=line.ask_release)
    context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
    answer = await run(stages, context)
    is_written = not any(isinstance(stage, Unanswered) for stage in stages)
    return answer, _outcome(context, answer, line, is_written)


def _outcome(context: QueryContext, answer: Answer, line: GoldLine, is_written: bool) -> Outcome:
    trace = context.trace
    found, resolution = trace.found or FoundTrace(), context.resolution
    refused = bool(resolution.unknown)
    texts = context.texts
    read = answer.evidence if trace.read is None else _numbered(answer.evidence, trace.read)
    shown = [(e.chunk.release, e.chunk.path, e.chunk.text) for e in answer.evidence]
    handed = [
        (e.chunk.release, e.chunk.path, e.chunk.text if texts is None else texts.get(e.number, ""))
        for e in read
    ]
    right = {*line.places} or {line.release or resolution.release}
    abstained = answer.route == "abstain" and not refused
    said = "" if answer.route == "abstain" else uncited(without_introduction(answer.text))
    return Outcome(
        line=line,
        rank=rank_of(line.places, shown) if line.places else 0,
        handed_rank=rank_of(line.places, handed) if line.places else 0,
        wrong_release=any(release not in right and release for release, _, _ in shown[:3]),
        abstained=abstained,
        refused=refused,
        confidence=found.confidence or 0.0,
        route=answer.route,
        right=_is_right(line, said, is_silent=abstained or refused) if is_written else None,
        characters=sum(len(text) for _, _, text in handed),
        ms=trace.ms or 0.0,
        calls=trace.calls,
        answer=said,
        contexts=tuple(text for _, _, text in handed),
        signs={name: found.signs[name] for name in _SIGNS if name in found.signs},
        queries=asdict(trace.queries),
        release=context.partition,
        retrieved=tuple((release, path) for release, path, _ in shown),
    )


def _is_right(line: GoldLine, answer: str, is_silent: bool) -> bool | None:
    """Return whether an answer is right: None where the line does not say what one must contain."""
    if not (line.answerable and line.must_contain):
        return None
    return not is_silent and is_right(line, answer)


_SIGNS = tuple(field.name for field in fields(Signs))
"""Signs of the pages found; a quote adds its own to the trace, where there is one."""


def _numbered(evidence: Sequence[Evidence], numbers: Sequence[int]) -> list[Evidence]:
    by_number = {item.number: item for item in evidence}
    return [by_number[number] for number in numbers]
