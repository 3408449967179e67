"""Everything that the tables hold of one person, as rows to be shown to them."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from core.privacy.names import Names
from storage.people.authorship import names_of
from storage.people.personal import STANDS, rows_of
from storage.tables import AuthorRow, EscalationRow, EventRow, PairRow, WordsRow


async def held_of(
    connection: AsyncConnection, accounts: Collection[str], names: Names
) -> dict[str, list[dict[str, Any]]]:
    """Return by section the rows of a person, the latest first; sections without any are left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for stand in STANDS:
        rows = await rows_of(connection, stand, accounts, names)
        found[stand.section] = [dict(row._mapping) for row in rows]
    found["answers of theirs"] = await _authored(connection, accounts)
    found["asked for help"] = await _asked(connection, accounts)
    found["words elsewhere"] = await _elsewhere(connection, accounts, names)
    found["events"] = [{"event": event} for event in await events_of(connection, accounts)]
    return {section: rows for section, rows in found.items() if rows}


async def events_of(connection: AsyncConnection, accounts: Collection[str]) -> list[str]:
    """Return the events whose id names one of the accounts."""
    ids = {account.rpartition(":")[2] for account in accounts}
    events = await connection.scalars(select(EventRow.event))
    return [event for event in events if ids & set(event.split(":"))]


async def _authored(connection: AsyncConnection, accounts: Collection[str]) -> list[dict[str, Any]]:
    """Return the answers that they wrote and that are remembered in their name."""
    columns = (PairRow.id, PairRow.created_at, PairRow.question, PairRow.answer, PairRow.citations)
    written = select(*columns).join(AuthorRow, AuthorRow.pair_id == PairRow.id)
    written = written.where(AuthorRow.person.in_(accounts)).order_by(PairRow.created_at.desc())
    rows = [dict(row._mapping) for row in await connection.execute(written)]
    for row in rows:
        row["cited_as"] = [entry["title"] for entry in row.pop("citations")]
    return rows


async def _asked(connection: AsyncConnection, accounts: Collection[str]) -> list[dict[str, Any]]:
    """Return the questions that were put to them."""
    columns = (EscalationRow.message, EscalationRow.at, EscalationRow.people)
    rows = await connection.execute(select(*columns).order_by(EscalationRow.at.desc()))
    return [{"message": row.message, "at": row.at} for row in rows if set(row.people) & set(accounts)]


async def _elsewhere(
    connection: AsyncConnection, accounts: Collection[str], names: Names
) -> list[dict[str, Any]]:
    """Return which rows of others hold words of theirs; what else these say is not theirs to see."""
    known = await names_of(connection, accounts, names)
    rows = await connection.execute(select(WordsRow.__table__).where(WordsRow.person.in_(known)))
    return [{"in": row.kind, "id": row.key} for row in rows]


def said(*values: Any) -> str:
    """Write values as one text in which words are looked for."""
    return json.dumps(values, ensure_ascii=False)
