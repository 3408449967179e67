"""Pairs to rows and back, who voted on them, the questions they were reused for, and those told apart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, delete, distinct, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import READER, STRANGERS, Citation, Vote
from core.ports import Acquaintance, Placement, Remembered, Reworded, VoteEvent
from core.ports.cluster import APART
from core.ports.opinions import Distinction
from core.system.offload import aside
from storage.database.database import Store
from storage.tables import AnswerRow, DistinctionRow, PairRow, VoteRow
from storage.tables.columns import every, made, slices, values_of

COUNTS = VoteRow.standing != READER
"""Votes that memory looks at."""
AT_ONCE = 200
"""Rows of pairs and votes that are read at once: a pair takes 20 µs."""
DIRECT = "direct:%"
"""Scopes of which no words are taken into memory."""
Veils = Callable[[str, str], Collection[str]]
"""The one-way names that a person may stand under at a place; `core.privacy.names` makes them."""


def no_veils(name: str, place: str) -> Collection[str]:
    """Return no one-way names, where nothing is kept under any."""
    return ()


def pair_values(pair: Remembered) -> dict[str, Any]:
    """Return the columns of a pair; its votes are rows of their own."""
    citations = [asdict(citation) for citation in pair.citations]
    return values_of(PairRow, pair, citations=citations, stale_in=pair.release if pair.stale else "")


def with_pairs(
    placed: Sequence[Placement], loaded: Sequence[Remembered]
) -> tuple[tuple[Placement, Remembered], ...]:
    """Put to each placement its pair; one whose pair is gone is left out."""
    pairs = {pair.id: pair for pair in loaded}
    return tuple((one, pairs[one.pair_id]) for one in placed if one.pair_id in pairs)


def spoken_of(pairs: Sequence[Remembered]) -> tuple[Remembered, ...]:
    """Leave out what nobody voted on or brought."""
    return tuple(pair for pair in pairs if pair.opinions or pair.strangers or pair.origin != "answer")


async def load_pairs(connection: Any, statement: Select[Any]) -> list[Remembered]:
    """Read pairs with their votes."""
    rows = await every(await connection.execute(statement), lambda row: row)
    wanted = statement.with_only_columns(PairRow.id).order_by(None)
    votes = await every(
        await connection.execute(
            select(VoteRow.__table__).where(VoteRow.pair_id.in_(wanted), COUNTS).order_by(VoteRow.number)
        ),
        lambda row: row,
    )
    return await made_of(rows, votes)


async def made_of(rows: Sequence[Any], votes: Sequence[Any]) -> list[Remembered]:
    """Make pairs of their rows: what a voter put last and did not take back counts, once a pair."""
    return await aside(len(rows) + len(votes), _pairs, rows, votes, few=AT_ONCE)


async def load_all(connection: AsyncConnection, ids: Sequence[str]) -> list[Remembered]:
    """Load pairs in the order of their ids, some at a time: others are served in between."""
    found: list[Remembered] = []
    for part in slices(ids):
        some = select(PairRow.__table__).where(PairRow.id.in_(part)).order_by(PairRow.id)
        found += await load_pairs(connection, some)
        await asyncio.sleep(0)
    return found


def _pairs(rows: Sequence[Any], votes: Sequence[Any]) -> list[Remembered]:
    last: dict[str, dict[str, Any]] = {}
    for (_, voter), vote in standing(votes).items():
        voters = last.setdefault(vote.pair_id, {})
        voters[voter] = max(voters.get(voter, vote), vote, key=lambda one: one.number)
    return [_pair(row, last.get(row.id, {})) for row in rows]


def _pair(row: Any, voters: dict[str, Any]) -> Remembered:
    last = [vote for _, vote in sorted(voters.items())]
    return made(
        Remembered,
        row,
        citations=tuple(Citation(**entry) for entry in row.citations),
        opinions=tuple((v.value, v.weight) for v in last if v.standing not in STRANGERS),
        strangers=tuple((v.value, v.weight, v.standing == "early") for v in last if v.standing in STRANGERS),
        others=(),
    )


def standing(votes: Iterable[Any]) -> dict[tuple[str, str], Any]:
    """Return by answer and voter the row of `votes` that counts; rows come in order of their number.

    A hand (👍 or 👎) that is taken off uncovers the other one, if that is still there.
    """
    return {place: hands[-1] for place, hands in sorted(raised(votes).items())}


async def is_voted(connection: AsyncConnection, pair_id: str) -> bool:
    """Return True if somebody's vote stands on a pair; what readers without an account say is none."""
    votes = select(VoteRow.__table__).where(VoteRow.pair_id == pair_id, COUNTS).order_by(VoteRow.number)
    return bool(pair_id and standing(await connection.execute(votes)))


