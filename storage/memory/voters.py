"""How long people have been about, and what strangers voted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import distinct, func, select, update

from core.domain import STRANGERS
from core.ports import Acquaintance, VoteEvent
from storage.database.database import Database
from storage.tables import AnswerRow, VoteRow


class SqlVoters:
    """The `VoterStore` port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquaintance(self, accounts: Collection[str], pair_id: str, since: float) -> Acquaintance:
        """Return what is known of the person behind the accounts; `since` begins the last hour."""
        asks, own, late = AnswerRow.asker.in_(accounts), VoteRow.voter.in_(accounts), VoteRow.at >= since
        people = select(func.count(distinct(VoteRow.voter))).where(VoteRow.pair_id == pair_id, late, ~own)
        # all in one statement, for somebody waits for their vote to be counted
        told = (
            select(func.min(AnswerRow.at)).where(asks),
            select(func.min(VoteRow.at)).where(own),
            select(func.count()).select_from(AnswerRow).where(asks),
            select(func.count(distinct(VoteRow.pair_id))).where(own),
            select(func.count()).select_from(VoteRow).where(own, late),
            people,
            people.where(VoteRow.standing.in_(STRANGERS)),
        )
        async with self._database.read() as connection:
            row = (await connection.execute(select(*(one.scalar_subquery() for one in told)))).one()
        first_asked, first_voted, questions, pairs, events, voters, strangers = row
        first = min(filter(None, (first_asked, first_voted)), default=0.0)
        return Acquaintance(first, questions + pairs, events, voters, strangers)

    async def anybody_known(self, before: float, contributions: int) -> bool:
        """Return True if anybody was seen before that time and voted on so many pairs."""
        old = select(VoteRow.voter).where(VoteRow.at <= before)
        voters = select(VoteRow.voter).where(VoteRow.voter.in_(old)).group_by(VoteRow.voter).limit(1)
        known = voters.having(func.count(distinct(VoteRow.pair_id)) >= contributions)
        async with self._database.read() as connection:
            return (await connection.execute(known)).first() is not None

    async def by_strangers(self, since: float) -> tuple[VoteEvent, ...]:
        """Return the votes of strangers since then, oldest first."""
        columns = (VoteRow.pair_id, VoteRow.answer_id, VoteRow.voter, VoteRow.standing, VoteRow.at)
        found = select(*columns).where(VoteRow.standing.in_(STRANGERS), VoteRow.at >= since)
        async with self._database.read() as connection:
            rows = await connection.execute(found.order_by(VoteRow.at, VoteRow.number))
            return tuple(VoteEvent(*row) for row in rows)

    async def link(self, people: Mapping[str, Sequence[str]]) -> int:
        """Count votes of a person's accounts as the person's from now on; return how many were not."""
        count = 0
        async with self._database.write() as connection:
            for name, accounts in people.items():
                votes = update(VoteRow).where(VoteRow.voter.in_(accounts), VoteRow.voter != name)
                count += (await connection.execute(votes.values(voter=name))).rowcount
        return count
