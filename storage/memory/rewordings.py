"""For which questions remembered pairs were reused, read from the answers that were given and their votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select

from core.domain import STRANGERS
from core.ports import Reworded
from storage.database.database import Database, slices
from storage.memory.standing import standing
from storage.tables import AnswerRow, PairRow, VoteRow


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
