"""Vectors in SQL, by encoder and the hash of their text: indexes are rebuilt from them without embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import select

from core.domain import Vector
from storage.database.database import Database, slices
from storage.tables import VectorRow


class SqlTextVectors:
    """The vectors in the `CorpusStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
