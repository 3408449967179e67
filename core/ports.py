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

    `opinions` are the standing votes, one a voter, as (value, weight). `label` is the id a pair
    was imported under. `aside` says why a pair is in no store whatever its votes are, `uses` how
    often it was reused, `used_at` when last, in seconds since the epoch.
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
        """Return every pair that has a standing opinion or was brought by people, in order of id."""

    async def clear_placements(self) -> None:
        """Forget every placement, before a rebuild."""

    async def mark_stale(self, release: str, live_hashes: set[str]) -> int:
        """Mark pairs of a release that cite a page hash which is not live; return how many."""

    async def counts(self) -> dict[str, int]:
        """Return the numbers of answers, pairs, votes, and pairs in the high and low store."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed of a person: how much, which answers (of others too), and what they had asked."""

    questions: int
    pairs: int
    votes: int
    messages: int
    answers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


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

    async def last_claim(self, conversation: str) -> Claim | None:
        """Return the latest answered claim of a conversation."""

    async def reopen(self, message: str, payload: Mapping[str, Any], at: float) -> None:
        """Let a settled claim be answered anew, with a new payload, in the same messages."""
