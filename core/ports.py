"""What the engine needs from outside, as Protocols; each has a fake and a contract suite.

What does I/O is async. Ids are content hashes, so that repeating a call changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain import (
    Answer,
    ChunkedDocument,
    Citation,
    ContextChunk,
    Evidence,
    Hit,
    MessageRef,
    Question,
    RawDocument,
    Store,
    Vector,
    Vote,
    content_hash,
)

Matrix = NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    name: str
    """Fingerprint: the model's name and what changes its vectors."""
    dimensions: int
    max_tokens: int
    """Tokens of one text that count; what is longer is cut off."""

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, special ones included, uncut."""

    def forget(self) -> None:
        """Drop the remembered vectors of short calls, so that the next call computes."""

    def close(self) -> None:
        """Release threads and memory."""


class Reranker(Protocol):
    """Judges passages for a question by reading both together (a cross-encoder)."""

    name: str

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one score in 0..1 for each passage; higher is better."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message to the language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """What is known of the model server: `ready`, or `problem` with a sentence on what to do."""

    ready: bool
    problem: str = ""
    model: str = ""
    version: str = ""


class LanguageModel(Protocol):
    """Writes text. Calls raise the `ModelError`s of `core.errors`."""

    name: str
    context_tokens: int
    """Size of the context window (`num_ctx`); prompt and answer share it."""

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text, never too few."""

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        """Yield the answer piece by piece."""

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the JSON schema, at temperature 0."""

    async def health(self) -> ModelHealth:
        """Ask the server whether the model could answer now; never raises."""


class Listener(Protocol):
    """Hears how an answer comes about, to show it while it grows."""

    async def sources(self, release: str, evidence: Sequence[Evidence]) -> None:
        """Hear which pages the answer will rest on, best first."""

    async def text(self, markdown: str) -> None:
        """Hear the whole text so far."""


class Source(Protocol):
    """A place where documents lie, read anew at every call."""

    name: str
    """Stable over runs and unique within a release: `sdist:flask==3.1.0/docs`."""

    def documents(self) -> Iterable[RawDocument]:
        """Yield each document; blocking, so call it in a worker thread.

        Raises `SourceError` where the place cannot be read or holds nothing. What is passed over
        (binary, too large, unreadable) is told in `skipped`.
        """

    @property
    def skipped(self) -> Sequence[tuple[str, str]]:
        """Return (path, reason) of what the last run passed over."""


# --- corpora ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Corpus:
    """The live corpus of a release: by which encoder it is searched, and how large it is.

    `built_at` is in seconds since the epoch; `collection` names its indexes.
    """

    release: str
    encoder: str
    generation: int
    built_at: float
    documents: int
    chunks: int

    @property
    def collection(self) -> str:
        """Name the corpus in vector and word indexes: one collection a release and encoder."""
        return f"corpus-{content_hash(self.release, self.encoder)}"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of a corpus: which source it came from and the hash of its content."""

    id: str
    source: str
    path: str
    hash: str


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A search chunk as indexes need it; `title` holds the document's title and the heading."""

    id: str
    context_id: str
    document_id: str
    title: str
    text: str
    embedded: str
    text_hash: str


Place = tuple[str, str]
"""Path and heading: where pages of several releases are about the same."""


