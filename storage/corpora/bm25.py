"""BM25 by tantivy, one folder a corpus; derived from SQL at any time.

Terms are cut by `core.text.words.index_terms`, so tantivy only splits at spaces.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import tantivy

from core.domain import Hit
from core.system.private_files import private_folder, set_aside
from core.text.words import TERMS_VERSION, index_terms
from core.vocabulary.writing_systems import bridges
from storage.database.sqlite_file import storage_error

log = logging.getLogger(__name__)

T = TypeVar("T")
WRITER_BYTES = 32_000_000
SPELT_LETTERS, SPELT_MOST = 4, 24
"""Letters of a word that is searched with one letter wrong where the corpus does not have it; one of 12,000
letters took 15 s.
"""
SPELT_TERMS = 32
"""Words of one search that are looked for in that way."""
MOST_TERMS = 128
"""Terms of one search: of more, as a pasted log has them, the rarest that the corpus has."""
TITLE_WEIGHT = 0.5
"""Weight of a term in title or heading beside the same term in the text."""


def _opened(folder: Path) -> list[Path]:
    """Make the folder of the index, and return what lies in the one above.

    What is somebody else's, or no folder, is set aside: the index is rebuilt from SQL. Raises OSError.
    """
    for again in (True, False):
        try:
            private_folder(folder)
            list(folder.iterdir())
            return list(folder.parent.iterdir())
        except (PermissionError, FileExistsError, NotADirectoryError) as error:
            aside = set_aside(folder.parent) if again else None
            if aside is None:
                raise
            log.warning("the word index cannot be used (%s); set aside as %s", error.strerror, aside)
    raise AssertionError("unreachable")


class TantivyWords:
    """The `WordIndex` port on tantivy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / f"terms-{TERMS_VERSION}"
        for other in _opened(self._folder):  # indexed under other terms: rebuilt from SQL
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("title", tokenizer_name="spaces")
        builder.add_text_field("text", tokenizer_name="spaces")
        self._schema = builder.build()
        self._open: dict[str, tantivy.Index] = {}
        self._opening = threading.Lock()
        self._searching = ThreadPoolExecutor(2, thread_name_prefix="tantivy")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="tantivy-write")

    async def upsert(self, collection: str, entries: Sequence[tuple[str, str, str]]) -> None:
        """Put (id, title, text) entries."""

        def put(writer: tantivy.IndexWriter) -> None:
            for key, title, text in entries:
                writer.delete_documents_by_term("id", key)
                writer.add_document(_document(key, title, text))

        await self._write(collection, put)

    async def replace(self, collection: str, entries: Sequence[tuple[str, str, str]]) -> None:
        """Put exactly these (id, title, text) entries; nothing of others is left, in no file either.

        What is removed stays in a segment's dictionary until that is rewritten.
        """

        def put(writer: tantivy.IndexWriter) -> None:
            writer.delete_all_documents()
            for entry in entries:
                writer.add_document(_document(*entry))

        await self._write(collection, put, create=bool(entries))
        # the files of segments that a search had open go only now
        await self._write(collection, lambda writer: writer.garbage_collect_files(), create=False)

    async def has_remains(self, collection: str) -> bool:
        """Return True if words of what was removed may still stand in files."""

        def read() -> bool:
            told = self._folder / collection / "meta.json"
            segments = json.loads(told.read_text(encoding="utf-8"))["segments"] if told.exists() else []
            return any(segment.get("deletes") for segment in segments)

        return await asyncio.get_running_loop().run_in_executor(self._writing, read)

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are no error. Their words may stay in files until `replace`."""

        def remove(writer: tantivy.IndexWriter) -> None:
            for key in ids:
                writer.delete_documents_by_term("id", key)

        await self._write(collection, remove, create=False)

    async def search(self, collection: str, terms: Sequence[str], k: int) -> list[Hit]:
        """Return up to k hits with their BM25 score, best first."""
        return await self._read(collection, lambda index: self._best(index.searcher(), terms, k), [])

    async def find(
        self, collection: str, queries: Sequence[Sequence[str]], k: int
    ) -> tuple[list[list[Hit]], dict[str, float]]:
        """Return for each query what `search` does, and what `rarity` does of all their terms."""
        every = list(dict.fromkeys(term for terms in queries for term in terms))

        def find(index: tantivy.Index) -> tuple[list[list[Hit]], dict[str, float]]:
            searcher = index.searcher()
            return [self._best(searcher, terms, k) for terms in queries], _rarity(searcher, every)

        return await self._read(collection, find, ([[] for _ in queries], dict.fromkeys(every, 0.0)))

    async def holding(self, collection: str, terms: Sequence[str], k: int) -> list[str]:
        """Return up to k ids of entries whose title or text has each of the terms, best first."""

        def read(index: tantivy.Index) -> list[str]:
            clauses = [
                tantivy.Query.boolean_query(
                    [(tantivy.Occur.Should, self._near(field, term)) for field in ("text", "title")]
                )
                for term in terms
            ]
            if not clauses:
                return []
            searcher = index.searcher()
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, clause) for clause in clauses])
            found = searcher.search(query, k, count=False)
            return [searcher.doc(address)["id"][0] for _, address in found.hits]

        return await self._read(collection, read, [])

    def _best(self, searcher: tantivy.Searcher, terms: Sequence[str], k: int) -> list[Hit]:
        if not terms:
            return []
        clauses = []
        counts = {term: searcher.doc_freq("text", term) for term in terms}
        unknown = [term for term in terms if not counts[term] and _plain(term)][:SPELT_TERMS]
        for term in _rarest(terms, counts, unknown):
            near = self._misspelt if term in unknown else self._near
            clauses += [
                (tantivy.Occur.Should, near("text", term)),
                (tantivy.Occur.Should, tantivy.Query.boost_query(near("title", term), TITLE_WEIGHT)),
            ]
        found = searcher.search(tantivy.Query.boolean_query(clauses), k, count=False)
        return [Hit(searcher.doc(address)["id"][0], score) for score, address in found.hits]

    def _near(self, field: str, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, term)

    def _misspelt(self, field: str, term: str) -> tantivy.Query:
        """Find what differs from the term by one letter, or by two that changed places."""
        return tantivy.Query.fuzzy_term_query(self._schema, field, term, 1, True, False)

    async def rarity(self, collection: str, terms: Sequence[str]) -> dict[str, float]:
        """Return each term's inverse document frequency, ln(1 + (N - n + .5) / (n + .5))."""
        nothing = dict.fromkeys(terms, 0.0)
        return await self._read(collection, lambda index: _rarity(index.searcher(), terms), nothing)

    async def ids(self, collection: str) -> set[str]:
        """Return all ids of a collection; empty when there is no such collection."""

        def read(index: tantivy.Index) -> set[str]:
            searcher = index.searcher()
            found = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs))
            return {searcher.doc(address)["id"][0] for _, address in found.hits}

        return await self._read(collection, read, set())

    async def drop(self, collection: str) -> None:
        """Remove a collection; an unknown one is no error."""

        def remove() -> None:
            with self._opening:
                self._open.pop(collection, None)
                shutil.rmtree(self._folder / collection, ignore_errors=True)

        await asyncio.get_running_loop().run_in_executor(self._writing, remove)

    async def collections(self) -> set[str]:
        """Return the names of all collections."""
        return {path.name for path in self._folder.iterdir() if path.is_dir()}

    def close(self) -> None:
        """Release files and threads."""
        self._writing.shutdown(wait=True)
        self._searching.shutdown(wait=True)
        self._open.clear()

    def _index(self, collection: str, create: bool = False) -> tantivy.Index | None:
        with self._opening:
            return self._opened(collection, create)

    def _opened(self, collection: str, create: bool) -> tantivy.Index | None:
        if collection in self._open:
            return self._open[collection]
        place = self._folder / collection
        if not create and not place.exists():
            return None
        place.mkdir(exist_ok=True)
        try:
            index = tantivy.Index(self._schema, path=str(place))
        except ValueError:  # torn by a crash: it is rebuilt from SQL
            shutil.rmtree(place)
            place.mkdir()
            index = tantivy.Index(self._schema, path=str(place))
        spaces = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("spaces", spaces)
        self._open[collection] = index
        return index

    async def _read(self, collection: str, work: Callable[[tantivy.Index], T], nothing: T) -> T:
        def run() -> T:
            index = self._index(collection)
            if index is None:
                return nothing
            try:
                return work(index)
            except (ValueError, OSError):
                if self._open.get(collection) is index:
                    raise
                return nothing  # dropped since it was opened

        return await asyncio.get_running_loop().run_in_executor(self._searching, run)

    async def _write(
        self, collection: str, work: Callable[[tantivy.IndexWriter], None], create: bool = True
    ) -> None:
        def run() -> None:
            try:
                index = self._index(collection, create)
                if index is None:
                    return
                writer = index.writer(WRITER_BYTES, 1)
                try:
                    work(writer)
                    writer.commit()
                finally:
                    writer.wait_merging_threads()  # lets go of the lock on the folder
                index.reload()
            except (ValueError, OSError) as error:
                raise storage_error(error, "The word index") from error

        await asyncio.get_running_loop().run_in_executor(self._writing, run)


def _document(key: str, title: str, text: str) -> tantivy.Document:
    return tantivy.Document(
        id=[key], title=[" ".join(index_terms(title))], text=[" ".join(index_terms(text))]
    )


def _rarity(searcher: tantivy.Searcher, terms: Sequence[str]) -> dict[str, float]:
    total = searcher.num_docs
    counts = {term: min(searcher.doc_freq("text", term), total) for term in terms}
    empty = bridges(terms, counts)
    return {
        term: 0.0 if term in empty else math.log1p((total - n + 0.5) / (n + 0.5))
        for term, n in counts.items()
    }


def _plain(term: str) -> bool:
    return term.isalpha() and SPELT_LETTERS <= len(term) <= SPELT_MOST


def _rarest(terms: Sequence[str], counts: Mapping[str, int], spelt: Sequence[str]) -> Sequence[str]:
    """Return the terms in their order, of too many the rarest ones that there are, and those to be spelt."""
    if len(terms) <= MOST_TERMS:
        return terms
    rare = sorted((term for term in counts if counts[term]), key=lambda term: counts[term])
    kept = {*rare[:MOST_TERMS], *spelt}
    return [term for term in terms if term in kept]
