"""Where documents come from, and where they, their passages and their indexes are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from core.domain import ChunkedDocument, ContextChunk, Hit, RawDocument, Vector, content_hash
from core.ports.models import Matrix


class Unread(str):
    """Why a document could not be read, which may be there all the same: what was read of it before stays."""

    __slots__ = ()


class Source(Protocol):
    """A place where documents lie, read again at every call."""

    name: str
    """Stable over runs and unique within a release: `sdist:flask==3.1.0/docs`."""

    def documents(self) -> Iterable[RawDocument]:
        """Yield each document; blocking, so call it in a worker thread.

        Raises `SourceError` where the place cannot be read or holds nothing. What is passed over
        (binary, too large, unreadable) is told in `skipped`.
        """

    @property
    def skipped(self) -> Sequence[tuple[str, str]]:
        """Return (path, reason) of what the last run passed over; a reason may be `Unread`.

        A path that ends in `/` is a folder, with all that lies in it; a page of a website has its address.
        """


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Whose words a source leaves out; each is given accounts as everywhere (`slack:U1`).

    `is_out` says who opted out. `forgotten` tells until when what an account wrote is left out, too, in
    seconds since the epoch. `one_way` gives the name under which an account is told as the author of a
    document.
    """

    is_out: Callable[[str], bool]
    forgotten: Callable[[str], float]
    one_way: Callable[[str], str]


@runtime_checkable
class PeoplesSource(Protocol):
    """A source of what people said: it yields nothing of those who are left out.

    Where `asks` is False, the next run goes by what was read before, and puts it back to True. `withheld`
    counts messages that the last run left out, so that nothing left is no failure; nor is it where the
    source `may_be_empty`.
    """

    asks: bool
    withheld: int
    may_be_empty: bool

    def heed(self, people: LeftOut) -> None:
        """Leave these people out of every reading from now on; called before the first one.

        Kinds of sources are opened all alike, so only those that read people's words are told.
        """

    def withhold(self) -> None:
        """Take what these people wrote out of what is kept for the next reading; blocking. Raises OSError."""


@runtime_checkable
class PlacedSource(Protocol):
    """A source whose place can be looked for: on the network, which may be away, or on this machine."""

    name: str

    def reach(self, seconds: float) -> None:
        """Ask whether the place of the source is there, for so many seconds; blocking.

        Raises SourceAway where it does not answer now, SourceError where it never will as it is described.
        What needs no network any more is there. No document is read.
        """


VIEWS = "3"
"""Raised when `index_terms`, `windows` or the form of kept views changes: they are made again."""


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

    @property
    def views(self) -> str:
        """Name what is kept of its pages for the second look: of one encoder, in one form."""
        return f"{VIEWS}-{content_hash(self.encoder)}"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of a corpus: which source it came from and the hash of its content."""

    id: str
    source: str
    path: str
    hash: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A search chunk as indexes need it; `title` holds the document's title and the heading.

    `path` is the document's.
    """

    id: str
    context_id: str
    document_id: str
    title: str
    text: str
    embedded: str
    text_hash: str
    path: str = ""


Place = tuple[str, str]
"""Path and heading: where pages of several releases are about the same."""