class CorpusStore(Protocol):
    """Keeps documents, chunks and vectors; indexes are rebuilt from it without embedding."""

    async def live(self) -> dict[str, Corpus]:
        """Return the live corpus of each release that has one."""

    async def manifest(self, release: str) -> tuple[StoredDocument, ...]:
        """Return the documents of the live corpus of a release."""

    async def stored(self, document_ids: Sequence[str]) -> set[str]:
        """Return which of the documents are kept already, live or being built."""

    async def put(self, release: str, document: ChunkedDocument) -> None:
        """Keep a document with its chunks, not yet live; the same id again changes nothing."""

    async def missing_vectors(self, encoder: str, hashes: Sequence[str]) -> set[str]:
        """Return the text hashes that have no vector by that encoder yet."""

    async def put_vectors(self, encoder: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by the hash of their text."""

    async def vectors(self, encoder: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the kept vectors of those text hashes."""

    async def rows(self, release: str, document_ids: Sequence[str] | None = None) -> tuple[SearchRow, ...]:
        """Return the search chunks of the live corpus, or of the named documents."""

    async def swap(self, release: str, document_ids: Sequence[str], encoder: str) -> Corpus:
        """Make exactly these documents the live corpus, in one transaction."""

    async def sweep(self, release: str) -> None:
        """Remove documents of a release that are not live, and vectors nobody uses."""

    async def contexts(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        """Return context chunks by id."""

    async def pages_like(self, places: Sequence[Place]) -> dict[Place, dict[str, tuple[str, ...]]]:
        """Return the pages under each path and heading in every live corpus that has any, in order."""

    async def page_hashes(self, release: str) -> set[str]:
        """Return the hashes of all pages of the live corpus (`ContextChunk.hash`)."""

    async def note_run(
        self, release: str, source: str, error: str, skipped: Sequence[tuple[str, str]]
    ) -> None:
        """Write down how reading a source went; an empty error is success."""

    async def runs(self) -> tuple[SourceRun, ...]:
        """Return the last run of every source of every release."""


@dataclass(frozen=True, slots=True)
class SourceRun:
    """How the last reading of a source went; times in seconds since the epoch."""

    release: str
    source: str
    at: float
    succeeded_at: float
    failures: int
    error: str
    skipped: tuple[tuple[str, str], ...]


class VectorIndex(Protocol):
    """Finds near vectors by cosine, one collection a corpus."""

    async def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        """Put vectors under their ids."""

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are no error."""

    async def search(self, collection: str, queries: Matrix, k: int) -> list[list[Hit]]:
        """Return for each row of `queries` up to k hits with their cosine, best first."""

    async def ids(self, collection: str) -> set[str]:
        """Return all ids of a collection; empty when there is no such collection."""

    async def drop(self, collection: str) -> None:
        """Remove a collection; an unknown one is no error."""

    async def collections(self) -> set[str]:
        """Return the names of all collections."""

    def close(self) -> None:
        """Release files and threads."""


class WordIndex(Protocol):
    """Finds texts by BM25 over `core.text.index_terms`, one collection a corpus."""

    async def upsert(self, collection: str, entries: Sequence[tuple[str, str, str]]) -> None:
        """Put (id, title, text) entries."""

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are no error."""

    async def search(self, collection: str, terms: Sequence[str], k: int) -> list[Hit]:
        """Return up to k hits with their BM25 score, best first."""

    async def rarity(self, collection: str, terms: Sequence[str]) -> dict[str, float]:
        """Return each term's inverse document frequency, ln(1 + (N - n + .5) / (n + .5))."""

    async def ids(self, collection: str) -> set[str]:
        """Return all ids of a collection; empty when there is no such collection."""

    async def drop(self, collection: str) -> None:
        """Remove a collection; an unknown one is no error."""

    async def collections(self) -> set[str]:
        """Return the names of all collections."""

    def close(self) -> None:
        """Release files and threads."""


# --- memory -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Remembered:
    """A pair as it is kept, whether or not votes have placed it in a store.

    `opinions` are the standing votes of people who are known, one a voter, as (value, weight);
    `strangers` those of people who are not yet, as (value, weight, whether nobody was known then).
    `label` is the id a pair was imported under, `channel` where it was learnt (`slack:C1`). `aside`
    says why a pair is in no store whatever its votes are, `uses` how often it was reused, `used_at`
    when last, in seconds since the epoch.
    """

    id: str
    question: str
    topic: str
    answer: str
    release: str
    scope: str
    prior: float
    created_at: float
    citations: tuple[Citation, ...] = ()
    origin: Literal["answer", "person", "import"] = "answer"
    label: str = ""
    asker: str = ""
    stale: bool = False
    opinions: tuple[tuple[int, float], ...] = ()
    aside: Literal["", "retired", "evicted"] = ""
    uses: int = 0
    used_at: float = 0.0
    channel: str = ""
    strangers: tuple[tuple[int, float, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """Where votes have put a pair: its score, its store, its cluster.

    `shadowed_by` names the better pair of the same store that is as close as δ; such a pair is
    in no cluster and is not recalled.
    """

    pair_id: str
    store: Store
    score: float
    cluster: int | None = None
    shadowed_by: str = ""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What one vote changes in the derived tables, written together with the vote."""

    placements: tuple[Placement, ...] = ()
    removed: tuple[str, ...] = ()


class MemoryStore(Protocol):
    """Keeps answers, pairs and votes. Votes are events; placements are derived from them."""

    async def save_answer(self, answer: Answer, question: Question, pair: Remembered | None) -> None:
        """Keep an answer with its trace, and the neutral pair it may become.

        An answer that reuses a pair counts as a use of it, once.
        """

    async def add(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought; return the ids that were new. A known id changes nothing."""

    async def set_aside(self, ids: Sequence[str], why: Literal["", "retired", "evicted"]) -> None:
        """Write down why pairs are in no store, or with nothing that votes decide again."""

    async def answer(self, answer_id: str) -> dict[str, Any] | None:
        """Return a kept answer as a dictionary of its columns, or None."""

    async def pair(self, pair_id: str) -> Remembered | None:
        """Return a pair with its standing opinions, or None."""

    async def pairs(self, ids: Sequence[str]) -> dict[str, Remembered]:
        """Return pairs by id with their standing opinions."""

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Append a vote event; return the pair it counts for, with the opinions after it.

        A pair that was evicted is no longer so. None where the answer is unknown or has no pair.
        """

    async def place(self, change: MemoryChange) -> None:
        """Write derived placements."""

    async def placements(self) -> tuple[tuple[Placement, Remembered], ...]:
        """Return every placed pair with its placement, in order of id."""

    async def voted(self) -> tuple[Remembered, ...]:
        """Return every pair that has a standing vote or was brought by people, in order of id."""

    async def clear_placements(self) -> None:
        """Forget every placement, before a rebuild."""

    async def mark_stale(self, release: str, live_hashes: set[str], built_at: float | None = None) -> int:
        """Mark pairs of a release that cite a page hash which is not live; return how many are so anew.

        Of a pair that compares releases each is judged by its own corpus. What cites only live pages
        again is stale no more. What was marked since `built_at` is not marked once more.
        """

    async def move(self, channel: str, before: str, after: str) -> tuple[str, ...]:
        """Give pairs learnt in a channel another scope, where it was `before`; return their ids.

        In the same transaction their placements go, and so do their questions from what explains
        answers that the new scope does not hear. A pair that becomes public has no channel any more.
        """

    async def counts(self) -> dict[str, int]:
        """Return the numbers of answers, pairs, votes, and pairs in the high and low store."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """A question that got the answer of a remembered pair, as memory compares it (`topic`).

    `opinions` are the standing votes of known people on that one answer, as (value, weight); `at` is in
    seconds since the epoch.
    """

    answer_id: str
    topic: str
    asker: str
    at: float
    opinions: tuple[tuple[int, float], ...] = ()


class RewordingStore(Protocol):
    """Knows for which questions pairs were reused, and what people voted there."""

    async def rewordings(self, ids: Sequence[str]) -> dict[str, tuple[Reworded, ...]]:
        """Return by pair the questions of its own scope that got its answer, with votes that stand.

        Those of the answer that the pair was made of are among them. Unknown ids and pairs without any
        are left out.
        """


@dataclass(frozen=True, slots=True)
class StalePair:
    """A pair whose evidence changed, as it waits to be looked at or for an admin.

    `releases` are those whose pages it cites and that changed, `marked_at` when that was last seen
    and `checked_at` when the pair was last looked at, in seconds since the epoch. `finding` says why
    it could not be renewed; `proposal` is what would be answered now, "" where there is nothing.
    """

    pair: Remembered
    releases: tuple[str, ...]
    marked_at: float
    checked_at: float = 0.0
    finding: str = ""
    proposal: str = ""
    proposed: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """Pairs of one store of one release: how many are recalled, and how many wait behind a better one."""

    release: str
    store: Store
    kept: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Census:
    """How large memory is, and how it grew: `days` holds (UTC day since the epoch, pairs since stored)."""

    stores: tuple[Stored, ...] = ()
    days: tuple[tuple[int, int], ...] = ()


class UpkeepStore(Protocol):
    """Looks after stale pairs, and counts what is stored."""

    async def stale(self, limit: int = 0) -> tuple[StalePair, ...]:
        """Return stale pairs that stand in the high store, in order of id; a limit of 0 is none."""

    async def unchecked(self, limit: int) -> tuple[StalePair, ...]:
        """Return those of them that were not looked at since they were marked, the longest waiting first."""

    async def found(
        self, seen: StalePair, finding: str, proposal: str, proposed: Sequence[Citation], at: float
    ) -> bool:
        """Write down why a pair was not renewed; False where it was marked again or is gone."""

    async def renew(self, seen: StalePair, answer: str, citations: Sequence[Citation]) -> bool:
        """Make a pair current again; False where it was marked again since it was `seen`, or is gone."""

    async def census(self) -> Census:
        """Count placed pairs by release and store, and by the day on which they were made."""

    async def broken(self) -> list[str]:
        """Return a sentence for each pair whose marks contradict each other."""


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """What is known of a voter when they vote; times in seconds since the epoch.

    `first_seen` is their first question or vote (0 for none), `contributions` how many questions they
    asked and pairs they voted on. `events` are their votes within the last hour; of the same hour
    `voters` counts the people who voted on the pair, `strangers` those of them whom nobody knows.
    """

    first_seen: float = 0.0
    contributions: int = 0
    events: int = 0
    voters: int = 0
    strangers: int = 0


@dataclass(frozen=True, slots=True)
class VoteEvent:
    """A vote as it was written down, without its words."""

    pair_id: str
    answer_id: str
    voter: str
    standing: str
    at: float


class VoterStore(Protocol):
    """Knows how long people have been about."""

    async def acquaintance(self, accounts: Collection[str], pair_id: str, since: float) -> Acquaintance:
        """Return what is known of the person behind the accounts; `since` begins the last hour."""

    async def anybody_known(self, before: float, contributions: int) -> bool:
        """Tell whether anybody was seen before that time and voted on so many pairs."""

    async def by_strangers(self, since: float) -> tuple[VoteEvent, ...]:
        """Return the votes of strangers since then, oldest first."""

    async def link(self, people: Mapping[str, Sequence[str]]) -> int:
        """Count votes of a person's accounts as the person's from now on; return how many were not."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed of a person: how much, which answers (of others too), and what they had asked."""

    questions: int
    pairs: int
    votes: int
    messages: int
    answers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    pair_ids: frozenset[str] = frozenset()


class PersonStore(Protocol):
    """Forgets people."""

    async def forget(self, accounts: Collection[str], voters: Collection[str]) -> Forgotten:
        """Remove what accounts asked and `voters` voted, and all that was made of it."""

    async def scrub(self) -> None:
        """Overwrite what was removed; raises StorageError where that cannot be done now."""


# --- conversations ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """A question that was taken from a platform.

    `message` is the message's key, `payload` what dispatch needs to answer it after a restart,
    `parts` the messages that the reply takes, `at` seconds since the epoch.
    """

    message: str
    conversation: str
    asker: str
    at: float
    payload: dict[str, Any] = field(default_factory=dict)
    parts: tuple[MessageRef, ...] = ()
    answer_id: str = ""


class ConversationStore(Protocol):
    """Remembers which events were taken, and which message carries which answer."""

    async def claim(self, claim: Claim, event: str = "") -> bool:
        """Take a message once and for all; False when it or its event was taken before."""

    async def taken(self, event: str) -> bool:
        """Tell whether an event was taken before."""

    async def claimed(self, message: str) -> Claim | None:
        """Return the claim of a message."""

    async def posted(self, message: str, parts: Sequence[MessageRef]) -> None:
        """Note the messages that a reply takes, first before anything is said in them."""

    async def answered(self, message: str, answer_id: str) -> None:
        """Note that a claim is settled with this answer; an empty id settles it without one."""

    async def unanswered(self, since: float) -> tuple[Claim, ...]:
        """Return claims younger than `since` that were never settled, oldest first."""

    async def answer_of(self, part: str) -> str:
        """Return the id of the answer that a posted message carries; empty when there is none."""

    async def claim_of(self, answer_id: str) -> Claim | None:
        """Return the claim that was settled with that answer."""

    async def last_claim(self, conversation: str) -> Claim | None:
        """Return the latest answered claim of a conversation."""

    async def reopen(self, message: str, payload: Mapping[str, Any], at: float) -> None:
        """Let a settled claim be answered anew, with a new payload, in the same messages."""
