"""A question on its way to its answer: what it was taken for, what was found, and a trace of the steps."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from core.domain import News, Queries, Question, Recall, Resolution, Taken
from core.languages import DEFAULT
from core.pipeline.model_budget import ModelCalls
from core.ports import Matrix
from core.retrieval.found import Found
from core.text.words import query_terms


@dataclass(slots=True)
class QueryContext:
    """A question on its way: what it means, and a trace of what was done.

    `found` holds what each part of a composite question found, `groups` the chunks of each release and
    part that was searched, where there are several.
    """

    question: Question
    resolution: Resolution
    queries: Queries
    releases: tuple[str, ...]
    vectors: Matrix
    trace: dict[str, Any]
    timings: dict[str, float] = field(default_factory=dict)
    at: float = field(default_factory=time.perf_counter)
    found: dict[str, Found] = field(default_factory=dict)
    groups: tuple[frozenset[str], ...] = ()
    course: ModelCalls = field(default_factory=ModelCalls)
    documentation: str = DEFAULT
    """The language of the documentation."""
    repeats: str = ""
    """The pair whose answer the new one says again."""
    news: News | None = None
    """The release notes that are asked for, where the question is for nothing else."""
    is_draft: bool = False
    """Whether the answer is for a comparison only, and kept nowhere."""
    taken: Taken = field(default_factory=Taken)
    """What of the answer is in others' words."""
    began: float = field(default_factory=time.time)
    """When it was asked, in seconds since the epoch."""

    @property
    def topic(self) -> str:
        """Return the form of the question that memory compares and that is embedded."""
        return self.queries.topic or self.queries.base

    @property
    def language(self) -> str:
        """Return the language of the question, as `de`; that of the documentation where nobody knows it."""
        return self.question.language or self.documentation

    @property
    def is_translated(self) -> bool:
        """Tell that the queries are a translation of the question."""
        return self.trace.get("untranslated") is False and self.language != self.documentation

    @property
    def is_untranslated(self) -> bool:
        """Tell that the queries are in another language than the documentation."""
        return bool(self.trace.get("untranslated"))

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of a composite question; empty where there is just one."""
        return self.queries.parts if len(self.queries.parts) > 1 else ()

    @property
    def open(self) -> tuple[str, ...]:
        """Return the parts on which not enough was found."""
        return tuple(part for part, found in self.found.items() if not found.is_enough)

    @property
    def answerable(self) -> str:
        """Return the question without the parts on which not enough was found."""
        left = [part for part in self.parts if part not in self.open]
        return " ".join(left) if self.open and left else self.queries.base

    @property
    def terms(self) -> list[str]:
        """Return the terms that evidence is weighed by."""
        return query_terms(self.queries.versionless or self.queries.filtered or self.queries.base)

    @property
    def partition(self) -> str:
        """Name the release, or the set of compared ones, that memory files this under."""
        return "+".join(self.releases)

    def lap(self, step: str) -> None:
        """Note the milliseconds since the step before."""
        now = time.perf_counter()
        self.timings[step] = round((now - self.at) * 1000, 3)
        self.at = now

    def timed(self, hear: Callable[[str], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
        """Return what hears a growing text as `hear` does, and notes when its first word came."""

        async def heard(markdown: str) -> None:
            spent = sum(self.timings.values()) + (time.perf_counter() - self.at) * 1000
            self.trace.setdefault("first_ms", round(spent, 1))
            await hear(markdown)

        return heard

    def note_understood(self, is_untranslated: bool) -> None:
        """Trace what the question was taken for."""
        self.trace |= {
            "release_origin": self.resolution.origin,
            "resolution": asdict(self.resolution),
            "queries": asdict(self.queries),
            "rewritten": self.queries.rewritten,
            "language": self.language,
            "untranslated": is_untranslated,
            "steps": self.course.taken,
        }
        self.lap("understand")

    def note_recalled(self, recall: Recall) -> None:
        """Trace what memory said."""
        for kind, pairs in (("high", recall.high), ("low", recall.low)):
            self.trace[kind] = [
                {"pair": pair.id, "question": pair.question, "similarity": near, "score": pair.score}
                for pair, near in pairs
            ]
        self.trace["guard"] = recall.guard
        self.trace["decided"] = recall.decided
        self.lap("recall")

    def note_found(self, found: Found) -> None:
        """Trace which pages were found, and how sure that is."""
        self.trace |= {
            "confidence": found.confidence,
            "threshold": found.judgement.enough,
            "signs": asdict(found.signs),
            "open_parts": list(self.open),
            "evidence": [
                {
                    "title": f"{item.chunk.title}: {item.chunk.heading}",
                    "path": item.chunk.path,
                    "url": item.chunk.url,
                    "release": item.chunk.release,
                    "score": item.score,
                    "matched": list(item.matched),
                    "ranks": found.ranks.get(item.chunk.id, {}),
                }
                for item in found.evidence
            ],
        }
        self.lap("retrieve")
