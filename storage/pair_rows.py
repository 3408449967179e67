"""Pairs to rows and back, with the votes that stand on them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, select

from core.domain import STRANGERS, Citation
from core.ports import Remembered
from storage.tables import PairRow, VoteRow


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
    rows = (await connection.execute(statement)).all()
    standing: dict[str, dict[str, list[Any]]] = {}
    wanted = statement.with_only_columns(PairRow.id).order_by(None)
    votes = await connection.execute(
        select(VoteRow.__table__).where(VoteRow.pair_id.in_(wanted)).order_by(VoteRow.number)
    )
    for vote in votes:
        placed = standing.setdefault(vote.pair_id, {}).setdefault(vote.voter, [])
        taken = vote.withdraws if vote.value is None else vote.value
        placed[:] = [p for p in placed if p.answer_id != vote.answer_id or taken not in (None, p.value)]
        if vote.value is not None:
            placed.append(vote)
    return [_pair(row, standing.get(row.id, {})) for row in rows]


def _pair(row: Any, voters: dict[str, list[Any]]) -> Remembered:
    last = [placed[-1] for _, placed in sorted(voters.items()) if placed]
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
