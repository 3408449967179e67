"""Pairs to rows and back, the votes that stand on them, and the questions they were reused for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, func, select

from core.domain import STRANGERS, Citation
from core.ports import Remembered, Reworded
from core.system.offload import aside
from storage.database.database import Database, slices
from storage.database.rows import every
from storage.tables import AnswerRow, PairRow, VoteRow

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


def standing(votes: Iterable[Any]) -> dict[tuple[str, str], Any]:
    """Return by answer and voter the row of `votes` that counts; rows come in order of their number.

    A hand (👍 or 👎) that is taken off uncovers the other one, if that is still there.
    """
    return {place: hands[-1] for place, hands in sorted(raised(votes).items())}


def raised(votes: Iterable[Any]) -> dict[tuple[str, str], list[Any]]:
    """Return by answer and voter the rows of the hands that are up, the one that counts last."""
    found: dict[tuple[str, str], list[Any]] = {}
    for vote in votes:
        hands = found.setdefault((vote.answer_id, vote.voter), [])
        taken = vote.withdraws if vote.value is None else vote.value
        hands[:] = [hand for hand in hands if taken not in (None, hand.value)]
        if vote.value is not None:
            hands.append(vote)
    return {place: hands for place, hands in found.items() if hands}


class SqlRewordings:
    """The `RewordingStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rewordings(self, ids: Sequence[str]) -> dict[str, tuple[Reworded, ...]]:
        """Return by pair the questions of its own scope that got its answer, with votes that stand."""
        found: dict[str, list[Reworded]] = {}
        queries = AnswerRow.trace["queries"]
        # what memory compares, and what stands for it where a trace does not tell
        topic = func.coalesce(
            func.nullif(queries["topic"].as_string(), ""), queries["base"].as_string(), AnswerRow.question
        )
        async with self._database.read() as connection:
            for part in slices(ids):
                votes = await connection.execute(
                    select(VoteRow.__table__).where(VoteRow.pair_id.in_(part)).order_by(VoteRow.number)
                )
                opinions = _opinions(votes)
                columns = (AnswerRow.id, AnswerRow.pair_id, AnswerRow.asker, AnswerRow.at, topic)
                rows = await connection.execute(
                    select(*columns)
                    .join(PairRow, PairRow.id == AnswerRow.pair_id)
                    .where(AnswerRow.pair_id.in_(part), AnswerRow.scope == PairRow.scope)
                    .order_by(AnswerRow.at, AnswerRow.id)
                )
                for row in rows:
                    answer_id, pair_id, asker, at, said = row
                    if answer_id in opinions:
                        entry = Reworded(answer_id, said, asker, at, opinions[answer_id])
                        found.setdefault(pair_id, []).append(entry)
        return {pair_id: tuple(entries) for pair_id, entries in found.items()}


def _opinions(votes: Any) -> dict[str, tuple[tuple[int, float], ...]]:
    """Return by answer what known people put last and did not take back; votes are in order of time."""
    found: dict[str, list[tuple[int, float]]] = {}
    for (answer_id, _), vote in standing(votes).items():
        if vote.standing not in STRANGERS:
            found.setdefault(answer_id, []).append((vote.value, vote.weight))
    return {answer_id: tuple(opinions) for answer_id, opinions in found.items()}
