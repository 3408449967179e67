"""Pairs to rows and back, with the votes that stand on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, select

from core.domain import STRANGERS, Citation
from core.ports import Remembered
from core.system.offload import aside
from storage.database.rows import every
from storage.memory.standing import standing
from storage.tables import PairRow, VoteRow

AT_ONCE = 200
"""Rows of pairs and votes that are read at once: a pair takes 20 µs."""


def pair_values(pair: Remembered) -> dict[str, Any]:
    """Return the columns of a pair; its votes are rows of their own."""
    return {
        "id": pair.id,
        "question": pair.question,
        "topic": pair.topic,
        "answer": pair.answer,
        "citations": [asdict(citation) for citation in pair.citations],
        "release": pair.release,
        "scope": pair.scope,
        "origin": pair.origin,
        "label": pair.label,
        "asker": pair.asker,
        "prior": pair.prior,
        "created_at": pair.created_at,
        "stale": pair.stale,
        "stale_in": pair.release if pair.stale else "",
        "aside": pair.aside,
        "uses": pair.uses,
        "used_at": pair.used_at,
        "channel": pair.channel,
        "language": pair.language,
    }


async def load_pairs(connection: Any, statement: Select[Any]) -> list[Remembered]:
    """Read pairs with their votes: what a voter put last and did not take back counts, once a pair."""
    rows = await every(await connection.execute(statement), lambda row: row)
    wanted = statement.with_only_columns(PairRow.id).order_by(None)
    votes = await every(
        await connection.execute(
            select(VoteRow.__table__).where(VoteRow.pair_id.in_(wanted)).order_by(VoteRow.number)
        ),
        lambda row: row,
    )
    return await aside(len(rows) + len(votes), _pairs, rows, votes, few=AT_ONCE)


def _pairs(rows: Sequence[Any], votes: Sequence[Any]) -> list[Remembered]:
    last: dict[str, dict[str, Any]] = {}
    for (_, voter), vote in standing(votes).items():
        voters = last.setdefault(vote.pair_id, {})
        voters[voter] = max(voters.get(voter, vote), vote, key=lambda one: one.number)
    return [_pair(row, last.get(row.id, {})) for row in rows]


def _pair(row: Any, voters: dict[str, Any]) -> Remembered:
    last = [vote for _, vote in sorted(voters.items())]
    return Remembered(
        id=row.id,
        question=row.question,
        topic=row.topic,
        answer=row.answer,
        release=row.release,
        scope=row.scope,
        prior=row.prior,
        created_at=row.created_at,
        citations=tuple(Citation(**entry) for entry in row.citations),
        origin=row.origin,
        label=row.label,
        asker=row.asker,
        stale=row.stale,
        opinions=tuple((v.value, v.weight) for v in last if v.standing not in STRANGERS),
        aside=row.aside,
        uses=row.uses,
        used_at=row.used_at,
        channel=row.channel,
        language=row.language,
        strangers=tuple((v.value, v.weight, v.standing == "early") for v in last if v.standing in STRANGERS),
    )
