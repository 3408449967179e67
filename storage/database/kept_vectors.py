"""The vectors of texts, by encoder and the hash of the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import Vector
from storage.database.database import Database
from storage.tables import VectorRow


async def keep_vectors(
    database: Database,
    connection: AsyncConnection,
    encoder: str,
    vectors: Mapping[str, Vector],
    tokens: Mapping[str, bytes] | None = None,
) -> None:
    """Keep vectors by the hash of their text, and what is given of their tokens."""
    rows: list[dict[str, Any]] = [
        {"encoder": encoder, "text_hash": key, "vector": vector.astype(np.float32).tobytes()}
        for key, vector in sorted(vectors.items())  # two processes would wait for each other's rows
    ]
    if not rows:
        return
    insert = database.insert(VectorRow)
    kept = insert.on_conflict_do_nothing()
    if tokens:
        rows = [row | {"tokens": tokens.get(row["text_hash"])} for row in rows]
        same = ["encoder", "text_hash"]
        kept = insert.on_conflict_do_update(index_elements=same, set_={"tokens": insert.excluded.tokens})
    await connection.execute(kept, rows)
