"""The record of an answer's journey: what each stage did and how long it took.

A new record is filled stage by stage and stored as one JSON object; `Trace.of` reads stored ones, also
those of older homes and those that retention or forgetting shortened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

from core.domain.conversation import Level, Queries
from core.domain.documents import Resolution


@dataclass(frozen=True, slots=True)
class UnderstoodTrace:
    """What a question was taken for; `steps` grows while the model takes steps for it."""

    release_origin: str = ""
    resolution: Resolution | None = None
    queries: Queries = field(default_factory=lambda: Queries("", ""))
    rewritten: bool = False
    language: str = ""
    untranslated: bool = False
    steps: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NearPair:
    """A remembered pair near to a question; `topic` is empty where memory compares the question as it is.

    `voices` counts the people who had found it good by then; 0 in records of older homes.
    """

    pair: str
    question: str = ""
    similarity: float = 0.0
    score: float = 0.0
    topic: str = ""
    voices: int = 0


@dataclass(frozen=True, slots=True)
class RecalledTrace:
    """What memory knew, and why a near answer was or was not reused, in plain words."""

    high: Sequence[NearPair] = ()
    low: Sequence[NearPair] = ()
    guard: str = ""
    decided: str = ""


@dataclass(frozen=True, slots=True)
class PageTrace:
    """A page that was found; `ranks` tells at which rank which retriever found it.

    `lifts` are the parts of its score that raised it most above the average page that was looked at.
    """

    title: str = ""
    path: str = ""
    url: str = ""
    release: str = ""
    score: float = 0.0
    matched: Sequence[str] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)
    lifts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """Which pages were found, and how sure that is; `confidence` is None where this is not known any more.

    `level` says what they are: an answer (`sure`), the closest there is to one, or nothing.
    """

    confidence: float | None = None
    threshold: float = 0.0
    signs: Mapping[str, float] = field(default_factory=dict)
    open_parts: Sequence[str] = ()
    evidence: Sequence[PageTrace] = ()
    level: Level = "none"


@dataclass(frozen=True, slots=True)
class WrittenTrace:
    """Which model was to write the answer, by which prompts, how freely."""

    model: str = ""
    prompts: str = ""
    temperature: float = 0.0


@dataclass(slots=True)
class Trace:
    """What each stage did; what is None was not reached. Times are in milliseconds."""

    doubt: str | None = None
    """Why rules were in doubt of what a question means."""
    understood: UnderstoodTrace | None = None
    recalled: RecalledTrace | None = None
    found: FoundTrace | None = None
    again: Sequence[str] | None = None
    """What was searched for a second time, by the model's guess at the words of the documentation."""
    read: Sequence[int] | None = None
    """The numbers of the pages that the answer was to be written from."""
    written: WrittenTrace | None = None
    reasoning: str | None = None
    """How the model came to its answer, where it was asked to say so."""
    why: bool | None = None
    """Whether the reasoning was asked for."""
    false_premise: bool | None = None
    """Whether the question assumes what the evidence contradicts."""
    domain: str | None = None
    """What the question is about, where a labelled file taught domains; nothing is decided by it."""
    model_error: str | None = None
    unwritten: str | None = None
    """Why quotes stand in the place of the model's answer, in a few words, where that is told."""
    origin: str | None = None
    """Where a reused answer came from: `answer`, `person`, `import`."""
    offers: Sequence[str] | None = None
    further: Sequence[Mapping[str, str]] | None = None
    """Sections beside those that are quoted, by `title`, `url` and `path`; `text` is a sentence of one."""
    support: Mapping[str, float] | None = None
    """The score before any vote (`prior`) and its parts."""
    first_ms: float | None = None
    ms: float | None = None
    timings: Mapping[str, float] | None = None

    @property
    def queries(self) -> Queries:
        """Return the query forms; empty ones where there were none."""
        return self.understood.queries if self.understood else Queries("", "")

    @property
    def evidence(self) -> Sequence[PageTrace]:
        """Return the pages that were found."""
        return self.found.evidence if self.found else ()

    @property
    def steps(self) -> Mapping[str, str]:
        """Return who took each step before the answer: the model's name, or why rules did."""
        return self.understood.steps if self.understood else {}

    @property
    def calls(self) -> int:
        """Count the calls of the model: its steps before the answer, and the answer."""
        return len(self.steps) + (self.written is not None)

    @property
    def language(self) -> str:
        """Return the language of the question, as `de`; empty where it is not known."""
        return self.understood.language if self.understood else ""

    def as_dict(self) -> dict[str, Any]:
        """Return what is stored: plain JSON values under the names of the fields of every section."""
        stored: dict[str, Any] = {}
        for name in (entry.name for entry in fields(self)):
            value = getattr(self, name)
            if value is not None:
                stored |= _plain(value) if is_dataclass(value) else {name: _plain(value)}
        return stored

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Trace:
        """Read a stored record; what it lacks is None or empty, what nobody knows any more is left out."""
        trace = cls(**_known(cls, stored, but=tuple(_SECTIONS)))
        for name, section in _SECTIONS.items():
            if known := _known(section, stored):
                setattr(trace, name, section(**(known | _inner(known))))
        return trace


_SECTIONS: Mapping[str, type[Any]] = {
    "understood": UnderstoodTrace,
    "recalled": RecalledTrace,
    "found": FoundTrace,
    "written": WrittenTrace,
}


def _inner(known: Mapping[str, Any]) -> dict[str, Any]:
    """Read what is an object inside of a section."""
    read: dict[str, Any] = {}
    if "queries" in known:
        read["queries"] = Queries(**({"base": "", "filtered": ""} | _known(Queries, known["queries"] or {})))
    if known.get("resolution"):
        read["resolution"] = Resolution(
            **({"release": "", "origin": "latest"} | _known(Resolution, known["resolution"]))
        )
    if isinstance(known.get("steps"), list):  # older homes kept who took them alone
        read["steps"] = {str(number): by for number, by in enumerate(known["steps"], start=1)}
    for kind in ("high", "low"):
        if kind in known:
            read[kind] = [NearPair(**_known(NearPair, near)) for near in known[kind] or ()]
    if "evidence" in known:
        read["evidence"] = [PageTrace(**_known(PageTrace, page)) for page in known["evidence"] or ()]
    return read


def _known(what: type[Any], stored: Mapping[str, Any], but: Sequence[str] = ()) -> dict[str, Any]:
    """Return what is stored under the names of a dataclass's fields."""
    names = [entry.name for entry in fields(what) if entry.name not in but]
    return {name: stored[name] for name in names if name in stored}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: lists for tuples, the fields of a record by their names.

    `dataclasses.asdict` copies each text and number, too, and takes three times as long.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    kind: Any = type(value)
    names = _names(kind)
    return {name: _plain(getattr(value, name)) for name in names} if names is not None else value


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    return tuple(entry.name for entry in fields(kind)) if is_dataclass(kind) else None


def own_pair(answer_id: str) -> str:
    """Return the id of the pair that an answer becomes where it is new, and repeats none."""
    return f"p{answer_id[1:]}"
