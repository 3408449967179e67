"""Pages of live corpora, found by what they say."""

from __future__ import annotations

from sqlalchemy import select

from storage.database.database import Database
from storage.tables import ContextRow, CorpusDocumentRow


class SqlPassages:
    """The `PassageStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def text(self, release: str, page_hash: str) -> str:
        """Return the page with that hash (`ContextChunk.hash`) of a release; empty where it is gone."""
        statement = (
            select(ContextRow.page)
            .join(CorpusDocumentRow, CorpusDocumentRow.document_id == ContextRow.document_id)
            .where(CorpusDocumentRow.release == release, ContextRow.hash == page_hash)
            .limit(1)
        )
        async with self._database.read() as connection:
            return await connection.scalar(statement) or ""
