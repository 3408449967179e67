"""Documents, chunks and vectors in SQL; a corpus goes live in one transaction."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import delete, exists, func, select

from core.domain import ChunkedDocument, ContextChunk, Vector, content_hash
from core.errors import StorageError
from core.ports import Corpus, Place, SearchRow, SourceRun, StoredDocument
from core.schedule import next_level
from core.windows import window_hashes
from storage.database import Database, slices
from storage.tables import (
    ContextRow,
    CorpusDocumentRow,
    CorpusRow,
    DocumentRow,
    PairRow,
    PregeneratedRow,
    SearchRowTable,
    SourceRunRow,
    VectorRow,
    writable,
)


class SqlCorpora:
    """The `CorpusStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def live(self) -> dict[str, Corpus]:
        """Return the live corpus of each release that has one."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(CorpusRow.__table__))).all()
        return {row.release: _corpus(row) for row in rows}

    async def manifest(self, release: str) -> tuple[StoredDocument, ...]:
        """Return the documents of the live corpus of a release."""
        statement = (
            select(DocumentRow.id, DocumentRow.source, DocumentRow.path, DocumentRow.hash)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == DocumentRow.id)
            .where(CorpusDocumentRow.release == release)
            .order_by(DocumentRow.source, DocumentRow.path)
        )
        async with self._database.read() as connection:
            return tuple(StoredDocument(*row) for row in await connection.execute(statement))

    async def stored(self, document_ids: Sequence[str]) -> set[str]:
        """Return which of the documents are kept already, live or being built."""
        found: set[str] = set()
        async with self._database.read() as connection:
            for part in slices(document_ids):
                found.update(await connection.scalars(select(DocumentRow.id).where(DocumentRow.id.in_(part))))
        return found

    async def put(self, release: str, document: ChunkedDocument) -> None:
        """Keep a document with its chunks, not yet live; the same id again changes nothing."""
        async with self._database.write() as connection:
            new = await self._database.add(
                connection,
                DocumentRow,
                id=document.id,
                release=release,
                source=document.source,
                path=document.path,
                title=document.title,
                url=document.url,
                hash=document.hash,
                at=time.time(),
            )
            if not new:
                return
            contexts = [
                {
                    "id": chunk.id,
                    "document_id": document.id,
                    "position": position,
                    "heading": chunk.heading,
                    "url": chunk.url,
                    "page": chunk.page,
                    "before": chunk.before,
                    "after": chunk.after,
                    # of what can be read back, since citations carry that hash
                    "hash": replace(chunk, path=writable(chunk.path), page=writable(chunk.page)).hash,
                }
                for position, chunk in enumerate(document.contexts)
            ]
            searches = [
                {
                    "id": chunk.id,
                    "context_id": chunk.context_id,
                    "document_id": document.id,
                    "position": position,
                    "text": chunk.text,
                    "embedded": chunk.embedded,
                    "text_hash": content_hash(chunk.embedded),
                }
                for position, chunk in enumerate(document.searches)
            ]
            if contexts:
                await connection.execute(self._database.insert(ContextRow), contexts)
            if searches:
                await connection.execute(self._database.insert(SearchRowTable), searches)

    async def missing_vectors(self, encoder: str, hashes: Sequence[str]) -> set[str]:
        """Return the text hashes that have no vector by that encoder yet."""
        missing = set(hashes)
        async with self._database.read() as connection:
            for part in slices(list(missing)):
                missing.difference_update(
                    await connection.scalars(
                        select(VectorRow.text_hash).where(
                            VectorRow.encoder == encoder, VectorRow.text_hash.in_(part)
                        )
                    )
                )
        return missing

    async def put_vectors(self, encoder: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by the hash of their text."""
        rows = [
            {"encoder": encoder, "text_hash": key, "vector": vector.astype(np.float32).tobytes()}
            for key, vector in vectors.items()
        ]
        if rows:
            async with self._database.write() as connection:
                await connection.execute(self._database.insert(VectorRow).on_conflict_do_nothing(), rows)

    async def vectors(self, encoder: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the kept vectors of those text hashes."""
        found: dict[str, Vector] = {}
        async with self._database.read() as connection:
            for part in slices(list(dict.fromkeys(hashes))):
                rows = await connection.execute(
                    select(VectorRow.text_hash, VectorRow.vector).where(
                        VectorRow.encoder == encoder, VectorRow.text_hash.in_(part)
                    )
                )
                found.update((key, np.frombuffer(blob, np.float32)) for key, blob in rows)
        return found

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
                found += [_search_row(row) for row in await connection.execute(live)]
            else:
                for part in slices(list(dict.fromkeys(document_ids))):
                    some = statement.where(SearchRowTable.document_id.in_(part))
                    found += [_search_row(row) for row in await connection.execute(some)]
        return tuple(found)

    async def swap(self, release: str, document_ids: Sequence[str], encoder: str) -> Corpus:
        """Make exactly these documents the live corpus, in one transaction."""
        ids = list(dict.fromkeys(document_ids))
        async with self._database.write() as connection:
            old = (
                await connection.execute(select(CorpusRow.generation).where(CorpusRow.release == release))
            ).scalar()
            await connection.execute(delete(CorpusDocumentRow).where(CorpusDocumentRow.release == release))
            for part in slices(ids):
                await connection.execute(
                    self._database.insert(CorpusDocumentRow),
                    [{"release": release, "document_id": key} for key in part],
                )
            known = (
                await connection.execute(
                    select(func.count())
                    .select_from(CorpusDocumentRow)
                    .join(DocumentRow, DocumentRow.id == CorpusDocumentRow.document_id)
                    .where(CorpusDocumentRow.release == release)
                )
            ).scalar_one()
            if known < len(ids):
                raise StorageError(
                    f"{len(ids) - known} documents of {release} are gone from the database; run "
                    f"`threadlore index --release {release}` again."
                )
            chunks = (
                await connection.execute(
                    select(func.count())
                    .select_from(SearchRowTable)
                    .join(CorpusDocumentRow, CorpusDocumentRow.document_id == SearchRowTable.document_id)
                    .where(CorpusDocumentRow.release == release)
                )
            ).scalar_one()
            corpus = Corpus(release, encoder, (old or 0) + 1, time.time(), len(ids), chunks)
            values = {
                "encoder": encoder,
                "generation": corpus.generation,
                "built_at": corpus.built_at,
                "documents": corpus.documents,
                "chunks": corpus.chunks,
            }
            await connection.execute(
                self._database.insert(CorpusRow)
                .values(release=release, **values)
                .on_conflict_do_update(index_elements=["release"], set_=values)
            )
        return corpus

    async def sweep(self, release: str) -> None:
        """Remove documents of a release that are not live, and vectors nobody uses."""
        live = exists().where(
            CorpusDocumentRow.document_id == DocumentRow.id, CorpusDocumentRow.release == release
        )
        used = exists().where(SearchRowTable.text_hash == VectorRow.text_hash)
        async with self._database.write() as connection:
            await connection.execute(delete(DocumentRow).where(DocumentRow.release == release, ~live))
            # a pair finds its vector by the hash of its topic, which SQL cannot compute
            kept = {content_hash(topic) for topic in await connection.scalars(select(PairRow.topic))}
            for column in (PregeneratedRow.question_hash, PregeneratedRow.answer_hash):
                kept.update(await connection.scalars(select(column)))
            pages = select(DocumentRow.title, ContextRow.heading, ContextRow.page).join(
                DocumentRow, DocumentRow.id == ContextRow.document_id
            )
            looked_at = [(title, heading, page) for title, heading, page in await connection.execute(pages)]
            windows = await asyncio.to_thread(_windows, looked_at)
            for encoder in (await connection.scalars(select(VectorRow.encoder).distinct())).all():
                by_encoder = select(VectorRow.text_hash).where(VectorRow.encoder == encoder)
                searched = exists().where(CorpusRow.encoder == encoder)
                unused = set(await connection.scalars(by_encoder.where(~used | ~searched))) - kept
                if await connection.scalar(select(searched)):
                    unused -= windows
                for part in slices(list(unused)):
                    await connection.execute(
                        delete(VectorRow).where(VectorRow.encoder == encoder, VectorRow.text_hash.in_(part))
                    )

    async def leftovers(self, release: str) -> int:
        """Count the documents of a release that are kept and not live: being built, or left by a cut."""
        live = exists().where(
            CorpusDocumentRow.document_id == DocumentRow.id, CorpusDocumentRow.release == release
        )
        kept = select(func.count()).select_from(DocumentRow).where(DocumentRow.release == release, ~live)
        async with self._database.read() as connection:
            return int((await connection.execute(kept)).scalar_one())

    async def contexts(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        """Return context chunks by id."""
        statement = select(
            ContextRow.__table__, DocumentRow.path, DocumentRow.title, DocumentRow.release
        ).join(DocumentRow, DocumentRow.id == ContextRow.document_id)
        found: dict[str, ContextChunk] = {}
        async with self._database.read() as connection:
            for part in slices(ids):
                for row in await connection.execute(statement.where(ContextRow.id.in_(part))):
                    found[row.id] = ContextChunk(
                        id=row.id,
                        path=row.path,
                        title=row.title,
                        heading=row.heading,
                        url=row.url,
                        page=row.page,
                        before=row.before,
                        after=row.after,
                        release=row.release,
                    )
        return found

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
            for path, heading, release, page in await connection.execute(statement):
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
            return set(await connection.scalars(statement))

    async def note_run(
        self,
        release: str,
        source: str,
        error: str,
        skipped: Sequence[tuple[str, str]],
        changed: bool | None = None,
    ) -> None:
        """Write down how reading a source went; an empty error is success."""
        now = time.time()
        async with self._database.write() as connection:
            old = (
                await connection.execute(
                    select(SourceRunRow.succeeded_at, SourceRunRow.failures, SourceRunRow.level).where(
                        SourceRunRow.release == release, SourceRunRow.source == source
                    )
                )
            ).first()
            level = old.level if old else 0
            values = {
                "at": now,
                "level": level if changed is None else next_level(level, changed),
                "succeeded_at": (old.succeeded_at if old else 0.0) if error else now,
                "failures": (old.failures if old else 0) + 1 if error else 0,
                "error": error,
                "skipped": [list(entry) for entry in skipped],
            }
            await connection.execute(
                self._database.insert(SourceRunRow)
                .values(release=release, source=source, **values)
                .on_conflict_do_update(index_elements=["release", "source"], set_=values)
            )

    async def runs(self) -> tuple[SourceRun, ...]:
        """Return the last run of every source of every release."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(SourceRunRow.__table__))).all()
        return tuple(
            SourceRun(
                row.release,
                row.source,
                row.at,
                row.succeeded_at,
                row.failures,
                row.error,
                tuple((path, reason) for path, reason in row.skipped),
                row.level,
            )
            for row in rows
        )


def _corpus(row: Any) -> Corpus:
    return Corpus(row.release, row.encoder, row.generation, row.built_at, row.documents, row.chunks)


def _windows(pages: Sequence[tuple[str, str, str]]) -> set[str]:
    """Return the hashes of all windows of pages (title, heading, page)."""
    return {key for page in pages for key in window_hashes(*page)}


def _search_row(row: Any) -> SearchRow:
    chunk_id, context_id, document_id, title, heading, text, embedded, text_hash = row
    return SearchRow(chunk_id, context_id, document_id, f"{title} {heading}", text, embedded, text_hash)