def raised(votes: Iterable[Any]) -> dict[tuple[str, str], list[Any]]:
    """Return by answer and voter the rows of the hands that are up, the one that counts last."""
    found: dict[tuple[str, str], list[Any]] = {}
    for vote in votes:
        hands = found.setdefault((vote.answer_id, vote.voter), [])
        taken = vote.withdraws if vote.value is None else vote.value
        hands[:] = [hand for hand in hands if taken not in (None, hand.value)]
        if vote.value is not None:
            hands.append(vote)
            if all(hand.said_at for hand in hands):
                hands.sort(key=lambda hand: hand.said_at)
    return {place: hands for place, hands in found.items() if hands}


def staleness(row: Any, release: str, live_hashes: set[str]) -> tuple[Any, set[str], set[str]]:
    """Return the row of a pair with the releases in which it was stale, and those in which it is now."""
    before = set(filter(None, row.stale_in.split("+")))
    if release not in row.release.split("+"):
        return row, before, before
    cited = {e["hash"] for e in row.citations if e["hash"] and e["release"] in (release, "")}
    return row, before, before - {release} if cited <= live_hashes else before | {release}


async def is_outdated(connection: Any, vote: Vote) -> bool:
    """Return True if it is known already, or what its voter said later: events may come twice, in any order.

    That is the same or a later event of the same hand, by the platform's clock; or any event since `until`,
    when what stood under the answer was read.
    """
    off = vote.withdraws
    hand = off if vote.value is None else vote.value
    taken_off = VoteRow.value.is_(None) & ((VoteRow.withdraws == hand) | VoteRow.withdraws.is_(None))
    same = (VoteRow.answer_id == vote.answer_id, VoteRow.voter == vote.voter)
    later: list[ColumnElement[bool]] = []
    if vote.said_at:
        later.append((VoteRow.said_at > vote.said_at) & ((VoteRow.value == hand) | taken_off))
        told = (VoteRow.value.is_not_distinct_from(vote.value), VoteRow.withdraws.is_not_distinct_from(off))
        later.append(and_(VoteRow.said_at == vote.said_at, *told))
    if vote.until is not None:
        later.append(VoteRow.number > vote.until)
    found = select(VoteRow.number).where(*same, or_(*later)).limit(1)
    return bool(later) and await connection.scalar(found) is not None


class SqlRewordings(Store):
    """The `RewordingStore` port on SQL."""

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
                    select(VoteRow.__table__)
                    .where(VoteRow.pair_id.in_(part), COUNTS)
                    .order_by(VoteRow.number)
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


