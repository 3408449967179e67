"""The words of Threadlore: frozen values that every other file speaks in.

Imports nothing of the project. Vectors are float32 arrays of shape (dimensions,), of unit length.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Route = Literal["reuse", "reference", "avoid", "documents", "quote", "abstain"]
Store = Literal["high", "low"]
Format = Literal["markdown", "rst", "html", "pdf", "text"]
Standing = Literal["known", "asker", "helper", "early", "new", "flood"]
"""What a voter was when they voted; `core.memory.electorate` says how it is told and what each counts for."""
STRANGERS: tuple[Standing, ...] = ("early", "new", "flood")
"""Voters who vouch for nothing alone, or not as many of them as come."""


def content_hash(*parts: str) -> str:
    """Hash texts to 32 hexadecimal digits; the boundary between parts counts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


# --- conversation -----------------------------------------------------------------------------


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
        """Tell whether pairs may come from here; direct messages never enter memory."""
        return self.kind != "direct"

    def hears(self, other: str) -> bool:
        """Tell whether a pair whose scope key is `other` may be recalled here.

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

    `channel` is the platform's channel (the parent where the platform has thread channels),
    `thread` the conversation inside it (the root message's id), empty in a direct message that
    has no thread.
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
    """One earlier message of a conversation; `author` is a person's id, empty for the bot."""

    role: Literal["user", "assistant"]
    text: str
    author: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, by whom (`slack:U1`), where, and after what was said before."""

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


# --- releases ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Release:
    """One release of the product; `order` counts from the oldest."""

    name: str
    aliases: tuple[str, ...] = ()
    latest: bool = False
    order: int = 0
    lts: bool = False


@dataclass(frozen=True, slots=True)
class Product:
    """What the community talks about: its name, other names for it, and its releases, oldest first."""

    name: str
    aliases: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()
    glossary: dict[str, tuple[str, ...]] = field(default_factory=dict)
    language: str = "en"
    """The language that the documentation is written in."""

    @property
    def latest(self) -> Release:
        """Return the release that is marked latest, or the newest one."""
        return next((r for r in self.releases if r.latest), self.releases[-1])

    def release(self, name: str) -> Release | None:
        """Return the release of exactly that name, if there is one."""
        return next((r for r in self.releases if r.name == name), None)


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which release a question is about and how that was found.

    `named` holds every known release the question names, in its order; `unknown` the spellings
    that look like a release of this product but are none; `spans` the character ranges of all of
    them in the question's text.
    """

    release: str
    origin: Literal["given", "question", "thread", "channel", "latest"]
    named: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    comparison: bool = False


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


# --- documents --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as a source hands it over, before parsing.

    `path` is relative to the source's root; `root` is a folder on disk that includes may be read
    from (never outside of it) and `file` the document's own place there.
    """

    path: str
    url: str
    content: bytes
    format: Format
    root: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the text under it, as Markdown; `headings` runs from the outermost heading."""

    headings: tuple[str, ...]
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document: title, link without anchor, and sections in reading order."""

    path: str
    title: str
    url: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class ContextChunk:
    """What a model reads: a page with the neighbouring text before and after it (QAMR algorithm 1)."""

    id: str
    path: str
    title: str
    heading: str
    url: str
    page: str
    before: str = ""
    after: str = ""
    release: str = ""

    @property
    def text(self) -> str:
        """Return the page with its surroundings."""
        return "\n\n".join(part for part in (self.before, self.page, self.after) if part)

    @property
    def hash(self) -> str:
        """Hash what the page says, so that a changed page is noticed wherever it is cited."""
        return content_hash(self.path, self.page)


@dataclass(frozen=True, slots=True)
class SearchChunk:
    """What is embedded and searched; several lead to one context chunk.

    `text` is the passage itself, `embedded` the passage under its title and heading.
    """

    id: str
    context_id: str
    text: str
    embedded: str


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document cut both ways, with the hash of what it was cut from."""

    id: str
    hash: str
    source: str
    path: str
    title: str
    url: str
    contexts: tuple[ContextChunk, ...]
    searches: tuple[SearchChunk, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A search chunk found by one retriever for one query; a higher score is better."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A context chunk offered to the answer under a number; `matched` are the passages found in it."""

    number: int
    chunk: ContextChunk
    score: float
    matched: tuple[str, ...] = ()
    cosine: float = 0.0


# --- answers ----------------------------------------------------------------------------------


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
class Answer:
    """What is said, where it came from, and the trace that explains it."""

    id: str
    text: str
    route: Route
    release: str
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    queries: Queries = Queries("", "")
    confidence: float = 0.0
    pair_id: str = ""
    similarity: float = 0.0
    resolution: Resolution | None = None
    offers: tuple[str, ...] = ()
    """Names of other releases worth asking about."""
    timings_ms: dict[str, float] = field(default_factory=dict)
    trace: dict[str, Any] = field(default_factory=dict)


# --- memory -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's opinion on one answer: 1 for 👍, 0 for 👎, None when it is taken back.

    A taken-back vote may name in `withdraws` which of the two it was: the other one then stands
    again if it is still there. None takes back everything.
    """

    answer_id: str
    voter: str
    value: Literal[0, 1] | None
    withdraws: Literal[0, 1] | None = None
    at: datetime | None = None
    standing: Standing = "known"


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
    vector: Vector
    citations: tuple[Citation, ...] = ()
    stale: bool = False
    topic: str = ""
    label: str = ""
    origin: Literal["answer", "person", "import"] = "answer"
    language: str = "en"
    """The language that the answer is in."""


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Pairs of one partition around their centroid, the mean of their vectors."""

    id: int
    centroid: Vector
    members: tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class Triplet:
    """A fact as head, relation, tail."""

    head: str
    relation: str
    tail: str
