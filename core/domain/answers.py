"""What is said to a question, and where that stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from core.domain.releases import Resolution
from core.domain.retrieval import Evidence, Level, Queries

Route = Literal["reuse", "reference", "avoid", "documents", "quote", "abstain"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A piece of a source of an answer, under the source's number; `hash` is what its text was then."""

    number: int
    title: str
    url: str
    release: str
    path: str
    hash: str = ""


def numbered(cited: Iterable[Citation], before: Iterable[Citation] = ()) -> tuple[Citation, ...]:
    """Number citations in order, after those that have their numbers: pieces of one section bear one."""
    numbers = {_source_of(one): one.number for one in before}
    return tuple(
        replace(one, number=numbers.setdefault(_source_of(one), len(set(numbers.values())) + 1))
        for one in cited
    )


def sources(cited: Iterable[Citation]) -> list[Citation]:
    """Return each source once, under the titles of all its pieces: `Templates › request, session`."""
    pieces: dict[tuple[int, str], list[Citation]] = {}
    for one in cited:
        pieces.setdefault((one.number, one.url), []).append(one)
    return [replace(those[0], title=_joined([one.title for one in those])) for those in pieces.values()]


def _source_of(cited: Citation) -> tuple[str, str, str]:
    """Return what tells a source from others: its link, and its title where the link is to no section."""
    return cited.release, cited.url, "" if "#" in cited.url else cited.title


def _joined(titles: Sequence[str]) -> str:
    levels = [title.split(" › ") for title in dict.fromkeys(titles)]
    same = 0
    while all(len(one) > same and one[same] == levels[0][same] for one in levels):
        same += 1
    rest = ", ".join(" › ".join(one[same:]) for one in levels if one[same:])
    return " › ".join([*levels[0][:same], *([rest] if rest else [])])


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
