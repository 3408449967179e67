"""Pages (context chunks), the search chunks of them, and the vectors of texts, in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from core.domain import ContextChunk, Vector
from core.ports import Place, SearchRow
from storage.database.database import Store
from storage.database.sqlite_file import read
from storage.tables import (
    ContextRow,
    CorpusDocumentRow,
    DocumentRow,
    PageViewRow,
    SearchRowTable,
    VectorRow,
    writable,
)
from storage.tables.columns import every, made, parts, slices

DOCUMENTS = 50
"""Documents whose chunks are read by one statement."""
_PAGES = """
SELECT c.id, d.path, d.title, c.heading, c.url, c.page, c.before, c.after, d.release, w.person
FROM context_chunks c JOIN documents d ON d.id = c.document_id
LEFT JOIN words w ON w.key = d.id AND w.kind = 'page' WHERE c.id IN ({})
"""
"""The fields of a page in their order, and one of its authors; a row for each of these."""
_VIEWS = "SELECT context_id, view FROM page_views WHERE context_id IN ({}) AND by = {}"


class SqlCorpusPages(Store):
    """What is read of documents' text in the `CorpusStore` port."""

    async def rows(self, release: str, document_ids: Sequence[str] | None = None) -> tuple[SearchRow, ...]:
        """Return the search chunks of the live corpus, or of the named documents."""
        statement = (
            select(
                SearchRowTable.id,
                SearchRowTable.context_id,
                SearchRowTable.document_id,
                DocumentRow.title,
                ContextRow.heading,
                SearchRowTable.text,
                SearchRowTable.embedded,
                SearchRowTable.text_hash,
                DocumentRow.path,
            )
            .join(ContextRow, ContextRow.id == SearchRowTable.context_id)
            .join(DocumentRow, DocumentRow.id == SearchRowTable.document_id)
            .order_by(SearchRowTable.document_id, SearchRowTable.position)
        )
        found: list[SearchRow] = []
        async with self._database.read() as connection:
            if document_ids is None:
                live = statement.join(
                    CorpusDocumentRow, CorpusDocumentRow.document_id == DocumentRow.id
                ).where(CorpusDocumentRow.release == release)
                found = await every(await connection.execute(live), _search_row)
            else:
                for part in slices(list(dict.fromkeys(document_ids)), DOCUMENTS):
                    some = statement.where(SearchRowTable.document_id.in_(part))
                    found += await every(await connection.execute(some), _search_row)
        return tuple(found)

    async def contexts(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        """Return context chunks by id."""
        return await self._database.look(partial(_contexts, ids)) if ids else {}

    async def pages_like(self, places: Sequence[Place]) -> dict[Place, dict[str, tuple[str, ...]]]:
        """Return the pages under each path and heading in every live corpus that has any, in order."""
        found: dict[Place, dict[str, tuple[str, ...]]] = {place: {} for place in places}
        if not places:
            return found
        wanted = {(writable(path), writable(heading)): (path, heading) for path, heading in places}
        statement = (
            select(DocumentRow.path, ContextRow.heading, CorpusDocumentRow.release, ContextRow.page)
            .join(CorpusDocumentRow, DocumentRow.id == CorpusDocumentRow.document_id)
            .join(ContextRow, ContextRow.document_id == DocumentRow.id)
            # not by pairs: SQLite takes three times as long for those
            .where(DocumentRow.path.in_({path for path, _ in wanted}))
            .where(ContextRow.heading.in_({heading for _, heading in wanted}))
            .order_by(CorpusDocumentRow.release, DocumentRow.source, ContextRow.position)
        )
        async with self._database.read() as connection:
            async for rows in parts(await connection.execute(statement)):
                for path, heading, release, page in rows:
                    if place := wanted.get((path, heading)):
                        found[place][release] = (*found[place].get(release, ()), page)
        return found

    async def page_hashes(self, release: str) -> set[str]:
        """Return the hashes of all pages of the live corpus (`ContextChunk.hash`)."""
        statement = (
            select(ContextRow.hash)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == ContextRow.document_id)
            .where(CorpusDocumentRow.release == release)
        )
        async with self._database.read() as connection:
            return set(await every(await connection.execute(statement), lambda row: row[0]))


def _contexts(ids: Sequence[str], connection: Connection) -> dict[str, ContextChunk]:
    """Read pages by id; people are told in the order of their names."""
    found: dict[str, ContextChunk] = {}
    people: dict[str, set[str]] = {}
    for part in slices(ids):
        for *page, person in read(connection, _PAGES, part):
            if person is not None:
                people.setdefault(page[0], set()).add(person)
            found.setdefault(page[0], ContextChunk(*page))
    return found | {key: replace(found[key], people=tuple(sorted(some))) for key, some in people.items()}


