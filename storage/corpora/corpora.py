"""Documents, chunks and readings of sources in SQL; a corpus goes live in one transaction."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Select, delete, exists, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import aliased

from core.catalogue.tables import next_level
from core.domain import ChunkedDocument, content_hash
from core.errors import StorageError
from core.ports import Corpus, SourceRun, StoredDocument
from core.system.offload import aside
from core.text.words import window_hashes
from storage.corpora.pages import DOCUMENTS, SqlCorpusPages, SqlPageViews, SqlTextVectors
from storage.people.authorship import PAGE, Name, drop_orphans, keep_words
from storage.tables import (
    ContextRow,
    CorpusDocumentRow,
    CorpusRow,
    DocumentRow,
    PageViewRow,
    PairRow,
    PregeneratedDocumentRow,
    PregeneratedRow,
    SearchRowTable,
    SourceRunRow,
    VectorRow,
    writable,
)
from storage.tables.columns import SOME, every, made, slices, values_of


class SqlCorpora(SqlCorpusPages, SqlPageViews, SqlTextVectors):
    """The `CorpusStore` port on SQL: corpora and readings of sources here, pages and vectors beside it."""

    async def live(self) -> dict[str, Corpus]:
        """Return the live corpus of each release that has one."""
        rows = await self._rows(select(CorpusRow.__table__))
        return {row.release: made(Corpus, row) for row in rows}

    async def manifest(self, release: str) -> tuple[StoredDocument, ...]:
        """Return the documents of the live corpus of a release."""
        statement = (
            select(DocumentRow.id, DocumentRow.source, DocumentRow.path, DocumentRow.hash, DocumentRow.url)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == DocumentRow.id)
            .where(CorpusDocumentRow.release == release)
            .order_by(DocumentRow.source, DocumentRow.path)
        )
        async with self._database.read() as connection:
            return tuple(await every(await connection.execute(statement), lambda row: StoredDocument(*row)))

    async def put(self, release: str, document: ChunkedDocument) -> None:
        """Keep a document with its chunks, not yet live; the same id again changes nothing."""
        async with self._database.write() as connection:
            values = values_of(DocumentRow, document, release=release, at=time.time())
            new = await self._database.add(connection, DocumentRow, **values)
            people = map(Name, document.people)
            await keep_words(self._database, connection, PAGE, document.id, people)
            if not new:
                return
            contexts = await aside(len(document.contexts), _context_rows, document)
            searches = await aside(len(document.searches), _search_rows, document)
            for some in slices(contexts, SOME):
                await connection.execute(self._database.insert(ContextRow), some)
            for some in slices(searches, SOME):
                await connection.execute(self._database.insert(SearchRowTable), some)

    async def wrote(self, people: Mapping[str, Collection[str]]) -> None:
        """Note who wrote kept documents, by their ids: one-way names of people."""
        async with self._database.write() as connection:
            for key, names in people.items():
                await keep_words(self._database, connection, PAGE, key, map(Name, names))

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
            heirs = self._database.insert(PregeneratedDocumentRow).from_select(
                ["document_id", "by", "at", "pages"], _heirs(release)
            )
            await connection.execute(heirs.on_conflict_do_nothing())
            known = await _live(connection, release, DocumentRow, DocumentRow.id)
            if known < len(ids):
                raise StorageError(
                    f"{len(ids) - known} documents of {release} are gone from the database; run "
                    f"`threadlore index --release {release}` again."
                )
            chunks = await _live(connection, release, SearchRowTable, SearchRowTable.document_id)
            corpus = Corpus(release, encoder, (old or 0) + 1, time.time(), len(ids), chunks)
            values = values_of(CorpusRow, corpus)
            await connection.execute(
                self._database.insert(CorpusRow)
                .values(**values)
                .on_conflict_do_update(index_elements=["release"], set_=values)
            )
        return corpus

    async def remove(self, release: str) -> None:
        """Remove the live corpus of a release and how it was read; `sweep` removes its documents."""
        async with self._database.write() as connection:
            for table in (CorpusDocumentRow, CorpusRow, SourceRunRow):
                await connection.execute(delete(table).where(table.release == release))

    async def sweep(self, release: str) -> None:
        """Remove documents of a release that are not live, and vectors nobody uses."""
        live = exists().where(
            CorpusDocumentRow.document_id == DocumentRow.id, CorpusDocumentRow.release == release
        )
        used = exists().where(SearchRowTable.text_hash == VectorRow.text_hash)
        stay = select(DocumentRow.id).where((DocumentRow.release != release) | live)
        # nobody waits for this: pages come in the turn of the indexer alone
        windows = await self._windows(await self._values(stay))
        async with self._database.write() as connection:
            await connection.execute(delete(DocumentRow).where(DocumentRow.release == release, ~live))
            await drop_orphans(connection, PAGE, DocumentRow.id)
            corpora = [made(Corpus, row) for row in await connection.execute(select(CorpusRow.__table__))]
            old = PageViewRow.by.not_in({corpus.views for corpus in corpora})
            await connection.execute(delete(PageViewRow).where(old))
            # a pair finds its vector by the hash of its topic, which SQL cannot compute
            topics = await every(await connection.execute(select(PairRow.topic)), lambda row: row.topic)
            kept = await asyncio.to_thread(_hashes, topics)
            for column in (PregeneratedRow.question_hash, PregeneratedRow.answer_hash):
                kept.update(await every(await connection.execute(select(column)), lambda row: row[0]))
            for encoder in (await connection.scalars(select(VectorRow.encoder).distinct())).all():
                by_encoder = select(VectorRow.text_hash).where(VectorRow.encoder == encoder)
                searched = exists().where(CorpusRow.encoder == encoder)
                idle = await connection.execute(by_encoder.where(~used | ~searched))
                known = windows if await connection.scalar(select(searched)) else set[str]()
                unused = [key for key in await every(idle, lambda row: row[0]) if key not in kept]
                for part in slices([key for key in unused if key not in known]):
                    await connection.execute(
                        delete(VectorRow).where(VectorRow.encoder == encoder, VectorRow.text_hash.in_(part))
                    )

    async def _windows(self, document_ids: Sequence[str]) -> set[str]:
        """Return the hashes of the windows of these documents, read some at a time: they are large."""
        found: set[str] = set()
        pages = select(DocumentRow.title, ContextRow.heading, ContextRow.page).join_from(
            DocumentRow, ContextRow, DocumentRow.id == ContextRow.document_id
        )
        for some in slices(document_ids, DOCUMENTS):
            rows = await self._rows(pages.where(DocumentRow.id.in_(some)))
            found |= await asyncio.to_thread(_windows, rows)
        return found

    async def leftovers(self, release: str) -> int:
        """Count the documents of a release that are kept and not live: being built, or left by a cut."""
        live = exists().where(
            CorpusDocumentRow.document_id == DocumentRow.id, CorpusDocumentRow.release == release
        )
        kept = select(func.count()).select_from(DocumentRow).where(DocumentRow.release == release, ~live)
        async with self._database.read() as connection:
            return int((await connection.execute(kept)).scalar_one())

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
        rows = await self._rows(select(SourceRunRow.__table__))
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


async def _live(connection: AsyncConnection, release: str, table: Any, document_id: Any) -> int:
    """Return how many rows of a table belong to the live documents of a release."""
    rows = (
        select(func.count())
        .select_from(table)
        .join(CorpusDocumentRow, CorpusDocumentRow.document_id == document_id)
        .where(CorpusDocumentRow.release == release)
    )
    return int((await connection.execute(rows)).scalar_one())


def _heirs(release: str) -> Select[str, str, float, int]:
    """Select live documents that took another one's place, with who made that one's pairs."""
    old, new = aliased(DocumentRow), aliased(DocumentRow)
    live = select(CorpusDocumentRow.document_id).where(CorpusDocumentRow.release == release)
    same = (old.release == new.release) & (old.source == new.source) & (old.path == new.path)
    made = PregeneratedDocumentRow
    return (
        select(new.id, made.by, literal(time.time()), literal(0))
        .join(old, same)
        .join(made, made.document_id == old.id)
        .where(new.release == release, new.id.in_(live), old.id.not_in(live), made.by != "")
    )


def _context_rows(document: ChunkedDocument) -> list[dict[str, Any]]:
    return [
        values_of(
            ContextRow,
            chunk,
            document_id=document.id,
            position=position,
            # of what can be read back, since citations carry that hash
            hash=replace(chunk, path=writable(chunk.path), page=writable(chunk.page)).hash,
        )
        for position, chunk in enumerate(document.contexts)
    ]


def _search_rows(document: ChunkedDocument) -> list[dict[str, Any]]:
    return [
        values_of(
            SearchRowTable,
            chunk,
            document_id=document.id,
            position=position,
            text_hash=content_hash(chunk.embedded),
        )
        for position, chunk in enumerate(document.searches)
    ]


def _hashes(topics: Sequence[str]) -> set[str]:
    return {content_hash(topic) for topic in topics}


def _windows(pages: Sequence[Any]) -> set[str]:
    """Return the hashes of all windows of pages (title, heading, page)."""
    return {key for page in pages for key in window_hashes(*page)}
