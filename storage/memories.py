"""Answers, pairs and votes in SQL. A vote is appended, never changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from sqlalchemy import Select, delete, func, select, update

from core.domain import Answer, Citation, Question, Vote
from core.ports import MemoryChange, Placement, Remembered
from storage.database import Database, slices
from storage.tables import AnswerRow, PairRow, PlacementRow, VoteRow


class SqlMemories:
    """The `MemoryStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_answer(self, answer: Answer, question: Question, pair: Remembered | None) -> None:
        """Keep an answer with its trace, and the neutral pair it may become.

        An answer that reuses a pair counts as a use of it, once.
        """
        now = time.time()
        async with self._database.write() as connection:
            if pair is not None:
                await self._database.add(connection, PairRow, **_pair_values(pair))
            new = await self._database.add(
                connection,
                AnswerRow,
                id=answer.id,
                at=now,
                question=question.text,
                asker=question.asker,
                channel=question.channel,
                scope=question.scope.key,
                release=answer.release,
                route=answer.route,
                text=answer.text,
                citations=[asdict(citation) for citation in answer.citations],
                confidence=answer.confidence,
                similarity=answer.similarity,
                pair_id=pair.id if pair else answer.pair_id,
                trace=answer.trace,
            )
            if new and answer.route == "reuse":
                used = update(PairRow).where(PairRow.id == answer.pair_id)
                await connection.execute(used.values(uses=PairRow.uses + 1, used_at=now))

    async def add(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought; return the ids that were new. A known id changes nothing."""
        async with self._database.write() as connection:
            return {
                pair.id
                for pair in pairs
                if await self._database.add(connection, PairRow, **_pair_values(pair))
            }

    async def set_aside(self, ids: Sequence[str], why: Literal["", "retired", "evicted"]) -> None:
        """Write down why pairs are in no store, or with nothing that votes decide again."""
        async with self._database.write() as connection:
            for part in slices(ids):
                await connection.execute(update(PairRow).where(PairRow.id.in_(part)).values(aside=why))

    async def answer(self, answer_id: str) -> dict[str, Any] | None:
        """Return a kept answer as a dictionary of its columns, or None."""
        async with self._database.read() as connection:
            row = (
                await connection.execute(select(AnswerRow.__table__).where(AnswerRow.id == answer_id))
            ).first()
        return dict(row._mapping) if row else None

    async def pair(self, pair_id: str) -> Remembered | None:
        """Return a pair with its standing opinions, or None."""
        return (await self.pairs([pair_id])).get(pair_id)

    async def pairs(self, ids: Sequence[str]) -> dict[str, Remembered]:
        """Return pairs by id with their standing opinions."""
        found: dict[str, Remembered] = {}
        async with self._database.read() as connection:
            for part in slices(ids):
                found.update(
                    (pair.id, pair)
                    for pair in await _load(connection, select(PairRow.__table__).where(PairRow.id.in_(part)))
                )
        return found

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Append a vote event; return the pair it counts for, with the opinions after it.

        None where the answer is unknown or has no pair.
        """
        async with self._database.write() as connection:
            pair_id = (
                await connection.execute(select(AnswerRow.pair_id).where(AnswerRow.id == vote.answer_id))
            ).scalar()
            if pair_id is None:
                return None
            await connection.execute(
                self._database.insert(VoteRow).values(
                    answer_id=vote.answer_id,
                    pair_id=pair_id,
                    voter=vote.voter,
                    value=vote.value,
                    withdraws=vote.withdraws,
                    weight=weight,
                    at=vote.at.timestamp() if vote.at else time.time(),
                )
            )
            back = update(PairRow).where(PairRow.id == pair_id, PairRow.aside == "evicted")
            await connection.execute(back.values(aside=""))
            found = await _load(connection, select(PairRow.__table__).where(PairRow.id == pair_id))
        return found[0] if found else None

    async def place(self, change: MemoryChange) -> None:
        """Write derived placements."""
        async with self._database.write() as connection:
            gone = [*change.removed, *(placement.pair_id for placement in change.placements)]
            for part in slices(gone):
                await connection.execute(delete(PlacementRow).where(PlacementRow.pair_id.in_(part)))
            if change.placements:
                await connection.execute(
                    self._database.insert(PlacementRow), [asdict(p) for p in change.placements]
                )

    async def placements(self) -> tuple[tuple[Placement, Remembered], ...]:
        """Return every placed pair with its placement, in order of id."""
        async with self._database.read() as connection:
            rows = (
                await connection.execute(select(PlacementRow.__table__).order_by(PlacementRow.pair_id))
            ).all()
        pairs = await self.pairs([row.pair_id for row in rows])
        return tuple(
            (Placement(row.pair_id, row.store, row.score, row.cluster, row.shadowed_by), pairs[row.pair_id])
            for row in rows
            if row.pair_id in pairs
        )

    async def voted(self) -> tuple[Remembered, ...]:
        """Return every pair that has a standing opinion or was brought by people, in order of id."""
        voted = select(VoteRow.pair_id).distinct()
        statement = (
            select(PairRow.__table__)
            .where(PairRow.id.in_(voted) | (PairRow.origin != "answer"))
            .order_by(PairRow.id)
        )
        async with self._database.read() as connection:
            found = await _load(connection, statement)
        return tuple(pair for pair in found if pair.opinions or pair.origin != "answer")

    async def clear_placements(self) -> None:
        """Forget every placement, before a rebuild."""
        async with self._database.write() as connection:
            await connection.execute(delete(PlacementRow))

    async def mark_stale(self, release: str, live_hashes: set[str]) -> int:
        """Mark pairs of a release that cite a page hash which is not live; return how many."""
        async with self._database.write() as connection:
            rows = await connection.execute(
                select(PairRow.id, PairRow.release, PairRow.citations, PairRow.stale).where(
                    (PairRow.release == release) | PairRow.release.contains("+")
                )
            )
            changed: dict[bool, list[str]] = {True: [], False: []}
            for row in rows:
                if release not in row.release.split("+"):
                    continue
                cited = {e["hash"] for e in row.citations if e["hash"] and e["release"] in (release, "")}
                stale = not cited <= live_hashes
                # nothing is known here of the other releases of a comparison
                stale = stale or (row.stale and row.release != release)
                if stale != row.stale:
                    changed[stale].append(row.id)
            for stale, ids in changed.items():
                for part in slices(ids):
                    await connection.execute(update(PairRow).where(PairRow.id.in_(part)).values(stale=stale))
        return len(changed[True])

    async def counts(self) -> dict[str, int]:
        """Return the numbers of answers, pairs, votes, and pairs in the high and low store."""
        found: dict[str, int] = {}
        async with self._database.read() as connection:
            for name, table in (("answers", AnswerRow), ("pairs", PairRow), ("votes", VoteRow)):
                found[name] = (await connection.execute(select(func.count()).select_from(table))).scalar_one()
            for store in ("high", "low"):
                found[store] = (
                    await connection.execute(
                        select(func.count())
                        .select_from(PlacementRow)
                        .where(PlacementRow.store == store, PlacementRow.shadowed_by == "")
                    )
                ).scalar_one()
        return found


def _pair_values(pair: Remembered) -> dict[str, Any]:
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
        "aside": pair.aside,
        "uses": pair.uses,
        "used_at": pair.used_at,
    }


async def _load(connection: Any, statement: Select[Any]) -> list[Remembered]:
    """Read pairs with their opinions: what a voter put last and did not take back counts, once a pair."""
    rows = (await connection.execute(statement)).all()
    standing: dict[str, dict[str, list[tuple[str, int, float]]]] = {}
    for part in slices([row.id for row in rows]):
        votes = await connection.execute(
            select(VoteRow.__table__).where(VoteRow.pair_id.in_(part)).order_by(VoteRow.number)
        )
        for vote in votes:
            placed = standing.setdefault(vote.pair_id, {}).setdefault(vote.voter, [])
            taken = vote.withdraws if vote.value is None else vote.value
            placed[:] = [p for p in placed if p[0] != vote.answer_id or taken not in (None, p[1])]
            if vote.value is not None:
                placed.append((vote.answer_id, vote.value, vote.weight))
    opinions = {
        pair_id: tuple(placed[-1][1:] for _, placed in sorted(voters.items()) if placed)
        for pair_id, voters in standing.items()
    }
    return [
        Remembered(
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
            opinions=opinions.get(row.id, ()),
            aside=row.aside,
            uses=row.uses,
            used_at=row.used_at,
        )
        for row in rows
    ]
