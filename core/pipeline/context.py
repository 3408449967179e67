"""A question on its way to its answer: what it was taken for, what was found, and a trace of the stages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

import numpy as np

from core.domain import (
    Citation,
    Evidence,
    FoundTrace,
    Level,
    NearPair,
    News,
    PageTrace,
    Queries,
    Question,
    Recall,
    RecalledTrace,
    Resolution,
    Route,
    Taken,
    Trace,
    UnderstoodTrace,
)
from core.errors import ModelError
from core.languages import DEFAULT
from core.pipeline.resources import ModelCalls
from core.ports import Listener, Matrix
from core.query.forms import names_in_errors, without_addresses
from core.retrieval.confidence import QuoteSigns
from core.retrieval.found import Found
from core.retrieval.release_notes.dated import Came
from core.retrieval.release_notes.gone import Told
from core.text.words import query_terms

Needs = Literal["", "memory", "model"]
"""What a stage cannot do without; a journey that withholds it passes the stage over."""
Forms = Literal["topic", "queries"]
"""What is embedded after the topic and searched by: each part of the question where there are several; else,
with `queries` (QAMR), base, filtered and versionless query."""
EXPLAINED, LIFTS, LEAST_LIFT = 8, 3, 0.05
"""Pages of which it is traced what raised them, so many parts of each, and of what size from on."""
NO_VECTORS: Matrix = np.zeros((0, 0), np.float32)


class Silence:
    """A listener for those who only want the finished answer."""

    async def sources(self, release: str, evidence: object) -> None:
        """Hear nothing."""

    async def text(self, markdown: str) -> None:
        """Hear nothing."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be said from pages: text, citations, and the parts of the question it leaves open."""

    route: Route
    text: str
    citations: tuple[Citation, ...]
    missed: Sequence[str] = ()
    offers: tuple[str, ...] = ()
    confidence: float | None = None
    """How likely it answers; None where that is as likely as its pages do."""
    level: Level | None = None
    """What it is; None where that is what its pages are."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What an answer says that the pages lack, in its last sentences, and what stands before them."""

    text: str
    before: Draft