class SqlDistinctions(Store):
    """The `DistinctionStore` port on SQL."""

    async def tell_apart(self, said: Distinction) -> bool:
        """Keep one; False where it is known already, or the pair is not there."""
        columns = ("pair_id", "key", "answer_id", "person", "at")
        values = {name: getattr(said, name) for name in columns}
        async with self._database.write() as connection:
            self._database.tell(connection, APART, [said.pair_id])
            there = await connection.execute(select(PairRow.id).where(PairRow.id == said.pair_id))
            return there.first() is not None and await self._database.add(
                connection, DistinctionRow, **values
            )

    async def told_apart(self, pair_id: str = "") -> tuple[Distinction, ...]:
        """Return those of one pair, or of all, oldest first."""
        queries = AnswerRow.trace["queries"]
        topic = func.coalesce(
            func.nullif(queries["topic"].as_string(), ""), queries["base"].as_string(), AnswerRow.question, ""
        )
        told = func.coalesce(AnswerRow.scope, "").not_like(DIRECT)
        statement = (
            select(
                DistinctionRow.__table__,
                case((told, topic), else_="").label("topic"),
                case((told, func.coalesce(AnswerRow.question, "")), else_="").label("question"),
                func.coalesce(AnswerRow.scope, "public").label("scope"),
                PairRow.release,
                PairRow.topic.label("remembered"),
            )
            .join(PairRow, PairRow.id == DistinctionRow.pair_id)
            .outerjoin(AnswerRow, AnswerRow.id == DistinctionRow.answer_id)
            .order_by(DistinctionRow.at, DistinctionRow.key)
        )
        if pair_id:
            statement = statement.where(DistinctionRow.pair_id == pair_id)
        return tuple(Distinction(**row._mapping) for row in await self._rows(statement))

    async def take_back(self, pair_id: str, key: str) -> bool:
        """Remove one; returns True if it was there."""
        one = (DistinctionRow.pair_id == pair_id, DistinctionRow.key == key)
        async with self._database.write() as connection:
            self._database.tell(connection, APART, [pair_id])
            return bool((await connection.execute(delete(DistinctionRow).where(*one))).rowcount)


class SqlVoters(Store):
    """The `VoterStore` port on SQL."""

    async def acquaintance(self, accounts: Collection[str], pair_id: str, since: float) -> Acquaintance:
        """Return what is known of the person behind the accounts; `since` begins the last hour."""
        asks, own, late = AnswerRow.asker.in_(accounts), VoteRow.voter.in_(accounts), VoteRow.at >= since
        people = select(func.count(distinct(VoteRow.voter))).where(
            VoteRow.pair_id == pair_id, late, ~own, COUNTS
        )
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
        row = await self._row(select(*(one.scalar_subquery() for one in told)))
        first_asked, first_voted, questions, pairs, events, voters, strangers = row
        first = min(filter(None, (first_asked, first_voted)), default=0.0)
        return Acquaintance(first, questions + pairs, events, voters, strangers)

    async def anybody_known(self, before: float, contributions: int) -> bool:
        """Return True if anybody was seen before that time and voted on so many pairs."""
        old = select(VoteRow.voter).where(VoteRow.at <= before, COUNTS)
        voters = select(VoteRow.voter).where(VoteRow.voter.in_(old)).group_by(VoteRow.voter).limit(1)
        known = voters.having(func.count(distinct(VoteRow.pair_id)) >= contributions)
        return await self._row(known) is not None

    async def by_strangers(self, since: float) -> tuple[VoteEvent, ...]:
        """Return the votes of strangers since then, oldest first."""
        columns = (VoteRow.pair_id, VoteRow.answer_id, VoteRow.voter, VoteRow.standing, VoteRow.at)
        found = select(*columns).where(VoteRow.standing.in_(STRANGERS), VoteRow.at >= since)
        rows = await self._rows(found.order_by(VoteRow.at, VoteRow.number))
        return tuple(VoteEvent(*row) for row in rows)

    async def link(self, people: Mapping[str, Sequence[str]]) -> int:
        """Count votes of a person's accounts as the person's from now on; return how many were not."""
        count = 0
        for name, accounts in people.items():
            votes = update(VoteRow).where(VoteRow.voter.in_(accounts), VoteRow.voter != name)
            count += await self._change(votes.values(voter=name))
        return count
