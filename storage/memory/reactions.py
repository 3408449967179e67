"""Which answers were posted lately, and whose emoji under them was heard of, in SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal

from sqlalchemy import func, select

from core.domain import MessageRef
from core.ports.reactions import Shown
from storage.database.database import Database, Store
from storage.memory.memories import Veils, no_veils
from storage.memory.pair_rows import raised
from storage.tables import ClaimRow, VoteRow


class SqlReactions(Store):
    """The `ReactionStore` port on SQL; `veils` are the names that retention has given to voters."""

    def __init__(self, database: Database, veils: Veils = no_veils) -> None:
        super().__init__(database)
        self._veils = veils

    async def shown(self, platform: str, since: float, limit: int) -> tuple[Shown, ...]:
        """Return the latest answers that stand on a platform, newest first, but none from before a time."""
        # one that is about to be posted may stand there already
        answer = func.coalesce(ClaimRow.answer_id, ClaimRow.posting)
        here = ClaimRow.message.startswith(f"{platform}:", autoescape=True)
        found = (
            select(answer.label("answer_id"), ClaimRow.parts, ClaimRow.at, ClaimRow.before)
            .where(here, ClaimRow.at >= since, answer != "")
            .order_by(ClaimRow.at.desc(), ClaimRow.message)
            .limit(limit)
        )
        return tuple(
            Shown(row.answer_id, tuple(MessageRef(*part) for part in row.parts), row.at, tuple(row.before))
            for row in await self._rows(found)
            if row.parts
        )

    async def unheard(self, shown: Shown, value: Literal[0, 1], voters: Collection[str]) -> frozenset[str]:
        """Return who of these voters has an emoji for 👍 (1) or 👎 (0) there that is not known."""
        answers = (*shown.before, shown.answer_id)
        votes = select(VoteRow.__table__).where(VoteRow.answer_id.in_(answers)).order_by(VoteRow.number)
        rows = await self._rows(votes) if voters else []
        known = _put(rows, value)
        for (answer_id, voter), hands in raised(rows).items():
            if answer_id == shown.answer_id and any(hand.value == value for hand in hands):
                known.add(voter)
        places = {row.pair_id or row.answer_id for row in rows}
        return frozenset(
            voter
            for voter in voters
            if known.isdisjoint({voter, *(name for place in places for name in self._veils(voter, place))})
        )


def _put(votes: Iterable[Any], value: Literal[0, 1]) -> set[str]:
    """Return whose emoji for a vote was put and not taken off; a button changes nothing of that."""
    found: set[str] = set()
    for vote in votes:
        if vote.value == value and vote.by_reaction:
            found.add(vote.voter)
        elif vote.value is None and vote.withdraws == value:
            found.discard(vote.voter)
    return found
