"""Question/answer pairs made of documents, in SQL; they go with their document."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import ContextChunk
from core.ports import PairCount, PregeneratedPair, refusal_of
from storage.corpora.pages import page_of
from storage.database.database import Store
from storage.tables import (
    ContextRow,
    CorpusDocumentRow,
    DocumentRow,
    PregeneratedDocumentRow,
    PregeneratedRow,
    RefusedPairRow,
    writable,
)
from storage.tables.columns import made, values_of


class SqlPregenerated(Store):
    """The `PregeneratedStore` port on SQL."""

    async def made_by(self, release: str) -> dict[str, str]:
        """Return who made the pairs of each document of the live corpus, or has begun or is to make them, by
        its id and in the order of paths; "" for nobody yet.
        """
        statement = (
            select(DocumentRow.id, func.coalesce(PregeneratedDocumentRow.by, ""))
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == DocumentRow.id)
            .outerjoin(PregeneratedDocumentRow, PregeneratedDocumentRow.document_id == DocumentRow.id)
            .where(CorpusDocumentRow.release == release)
            .order_by(DocumentRow.source, DocumentRow.path)
        )
        return {row[0]: row[1] for row in await self._rows(statement)}

    async def unfinished(self, release: str) -> dict[str, int]:
        """Return how many pages are done of each document that is not done as a whole, by its id."""
        done = PregeneratedDocumentRow.pages
        statement = (
            select(PregeneratedDocumentRow.document_id, done)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == PregeneratedDocumentRow.document_id)
            .where(CorpusDocumentRow.release == release, done.is_not(None))
        )
        return {row[0]: int(row[1] or 0) for row in await self._rows(statement)}

    async def pages(self, document_id: str) -> tuple[tuple[ContextChunk, ...], float]:
        """Return the pages of a document in order, and when it was first read; nothing for an unknown one."""
        statement = (
            select(
                ContextRow.__table__,
                DocumentRow.path,
                DocumentRow.title,
                DocumentRow.release,
                DocumentRow.at,
            )
            .join(DocumentRow, DocumentRow.id == ContextRow.document_id)
            .where(DocumentRow.id == document_id)
            .order_by(ContextRow.position)
        )
        rows = await self._rows(statement)
        return tuple(page_of(row) for row in rows), float(rows[0].at) if rows else 0.0

    async def put(
        self,
        document_id: str,
        by: str,
        pairs: Sequence[PregeneratedPair],
        of: Collection[str] | None = None,
        done: int | None = None,
    ) -> None:
        """Keep the pairs of a document in place of those it had, or that the pages `of` it had, by their ids;
        note that `by` has done it, or its first `done` pages.
        """
        old = delete(PregeneratedRow).where(PregeneratedRow.document_id == document_id)
        noted = {"by": by, "at": time.time(), "pages": done}
        async with self._database.write() as connection:
            known = select(DocumentRow.id).where(DocumentRow.id == document_id)
            if (await connection.execute(known)).first() is None:
                return
            await connection.execute(old if of is None else old.where(PregeneratedRow.context_id.in_(of)))
            refused = await _refused(connection, {pair.refusal for pair in pairs})
            kept = [_readable(pair) for pair in pairs if pair.refusal not in refused]
            rows = [_values(pair, position) for position, pair in enumerate(kept)]
            if rows:
                await connection.execute(self._database.insert(PregeneratedRow), rows)
            await connection.execute(
                self._database.insert(PregeneratedDocumentRow)
                .values(document_id=document_id, **noted)
                .on_conflict_do_update(index_elements=["document_id"], set_=noted)
            )

    async def refuse(self, asked: Collection[tuple[str, str]]) -> int:
        """Remove the pairs with these (path of a document, question), in every release, and never keep them
        again; return how many are removed.
        """
        keys = {refusal_of(*one) for one in asked}
        same = (
            select(PregeneratedRow.id, PregeneratedRow.question, DocumentRow.path)
            .join(DocumentRow, DocumentRow.id == PregeneratedRow.document_id)
            .where(DocumentRow.path.in_({path for path, _ in asked}))
        )
        async with self._database.write() as connection:
            new = keys - await _refused(connection, keys)
            if new:
                rows = [{"key": key, "at": time.time()} for key in new]
                await connection.execute(self._database.insert(RefusedPairRow), rows)
            there = await connection.execute(same)
            gone = [row.id for row in there if refusal_of(row.path, row.question) in keys]
            await connection.execute(delete(PregeneratedRow).where(PregeneratedRow.id.in_(gone)))
        return len(gone)

    async def allow(self, asked: Collection[tuple[str, str]]) -> int:
        """Take back refusals, and let these documents be done again; return how many were refused."""
        documents = select(DocumentRow.id).where(DocumentRow.path.in_({path for path, _ in asked}))
        async with self._database.write() as connection:
            refused = await _refused(connection, {refusal_of(*one) for one in asked})
            await connection.execute(delete(RefusedPairRow).where(RefusedPairRow.key.in_(refused)))
            if refused:
                undone = update(PregeneratedDocumentRow).values(by="", pages=None)
                await connection.execute(undone.where(PregeneratedDocumentRow.document_id.in_(documents)))
        return len(refused)

    async def pairs(self, release: str) -> tuple[PregeneratedPair, ...]:
        """Return the pairs of the live corpus, by document and in their order."""
        statement = (
            select(
                PregeneratedRow.__table__,
                ContextRow.url,
                DocumentRow.title,
                DocumentRow.path,
                DocumentRow.at,
                PregeneratedDocumentRow.by,
            )
            .join(DocumentRow, DocumentRow.id == PregeneratedRow.document_id)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == DocumentRow.id)
            .join(ContextRow, ContextRow.id == PregeneratedRow.context_id)
            .join(PregeneratedDocumentRow, PregeneratedDocumentRow.document_id == DocumentRow.id)
            .where(CorpusDocumentRow.release == release)
            .order_by(DocumentRow.source, DocumentRow.path, ContextRow.position, PregeneratedRow.position)
        )
        return tuple(_pair(row) for row in await self._rows(statement))

    async def count(self, release: str, by: str) -> PairCount:
        """Return how far `by` is with the live corpus."""
        live = CorpusDocumentRow.release == release
        documents = select(func.count()).select_from(CorpusDocumentRow).where(live)
        done = (
            select(func.count())
            .select_from(PregeneratedDocumentRow)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == PregeneratedDocumentRow.document_id)
            .where(live, PregeneratedDocumentRow.by == by, PregeneratedDocumentRow.pages.is_(None))
        )
        pairs = (
            select(func.count())
            .select_from(PregeneratedRow)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == PregeneratedRow.document_id)
            .where(live)
        )
        async with self._database.read() as connection:
            all_, made, kept = [
                (await connection.execute(one)).scalar_one() for one in (documents, done, pairs)
            ]
        return PairCount(release, by, all_, made, kept)


async def _refused(connection: AsyncConnection, keys: Collection[str]) -> set[str]:
    """Return which of these refusals are kept."""
    return set(await connection.scalars(select(RefusedPairRow.key).where(RefusedPairRow.key.in_(keys))))


def _readable(pair: PregeneratedPair) -> PregeneratedPair:
    """Return a pair as it will be read back, so that its hashes are those of what is kept."""
    return replace(
        pair,
        question=writable(pair.question),
        answer=writable(pair.answer),
        title=writable(pair.title),
        category=writable(pair.category),
    )


def _values(pair: PregeneratedPair, position: int) -> dict[str, Any]:
    asked, told = pair.hashes
    return values_of(PregeneratedRow, pair, position=position, question_hash=asked, answer_hash=told)


def _pair(row: Any) -> PregeneratedPair:
    return made(PregeneratedPair, row, date=row.at)
