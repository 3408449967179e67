"""What is said to a question, and where that stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.domain.releases import Resolution
from core.domain.retrieval import Evidence, Level, Queries

Route = Literal["reuse", "reference", "avoid", "documents", "quote", "abstain"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of an answer; `hash` is what the cited text was at that time."""

    number: int
    title: str
    url: str
    release: str
    path: str
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """What an answer took from others than its asker, so that it can go with them.

    `asked` are accounts whose words its queries hold, `people` those whose words its text holds, or one-way
    names of people who wrote pages; `pairs` are the remembered pairs whose words its text holds. The words
    of those in `shown` are in nothing but its trace.
    """

    asked: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said, where it came from, and the trace that explains it."""

    id: str
    text: str
    route: Route
    release: str
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    queries: Queries = field(default_factory=lambda: Queries("", ""))
    confidence: float = 0.0
    level: Level = "none"
    """Whether pages were found that answer, that come closest to it, or neither."""
    pair_id: str = ""
    similarity: float = 0.0
    resolution: Resolution | None = None
    offers: tuple[str, ...] = ()
    """Names of other releases worth asking about."""
    timings_ms: dict[str, float] = field(default_factory=dict)
    trace: dict[str, Any] = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)