class CorpusStore(Protocol):
    """Keeps documents, chunks and vectors; indexes are rebuilt from it without embedding."""

    async def live(self) -> dict[str, Corpus]:
        """Return the live corpus of each release that has one."""

    async def manifest(self, release: str) -> tuple[StoredDocument, ...]:
        """Return the documents of the live corpus of a release."""

    async def put(self, release: str, document: ChunkedDocument) -> None:
        """Keep a document with its chunks, not yet live; the same id again changes nothing."""

    async def wrote(self, people: Mapping[str, Collection[str]]) -> None:
        """Note who wrote kept documents, by their ids: one-way names of people."""

    async def missing_vectors(self, encoder: str, hashes: Sequence[str], tokens: bool = False) -> set[str]:
        """Return the text hashes that have no vector by that encoder yet, or none of their `tokens`."""

    async def put_vectors(
        self, encoder: str, vectors: Mapping[str, Vector], tokens: Mapping[str, bytes] | None = None
    ) -> None:
        """Keep vectors by the hash of their text, and what is given of their tokens."""

    async def tokens(self, encoder: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept of the tokens of those texts, by hash (`core.retrieval.features`)."""

    async def vectors(self, encoder: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the kept vectors of those text hashes."""

    async def missing_views(self, by: str, pages: Sequence[str]) -> set[str]:
        """Return the pages, by id, of which no view is kept under that name (`Corpus.views`) yet."""

    async def put_views(self, by: str, views: Mapping[str, bytes]) -> None:
        """Keep views by the id of their page; those of pages that are gone are left out."""

    async def views(self, by: str, pages: Sequence[str]) -> dict[str, bytes]:
        """Return the kept views of pages, by id."""

    async def rows(self, release: str, document_ids: Sequence[str] | None = None) -> tuple[SearchRow, ...]:
        """Return the search chunks of the live corpus, or of the named documents."""

    async def swap(self, release: str, document_ids: Sequence[str], encoder: str) -> Corpus:
        """Make exactly these documents the live corpus, in one transaction."""

    async def remove(self, release: str) -> None:
        """Remove the live corpus of a release and how it was read; `sweep` removes its documents."""

    async def sweep(self, release: str) -> None:
        """Remove documents of a release that are not live, and vectors nobody uses."""

    async def leftovers(self, release: str) -> int:
        """Count the documents of a release that are kept and not live: being built, or left by a cut."""

    async def contexts(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        """Return context chunks by id."""

    async def pages_like(self, places: Sequence[Place]) -> dict[Place, dict[str, tuple[str, ...]]]:
        """Return the pages under each path and heading in every live corpus that has any, in order."""

    async def page_hashes(self, release: str) -> set[str]:
        """Return the hashes of all pages of the live corpus (`ContextChunk.hash`)."""

    async def note_run(
        self,
        release: str,
        source: str,
        error: str,
        skipped: Sequence[tuple[str, str]],
        changed: bool | None = None,
    ) -> None:
        """Write down how reading a source went; an empty error is success.

        `changed` says whether its documents were others than before, None where there is no telling.
        """

    async def runs(self) -> tuple[SourceRun, ...]:
        """Return the last run of every source of every release."""


BUILD = "index"
"""In place of a source in a `SourceRun`: how the last building of a corpus of what was read went."""


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
    level: int = 0
    """How often it was found changed (`core.catalogue.tables.next_level`)."""


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
    """Finds texts by BM25 over `core.text.words.index_terms`, one collection a corpus."""

    async def upsert(self, collection: str, entries: Sequence[tuple[str, str, str]]) -> None:
        """Put (id, title, text) entries."""

    async def replace(self, collection: str, entries: Sequence[tuple[str, str, str]]) -> None:
        """Put exactly these (id, title, text) entries; nothing of others is left, in no file either."""

    async def has_remains(self, collection: str) -> bool:
        """Return True if words of what was removed may still stand in files."""

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are no error. Their words may stay in files until `replace`."""

    async def search(self, collection: str, terms: Sequence[str], k: int) -> list[Hit]:
        """Return up to k hits with their BM25 score, best first."""

    async def find(
        self, collection: str, queries: Sequence[Sequence[str]], k: int
    ) -> tuple[list[list[Hit]], dict[str, float]]:
        """Return for each query what `search` does, and what `rarity` does of all their terms."""

    async def holding(self, collection: str, terms: Sequence[str], k: int) -> list[str]:
        """Return up to k ids of entries whose title or text has each of the terms; none without terms."""

    async def rarity(self, collection: str, terms: Sequence[str]) -> dict[str, float]:
        """Return each term's inverse document frequency, ln(1 + (N - n + .5) / (n + .5)); of bridges 0."""

    async def ids(self, collection: str) -> set[str]:
        """Return all ids of a collection; empty when there is no such collection."""

    async def drop(self, collection: str) -> None:
        """Remove a collection; an unknown one is no error."""

    async def collections(self) -> set[str]:
        """Return the names of all collections."""

    def close(self) -> None:
        """Release files and threads."""


class PassageStore(Protocol):
    """Finds pages of live corpora by what they say."""

    async def text(self, release: str, page_hash: str) -> str:
        """Return the page with that hash (`ContextChunk.hash`) of a release; empty where it is gone."""


@dataclass(frozen=True, slots=True)
class Indexes:
    """Where corpora are kept and searched: their store, and both indexes of it."""

    store: CorpusStore
    vectors: VectorIndex
    words: WordIndex
