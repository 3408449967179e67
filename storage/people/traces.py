"""What explains answers names remembered questions; here they are taken out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.database.database import slices
from storage.tables import AnswerRow

PAIRS_AT_ONCE = 50
"""Pairs that one statement looks for in all traces."""


async def clean_traces(connection: AsyncConnection, pairs: set[str], *where: ColumnElement[bool]) -> None:
    """Take pairs out of what explains answers; `where` narrows down of which."""
    for some in slices(sorted(pairs), PAIRS_AT_ONCE):
        holds: list[ColumnElement[bool]] = [
            cast(AnswerRow.trace, Text).contains(key, autoescape=True) for key in some
        ]
        found = select(AnswerRow.id, AnswerRow.trace).where(or_(*holds), *where)
        for row in (await connection.execute(found)).all():
            # why one of them was not reused quotes words of its question
            trace = {**row.trace, "guard": ""} if row.trace.get("guard") else dict(row.trace)
            for kind in ("high", "low"):
                near: Sequence[dict[str, Any]] = trace.get(kind) or []
                trace[kind] = [entry for entry in near if entry.get("pair") not in pairs]
            await connection.execute(update(AnswerRow).where(AnswerRow.id == row.id).values(trace=trace))
