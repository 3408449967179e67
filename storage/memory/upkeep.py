"""Stale pairs and how they are renewed, and how large memory is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Integer, cast, func, select, update

from core.domain import Citation, Scope
from core.ports import Census, StalePair, Stored
from storage.database.database import Store
from storage.memory.pair_rows import load_pairs
from storage.tables import PairRow, PlacementRow
from storage.tables.columns import every, slices

CURRENT: dict[str, Any] = {
    "stale": False,
    "stale_in": "",
    "marked_at": 0.0,
    "checked_at": 0.0,
    "finding": "",
    "proposal": "",
    "proposed": None,
}
"""The marks of a pair whose evidence is as it was."""
DAY_SECONDS = 86400
DAYS = 30
"""Days of growth that a census tells."""


class SqlUpkeep(Store):
    """The `UpkeepStore` port on SQL."""

    async def stale(self) -> tuple[StalePair, ...]:
        """Return stale pairs that stand in the high store, in order of id."""
        return await self._stale([], [PairRow.id])

    async def unchecked(self, limit: int) -> tuple[StalePair, ...]:
        """Return those of them that were not looked at since they were marked, the longest waiting first."""
        waiting = PairRow.checked_at < PairRow.marked_at
        return await self._stale([waiting], [PairRow.marked_at, PairRow.id], limit)

    async def found(
        self, seen: StalePair, finding: str, proposal: str, proposed: Sequence[Citation], at: float
    ) -> bool:
        """Write down why a pair was not renewed; False where it was marked again or is gone."""
        cited = [asdict(citation) for citation in proposed]
        return await self._write(
            seen,
            # it may have been marked by a clock that goes ahead of this one
            checked_at=max(at, seen.marked_at),
            finding=finding,
            proposal=proposal,
            proposed=cited,
        )

    async def renew(self, seen: StalePair, answer: str, citations: Sequence[Citation]) -> bool:
        """Make a pair current again; False where it was marked again since it was `seen`, or is gone."""
        cited = [asdict(citation) for citation in citations]
        return await self._write(seen, **{**CURRENT, "answer": answer, "citations": cited})

    async def census(self) -> Census:
        """Count placed pairs by release and store, and by the day on which they were made."""
        waits = PlacementRow.shadowed_by != ""
        placed = select(PairRow.release, PlacementRow.store, waits.label("waits"), func.count().label("n"))
        placed = placed.join(PairRow, PairRow.id == PlacementRow.pair_id)
        day = cast(func.floor(PairRow.created_at / DAY_SECONDS), Integer).label("day")
        made = select(day, func.count().label("n")).join(PlacementRow, PairRow.id == PlacementRow.pair_id)
        made = made.where(PairRow.created_at >= time.time() - DAYS * DAY_SECONDS).group_by(day).order_by(day)
        async with self._database.read() as connection:
            rows = await connection.execute(placed.group_by(PairRow.release, PlacementRow.store, waits))
            counts = Counter({(row.release, row.store, bool(row.waits)): row.n for row in rows})
            days = [(int(row.day), int(row.n)) for row in await connection.execute(made)]
        kinds = sorted({key[:2] for key in counts})
        stores = [Stored(r, s, counts[r, s, False], counts[r, s, True]) for r, s in kinds]
        return Census(tuple(stores), tuple(days))

    async def broken(self) -> list[str]:
        """Return a sentence for each pair whose marks contradict each other."""
        columns = (PairRow.id, PairRow.release, PairRow.scope, PairRow.channel, PairRow.stale)
        marks = (PairRow.stale_in, PairRow.proposal, PairRow.finding)
        async with self._database.read() as connection:
            found = await every(
                await connection.execute(select(*columns, *marks).order_by(PairRow.id)), _wrong
            )
        return [sentence for some in found for sentence in some]

    async def _stale(
        self, where: Sequence[Any], order: Sequence[Any], limit: int = 0
    ) -> tuple[StalePair, ...]:
        found = select(PairRow.__table__).join(PlacementRow, PlacementRow.pair_id == PairRow.id)
        found = found.where(PairRow.stale, PlacementRow.store == "high", PairRow.aside == "", *where)
        found = found.order_by(*order)
        async with self._database.read() as connection:
            rows = (await connection.execute(found.limit(limit) if limit else found)).all()
            pairs = {}
            for part in slices([row.id for row in rows]):
                same = select(PairRow.__table__).where(PairRow.id.in_(part))
                pairs.update({pair.id: pair for pair in await load_pairs(connection, same)})
        return tuple(
            StalePair(
                pairs[row.id],
                tuple(filter(None, row.stale_in.split("+"))),
                row.marked_at,
                row.checked_at,
                row.finding,
                row.proposal,
                tuple(Citation(**entry) for entry in row.proposed or ()),
            )
            for row in rows
            if row.id in pairs
        )

    async def _write(self, seen: StalePair, **values: Any) -> bool:
        same = (PairRow.id == seen.pair.id, PairRow.stale, PairRow.marked_at == seen.marked_at)
        async with self._database.write() as connection:
            changed = await connection.execute(update(PairRow).where(*same).values(**values))
        return changed.rowcount == 1


def _wrong(row: Any) -> list[str]:
    """Say what of the marks of a pair contradicts what."""
    wrong: list[str] = []
    stale_in = set(filter(None, row.stale_in.split("+")))
    scope = Scope.parse(row.scope)
    if bool(stale_in) != row.stale or not stale_in <= set(row.release.split("+")):
        wrong.append(f"{row.id} is stale in '{row.stale_in}', its mark says {row.stale}")
    if (row.proposal or row.finding) and not row.stale:
        wrong.append(f"{row.id} waits for an admin, but what it cites is as it was")
    if not scope.remembered:
        wrong.append(f"{row.id} comes from a direct message")
    if scope.kind == "private" and row.channel not in ("", scope.channel):
        wrong.append(f"{row.id} is for {scope.channel} alone, but was learned in {row.channel}")
    return wrong
