"""What is asked and said, where, who may hear it, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Evidence, Resolution, single_spaced


@dataclass(frozen=True, slots=True)
class Scope:
    """Who may hear what was said: everyone, one private channel, or nobody else.

    `platform` is where a listener sits; it matters where platforms do not share what they learn.
    """

    kind: Literal["public", "private", "direct"] = "public"
    channel: str = ""
    platform: str = ""

    @property
    def key(self) -> str:
        """Name the memory partition: `public`, `private:slack:C1`, `direct:slack:D1`."""
        return self.kind if self.kind == "public" else f"{self.kind}:{self.channel}"

    @property
    def remembered(self) -> bool:
        """Return True if pairs may come from here; direct messages never enter memory."""
        return self.kind != "direct"

    def hears(self, other: str) -> bool:
        """Return True if a pair whose scope key is `other` may be recalled here.

        `public@slack` is for everyone on Slack, where platforms do not share.
        """
        if other.startswith("public@"):
            return self.platform in ("", other.partition("@")[2])
        return other == "public" or (self.kind == "private" and other == self.key)

    @classmethod
    def parse(cls, key: str) -> Scope:
        """Read a scope back from its key."""
        match key.partition(":"):
            case ("private" | "direct") as kind, ":", channel:
                return cls(kind, channel)
            case _:
                return cls()


@dataclass(frozen=True, slots=True)
class MessageRef:
    """Where a message stands.

    `channel` is the platform's channel (the parent where the platform has thread channels), `thread` the
    conversation inside it (the root message's id), empty in a direct message that has no thread.
    """

    platform: str
    channel: str
    message: str
    thread: str = ""

    @property
    def channel_key(self) -> str:
        """Name the channel as `corpora.toml` does: `slack:C0123`."""
        return f"{self.platform}:{self.channel}"

    @property
    def conversation(self) -> str:
        """Name the conversation: one thread, or the whole of a direct channel."""
        return f"{self.platform}:{self.channel}:{self.thread}"

    @property
    def key(self) -> str:
        """Name the message uniquely over all platforms."""
        return f"{self.platform}:{self.channel}:{self.message}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation; `author` is a person's id, empty for the bot.

    `at` is in seconds since the epoch, 0 where nobody knows. Of the bot's, `message` and `last` are the keys
    of its first and last message, `authors` the accounts whose words it may repeat. Texts are single spaced.
    """

    role: Literal["user", "assistant"]
    text: str
    author: str = ""
    release: str = ""
    at: float = 0.0
    authors: tuple[str, ...] = ()
    message: str = ""
    last: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", single_spaced(self.text))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, by whom (`slack:U1`), where, and after what was said before; single spaced."""

    text: str
    asker: str = ""
    channel: str = ""
    scope: Scope = Scope()
    history: tuple[Turn, ...] = ()
    release: str = ""
    """A release that the caller fixes; empty to resolve it from the words."""
    language: str = ""
    """The language it is asked in, as `de`; empty where nobody found out, which counts as English."""
    unasked: bool = False
    """Whether nobody asked the bot: it answers only where it is sure, and else keeps nothing of it."""
    authors: tuple[str, ...] = ()
    """The accounts whose words `text` holds, where they are not the asker's alone."""
    after: str = ""
    """The release for which the same question was answered, where it is asked again for another one."""
    fresh: bool = False
    """Whether it is answered from the pages alone, because a remembered answer was to another question."""
    why: bool = False
    """Whether the reasoning is asked for, too, which only a model has."""
    since: float = 0.0  # when it got in line and had this scope, in seconds since the epoch; 0 for now

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", single_spaced(self.text))


Level = Literal["sure", "close", "none"]
"""What was found: an answer, the closest there is to one, or nothing near."""


@dataclass(frozen=True, slots=True)
class Queries:
    """The three query forms of QAMR step 1, and the parts of a composite question.

    `base` stands alone; `filtered` has no stop words; `versionless` has no release either and is
    empty where no release was named. `parts` has one entry per part, just `base` where there is
    one. `topic` is `base` without release and product names, the form that memory compares.
    """

    base: str
    filtered: str
    versionless: str = ""
    parts: tuple[str, ...] = ()
    topic: str = ""
    rewritten: bool = False
    carried: tuple[str, ...] = ()
    """Words of the thread that one of the searches takes along; no part of what is asked."""


Route = Literal["reuse", "reference", "avoid", "documents", "quote", "calculation", "abstain"]


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


Vector = NDArray[np.float32]
"""Of shape (dimensions,) and unit length."""
Store = Literal["high", "low"]
Standing = Literal["known", "asker", "helper", "early", "new", "flood", "reader"]
"""What a voter was when they voted; `memory.scoring` tells it, and what each counts for."""
STRANGERS: tuple[Standing, ...] = ("early", "new", "flood")
"""Voters who vouch for nothing alone, or not as many of them as come."""
READER: Standing = "reader"
"""Somebody without an account, on a website: figures and gaps count their votes, memory never does."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's opinion on one answer: 1 for 👍, 0 for 👎, None when it is taken back.

    A taken-back vote may name in `withdraws` which of the two it was: the other one then stands again if it
    is still there. None takes back everything. `by_reaction` tells that an emoji under the answer stands for
    it. `said_at` is when, by the platform's clock, or 0: what comes after a later one of the same hand
    changes nothing. Nor does what was read there, if its voter voted since vote number `until`.
    """

    answer_id: str
    voter: str
    value: Literal[0, 1] | None
    withdraws: Literal[0, 1] | None = None
    at: datetime | None = None
    standing: Standing = "known"
    by_reaction: bool = False
    said_at: float = 0.0
    until: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class QAPair:
    """A remembered question and answer with its score, release and scope.

    `topic` is the form of the question that memory compares, `label` the id it was imported under.
    """

    id: str
    question: str
    answer: str
    release: str
    scope: str
    score: float
    citations: tuple[Citation, ...] = ()
    stale: bool = False
    topic: str = ""
    label: str = ""
    origin: Literal["answer", "person", "import"] = "answer"
    language: str = "en"
    """The language that the answer is in."""
    voices: int = 0
    """How many people found it good."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What memory says to a question: a route, and the pairs with their similarities, best first."""

    route: Literal["reuse", "reference", "avoid"]
    high: tuple[tuple[QAPair, float], ...] = ()
    low: tuple[tuple[QAPair, float], ...] = ()
    guard: str = ""
    """Why the nearest pair was not reused although it was near enough; empty otherwise."""
    decided: str = ""
    """How near it was and how near it had to be, in plain words; empty where memory knows nothing near."""
    foreign: tuple[QAPair, float] | None = None
    """The pair that would be reused if its answer were in the language of the question."""
    nearly: tuple[QAPair, float] | None = None
    """What people brought that is only just not near enough, and nothing else keeps from being reused."""
    denied: frozenset[str] = frozenset()
    """Those of the bad pairs whose answer is not to be given again: their question is this very one."""