@dataclass(slots=True)
class QueryContext:
    """A question on its way: what it means, what was found, what is to be said, and a trace of the stages.

    `by_part` holds what each part of a composite question found, `groups` the chunks of each release and
    part that was searched, where there are several.
    """

    question: Question
    resolution: Resolution = field(default_factory=lambda: Resolution("", "latest"))
    queries: Queries = field(default_factory=lambda: Queries("", ""))
    releases: tuple[str, ...] = ()
    vectors: Matrix = field(default_factory=lambda: NO_VECTORS)
    """One row of unit length for each text that was embedded, the topic's first, as memory compares it."""
    as_written_out: Matrix = field(default_factory=lambda: NO_VECTORS)
    """The one row by which the topic is searched, with names of its HTTP statuses; none where it has none."""
    news: News | None = None
    """The release notes that are asked for, where the question is for nothing else."""
    untranslated: bool | None = None
    """Whether the queries are in another language than the documentation; None where nobody looked."""
    documentation: str = DEFAULT
    """The language of the documentation."""

    recall: Recall = field(default_factory=lambda: Recall("avoid"))
    found: Found | None = None
    gone: tuple[Told, ...] = ()
    """What release notes tell of names that the question believes to be gone, or to be there."""
    came: tuple[Came, ...] = ()
    """When names came that the question asks that of, or that its release lacks."""
    elsewhere: tuple[str, tuple[str, ...]] = ("", ())
    """A name in the question that its release's pages never say, and those releases that have its entry."""
    dropped: Told | None = None
    """The notes that tell that a version of other software was dropped, which the question is about."""
    false_premise: bool = False
    """Whether the question takes for there what ended before its release: all of `gone` tells of that."""
    by_part: dict[str, Found] = field(default_factory=dict)
    groups: tuple[frozenset[str], ...] = ()
    further: tuple[Evidence, ...] = ()
    """Pages that the model reads below those that were found."""
    texts: Mapping[int, str] | None = None
    """What reduction left of each page, by its number; None where nothing was reduced."""
    chosen: Sequence[Evidence] | None = None
    """The pages to write from, best first; None where nothing was selected."""
    notes: str = ""
    """What the model is told beside the pages: calculations, and what it knows by itself."""
    temperature: float | None = None
    draft: Draft | None = None
    gap: Gap | None = None
    """What only is still to be written, while the rest of the answer stands."""
    failed: ModelError | None = None
    """Why the model, where there is one, did not write the answer."""
    lasting: str = ""
    """What memory keeps of the answer, where some of it makes sense after the one before only."""
    repeats: str = ""
    """The pair whose answer the new one says again."""
    is_stale: bool = False
    """Whether the answer rests on a remembered one whose pages have changed."""
    prior: float = 0.0
    """The score of the answer before any vote."""
    taken: Taken = field(default_factory=Taken)
    """What of the answer is in others' words."""

    listener: Listener = field(default_factory=Silence)
    withheld: frozenset[Needs] = frozenset()
    """What this journey does without."""
    is_draft: bool = False
    """Whether the answer is for a comparison only, and kept nowhere."""
    course: ModelCalls = field(default_factory=ModelCalls)
    trace: Trace = field(default_factory=Trace)
    timings: dict[str, float] = field(default_factory=dict)
    at: float = field(default_factory=time.perf_counter)
    began: float = field(default_factory=time.time)
    """When it was asked, in seconds since the epoch."""

    @property
    def is_corrected(self) -> bool:
        """Return True where the question takes for there what its release does not have."""
        return self.false_premise or bool(self.elsewhere[0])

    @property
    def topic(self) -> str:
        """Return the form of the question that memory compares and that is embedded."""
        return self.queries.topic or self.queries.base

    @property
    def sought(self) -> Matrix:
        """Return the vectors that are searched by."""
        first = self.as_written_out
        return np.concatenate([first, self.vectors[1:]]) if len(first) else self.vectors

    @property
    def language(self) -> str:
        """Return the language of the question, as `de`; that of the documentation where nobody knows it."""
        return self.question.language or self.documentation

    @property
    def is_translated(self) -> bool:
        """Return True if the queries are a translation of the question."""
        return self.untranslated is False and self.language != self.documentation

    @property
    def pages(self) -> Found:
        """Return what was found; nothing where no stage has searched."""
        return self.found or Found()

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of a composite question; empty where there is just one."""
        return self.queries.parts if len(self.queries.parts) > 1 else ()

    @property
    def forms(self) -> tuple[str, ...]:
        """Return the query forms there are: base, filtered, and versionless where a release was named."""
        said = self.queries
        return tuple(filter(None, (said.base, said.filtered, said.versionless)))

    @property
    def open(self) -> tuple[str, ...]:
        """Return the parts on which not enough was found."""
        return tuple(part for part, found in self.by_part.items() if not found.is_enough)

    @property
    def unfound(self) -> tuple[str, ...]:
        """Return the parts on which nothing was found that is worth reading."""
        return tuple(part for part, found in self.by_part.items() if not (found.evidence and found.is_close))

    @property
    def answerable(self) -> str:
        """Return the question without the parts on which nothing was found."""
        left = [part for part in self.parts if part not in self.unfound]
        return " ".join(left) if self.unfound and left else self.queries.base

    @property
    def terms(self) -> list[str]:
        """Return the terms that evidence is weighed by; pages know nothing of an asker's own addresses."""
        asked = self.queries.versionless or self.queries.filtered or self.queries.base
        return query_terms(names_in_errors(without_addresses(asked))) or query_terms(asked)

    @property
    def partition(self) -> str:
        """Name the release, or the set of compared ones, that memory files this under."""
        return "+".join(self.releases)

    def lap(self, step: str) -> None:
        """Note the milliseconds since the step before; those of a step that is taken twice add up."""
        now = time.perf_counter()
        self.timings[step] = round(self.timings.get(step, 0.0) + (now - self.at) * 1000, 3)
        self.at = now

    def timed(self, hear: Callable[[str], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
        """Return what hears a growing text as `hear` does, and notes when its first word came."""

        async def heard(markdown: str) -> None:
            self.note_first()
            await hear(markdown)

        return heard

    def note_first(self) -> None:
        """Note after how many milliseconds the first word came, once."""
        if self.trace.first_ms is None:
            spent = sum(self.timings.values()) + (time.perf_counter() - self.at) * 1000
            self.trace.first_ms = round(spent, 1)

    def takes(self, pages: Sequence[Evidence]) -> None:
        """Note that the words of these pages are said."""
        self.taken = replace(self.taken, people=self.taken.people | authors(pages))

    def note_understood(self) -> None:
        """Trace what the question was taken for."""
        self.trace.understood = UnderstoodTrace(
            self.resolution.origin,
            self.resolution,
            self.queries,
            self.queries.rewritten,
            self.language,
            bool(self.untranslated),
            self.course.taken,
        )
        self.lap("understand")

    def note_recalled(self) -> None:
        """Trace what memory said."""
        high, low = (
            [
                NearPair(
                    pair.id,
                    pair.question,
                    near,
                    pair.score,
                    pair.topic * (pair.topic != pair.question),
                    pair.voices,
                )
                for pair, near in pairs
            ]
            for pairs in (self.recall.high, self.recall.low)
        )
        self.trace.recalled = RecalledTrace(high, low, self.recall.guard, self.recall.decided)
        self.lap("recall")

    def note_found(self, step: str = "retrieve") -> None:
        """Trace which pages were found, and how sure that is; `step` is what took the time."""
        found = self.pages
        self.trace.found = FoundTrace(
            found.confidence,
            found.judgement.enough,
            asdict(found.signs),
            self.open,
            [_traced(found, item, place < EXPLAINED) for place, item in enumerate(found.evidence)],
            found.level,
        )
        self.lap(step)

    def note_further(self) -> None:
        """Count those below the pages found in, from which an answer was written, and trace them."""
        found, more = self.pages, self.further
        if self.trace.found and more:
            pages = [*self.trace.found.evidence, *(_traced(found, item, False) for item in more)]
            self.trace.found = replace(self.trace.found, evidence=pages)
        self.found, self.further = replace(found, evidence=(*found.evidence, *more)), ()

    def note_quoted(self, confidence: float, enough: float, level: Level, signs: QuoteSigns) -> None:
        """Trace how sure the quote is, which is what counts where pages are quoted."""
        if self.trace.found:
            known = {name: value for name, value in asdict(signs).items() if value is not None}
            told = {**self.trace.found.signs, **known}
            self.trace.found = replace(
                self.trace.found, confidence=confidence, threshold=enough, level=level, signs=told
            )


def _traced(found: Found, item: Evidence, explained: bool) -> PageTrace:
    chunk = item.chunk
    lifts = _most(found.lifts.get(chunk.id, {})) if explained else {}
    heading, ranks = f"{chunk.title}: {chunk.heading}", found.ranks.get(chunk.id, {})
    return PageTrace(heading, chunk.path, chunk.url, chunk.release, item.score, item.matched, ranks, lifts)


def _most(lifts: Mapping[str, float]) -> dict[str, float]:
    """Return the parts of a page's score that raised it most, strongest first, without the negligible."""
    strongest = sorted(lifts.items(), key=lambda entry: -entry[1])[:LIFTS]
    return {name: round(value, 2) for name, value in strongest if value >= LEAST_LIFT}


def authors(pages: Sequence[Evidence]) -> frozenset[str]:
    """Return who wrote pages that are made of what people said."""
    return frozenset(person for item in pages for person in item.chunk.people)