def _views(by: str, pages: Sequence[str], connection: Connection) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for part in slices(pages):
        found.update((key, view) for key, view in read(connection, _VIEWS, part, by))
    return found


def page_of(row: Any) -> ContextChunk:
    """Return the page of a row of `context_chunks` that has its document's path, title and release, too."""
    return made(ContextChunk, row, people=(), is_alike=False)


def _search_row(row: Any) -> SearchRow:
    chunk_id, context_id, document_id, title, heading, text, embedded, text_hash, path = row
    return SearchRow(chunk_id, context_id, document_id, f"{title} {heading}", text, embedded, text_hash, path)


class SqlTextVectors(Store):
    """The vectors in the `CorpusStore` port."""

    async def missing_vectors(self, encoder: str, hashes: Sequence[str], tokens: bool = False) -> set[str]:
        """Return the text hashes that have no vector by that encoder yet, or none of their `tokens`."""
        missing = set(hashes)
        kept = select(VectorRow.text_hash).where(VectorRow.encoder == encoder)
        if tokens:
            kept = kept.where(VectorRow.tokens.is_not(None))
        async with self._database.read() as connection:
            for part in slices(list(missing)):
                known = await connection.scalars(kept.where(VectorRow.text_hash.in_(part)))
                missing.difference_update(known)
        return missing

    async def put_vectors(
        self, encoder: str, vectors: Mapping[str, Vector], tokens: Mapping[str, bytes] | None = None
    ) -> None:
        """Keep vectors by the hash of their text, and what is given of their tokens."""
        if vectors:
            async with self._database.write() as connection:
                await self._database.keep_vectors(connection, encoder, vectors, tokens)

    async def vectors(self, encoder: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the kept vectors of those text hashes."""
        found = await self._kept(VectorRow.vector, encoder, hashes)
        return {key: np.frombuffer(blob, np.float32) for key, blob in found.items()}

    async def tokens(self, encoder: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept of the tokens of those texts, by hash."""
        return await self._kept(VectorRow.tokens, encoder, hashes)

    async def _kept(self, column: Any, encoder: str, hashes: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        if not hashes:
            return found
        kept = select(VectorRow.text_hash, column).where(VectorRow.encoder == encoder, column.is_not(None))
        async with self._database.read() as connection:
            for part in slices(list(dict.fromkeys(hashes))):
                rows = await connection.execute(kept.where(VectorRow.text_hash.in_(part)))
                found.update((key, blob) for key, blob in rows)
        return found


class SqlPageViews(Store):
    """The views of pages in the `CorpusStore` port; they go with their page."""

    async def missing_views(self, by: str, pages: Sequence[str]) -> set[str]:
        """Return the pages, by id, of which no view is kept under that name yet."""
        missing = set(pages)
        async with self._database.read() as connection:
            for part in slices(list(missing)):
                known = select(PageViewRow.context_id).where(PageViewRow.context_id.in_(part))
                missing.difference_update(await connection.scalars(known.where(PageViewRow.by == by)))
        return missing

    async def put_views(self, by: str, views: Mapping[str, bytes]) -> None:
        """Keep views by the id of their page; those of pages that are gone are left out."""
        async with self._database.write() as connection:
            for part in slices(list(views)):
                there = await connection.scalars(select(ContextRow.id).where(ContextRow.id.in_(part)))
                rows = [{"context_id": key, "by": by, "view": views[key]} for key in there]
                if rows:
                    insert = self._database.insert(PageViewRow)
                    same = ["context_id", "by"]
                    kept = insert.on_conflict_do_update(
                        index_elements=same, set_={"view": insert.excluded.view}
                    )
                    await connection.execute(kept, rows)

    async def views(self, by: str, pages: Sequence[str]) -> dict[str, bytes]:
        """Return the kept views of pages, by id."""
        return await self._database.look(partial(_views, by, pages)) if pages else {}


class SqlPassages(Store):
    """The `PassageStore` port on SQL."""

    async def text(self, release: str, page_hash: str) -> str:
        """Return the page with that hash (`ContextChunk.hash`) of a release; empty where it is gone."""
        statement = (
            select(ContextRow.page)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == ContextRow.document_id)
            .where(CorpusDocumentRow.release == release, ContextRow.hash == page_hash)
            .limit(1)
        )
        return await self._value(statement) or ""
