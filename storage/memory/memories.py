"""Answers, pairs and votes in SQL. A vote is appended, never changed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from core.domain import READER, Answer, Question, Vote
from core.ports import MemoryChange, Placement, Remembered, TopicVector, always
from core.ports.cluster import ALL, MEMORY
from core.system.offload import aside
from storage.database.database import Database, Store
from storage.memory.pair_rows import (
    COUNTS,
    Veils,
    is_outdated,
    is_voted,
    load_all,
    load_pairs,
    made_of,
    no_veils,
    pair_values,
    raised,
    spoken_of,
    staleness,
    standing,
    with_pairs,
)
from storage.memory.upkeep import CURRENT
from storage.people.authorship import PAIR, Name, keep_answer_words, keep_words, whose
from storage.people.blanking import clean_traces, withdraw_answer
from storage.tables import AnswerRow, CorrectionRow, PairRow, PlacementRow, VoteRow
from storage.tables.columns import SOME, every, made, slices, values_of


class SqlMemories(Store):
    """The `MemoryStore` port on SQL; `veils` are the names that retention has given to voters."""

    def __init__(self, database: Database, veils: Veils = no_veils) -> None:
        super().__init__(database)
        self._veils = veils

    async def save_answer(
        self,
        answer: Answer,
        question: Question,
        pair: Remembered | None,
        still: Callable[[], Awaitable[bool]] = always,
        topic: TopicVector | None = None,
    ) -> bool:
        """Keep an answer with its trace and whose words it holds, and the neutral pair it may become.

        False, and nothing is kept, where `still` says no, or pairs that its text was taken from are gone.
        """
        now = time.time()
        async with self._database.write() as connection:
            written = self._database, connection, answer, question, pair
            if not await still() or not await keep_answer_words(*written):
                return False
            if topic is not None:
                await self._database.keep_vectors(connection, topic.encoder, {topic.text_hash: topic.vector})
            if pair is not None:
                await self._database.add(connection, PairRow, **pair_values(pair))
            values = values_of(
                AnswerRow,
                answer,
                at=now,
                question=question.text,
                asker=question.asker,
                channel=question.channel,
                scope=question.scope.key,
                citations=[asdict(citation) for citation in answer.citations],
                pair_id=pair.id if pair else answer.pair_id,
            )
            new = await self._database.add(connection, AnswerRow, **values)
            if new and answer.route == "reuse":
                used = update(PairRow).where(PairRow.id == answer.pair_id)
                await connection.execute(used.values(uses=PairRow.uses + 1, used_at=now))
        return True

    async def withdraw(self, answer_id: str, replaced: bool) -> None:
        """Empty an answer and its question, which was deleted, or `replaced` by an edit."""
        async with self._database.write() as connection:
            await withdraw_answer(connection, answer_id, replaced, is_voted)
            if not replaced:  # for an edit within a minute the whole file is not written anew
                await self._database.owe_scrub(connection)

    async def emptied(self, answer_ids: Sequence[str]) -> frozenset[str]:
        """Return which of these answers say nothing any more, because somebody was forgotten."""
        empty = select(AnswerRow.id).where(AnswerRow.id.in_(answer_ids), AnswerRow.text == "")
        return frozenset(await self._values(empty)) if answer_ids else frozenset()

    async def releases_of(self, answer_ids: Sequence[str]) -> dict[str, str]:
        """Return the releases that these answers spoke for, empty for none; unknown ones are left out."""
        if not answer_ids:
            return {}
        query = select(AnswerRow.id, AnswerRow.release).where(AnswerRow.id.in_(answer_ids))
        return dict(tuple(row) for row in await self._rows(query))

    async def whose(self, answer_ids: Sequence[str], text: bool = True) -> frozenset[str]:
        """Return the accounts whose words answers and their questions hold; without `text`, the questions."""
        async with self._database.read() as connection:
            return await whose(connection, answer_ids, text)

    async def add(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought; return the ids that were new, or set aside until now.

        One that was set aside says what is given now, and keeps its votes; any other stays as it is.
        """
        new = set()
        async with self._database.write() as connection:
            self._database.tell(connection, MEMORY, [pair.id for pair in pairs])
            for pair in pairs:
                values = pair_values(pair)
                await keep_words(self._database, connection, PAIR, pair.id, map(Name, pair.others))
                if not await self._database.add(connection, PairRow, **values):
                    del values["uses"], values["used_at"]
                    back = update(PairRow).where(PairRow.id == pair.id, PairRow.aside != "")
                    if not (await connection.execute(back.values(**values))).rowcount:
                        continue
                new.add(pair.id)
        return new

    async def set_aside(self, ids: Sequence[str], why: Literal["", "retired", "evicted"]) -> None:
        """Write down why pairs are in no store, or with nothing that votes decide again."""
        async with self._database.write() as connection:
            self._database.tell(connection, MEMORY, ids)
            for part in slices(ids):
                await connection.execute(update(PairRow).where(PairRow.id.in_(part)).values(aside=why))

    async def answer(self, answer_id: str) -> dict[str, Any] | None:
        """Return a kept answer as a dictionary of its columns, or None."""
        row = await self._row(select(AnswerRow.__table__).where(AnswerRow.id == answer_id))
        return dict(row._mapping) if row else None

    async def pair(self, pair_id: str) -> Remembered | None:
        """Return a pair with its standing opinions, or None."""
        return (await self.pairs([pair_id])).get(pair_id)

    async def pairs(self, ids: Sequence[str]) -> dict[str, Remembered]:
        """Return pairs by id with their standing opinions."""
        found: dict[str, Remembered] = {}
        for part in slices(ids):
            rows, votes = await self._database.look(partial(_look_up, part))
            found |= {pair.id: pair for pair in await made_of(rows, votes)}
        return found

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Append a vote event; return the pair it counts for, with the opinions after it.

        None where the answer is unknown or has no pair.
        """
        async with self._database.write() as connection:
            # whoever deletes the question meanwhile is waited for, or waits: the pair may go with it
            answer = select(AnswerRow.pair_id).where(AnswerRow.id == vote.answer_id)
            pair_id = await connection.scalar(answer.with_for_update())
            if pair_id is None:
                return None
            if veils := self._veils(vote.voter, pair_id or vote.answer_id):
                # what they voted long ago is theirs again
                old = (VoteRow.pair_id == pair_id, VoteRow.voter.in_(veils))
                await connection.execute(update(VoteRow).where(*old).values(voter=vote.voter))
            if await is_outdated(connection, vote):
                return await self._of(connection, pair_id)
            at = vote.at.timestamp() if vote.at else time.time()
            values = values_of(VoteRow, vote, pair_id=pair_id, weight=weight, at=at)
            await connection.execute(self._database.insert(VoteRow).values(**values))
            back = update(PairRow).where(PairRow.id == pair_id, PairRow.aside == "evicted")
            if vote.standing != READER:
                await connection.execute(back.values(aside=""))
                self._database.tell(connection, MEMORY, [pair_id] if pair_id else ())
            return await self._of(connection, pair_id)

    async def _of(self, connection: AsyncConnection, pair_id: str) -> Remembered | None:
        found = await load_pairs(connection, select(PairRow.__table__).where(PairRow.id == pair_id))
        return found[0] if found else None

    async def opinion(self, answer_id: str, voter: str) -> Literal[0, 1] | None:
        """Return which vote of a person stands on an answer now; None for none."""
        votes = select(VoteRow.__table__).where(VoteRow.answer_id == answer_id).order_by(VoteRow.number)
        rows = await self._rows(votes)
        # retention veils a voter by the pair, or by the answer where there is no pair
        veiled = [name for row in rows[:1] for name in self._veils(voter, row.pair_id or answer_id)]
        own = [vote for (_, name), vote in standing(rows).items() if name in (voter, *veiled)]
        return max(own, key=lambda vote: vote.number).value if own else None

    async def hands(
        self, answer_id: str, value: Literal[0, 1], without: Collection[str] = (), until: int | None = None
    ) -> tuple[str, ...]:
        """Return whose reaction holds up 👍 (1) or 👎 (0) on an answer, also beneath the other vote.

        Left out are these people, votes that are no reactions, and who voted there after number `until`.
        """
        votes = select(VoteRow.__table__).where(VoteRow.answer_id == answer_id).order_by(VoteRow.number)
        rows = await self._rows(votes)
        place = rows[0].pair_id or answer_id if rows else ""
        left_out = {name for one in without for name in (one, *self._veils(one, place))}
        left_out |= {row.voter for row in rows if until is not None and row.number > until}
        return tuple(
            voter
            for (_, voter), hands in sorted(raised(rows).items())
            if voter not in left_out and any(hand.value == value and hand.by_reaction for hand in hands)
        )

    async def place(self, change: MemoryChange) -> None:
        """Write derived placements."""
        async with self._database.write() as connection:
            gone = [*change.removed, *(placement.pair_id for placement in change.placements)]
            for part in slices(gone):
                await connection.execute(delete(PlacementRow).where(PlacementRow.pair_id.in_(part)))
            for some in slices(change.placements, SOME):
                rows = [values_of(PlacementRow, one) for one in some]
                await connection.execute(self._database.insert(PlacementRow), rows)

    async def placements(self) -> tuple[tuple[Placement, Remembered], ...]:
        """Return every placed pair with its placement, in order of id."""
        async with self._database.read() as connection:
            placed = select(PlacementRow.__table__).order_by(PlacementRow.pair_id)
            rows = await every(await connection.execute(placed), partial(made, Placement))
            loaded = await load_all(connection, [row.pair_id for row in rows])
        return await aside(len(rows), with_pairs, rows, loaded)

    async def voted(self) -> tuple[Remembered, ...]:
        """Return every pair that has a standing vote or was brought by people, in order of id."""
        voted = select(VoteRow.pair_id).where(COUNTS).distinct()
        statement = select(PairRow.id).where(PairRow.id.in_(voted) | (PairRow.origin != "answer"))
        async with self._database.read() as connection:
            ids = await every(await connection.execute(statement.order_by(PairRow.id)), lambda row: row.id)
            found = await load_all(connection, ids)
        return await aside(len(found), spoken_of, found)

    async def clear_placements(self) -> None:
        """Forget every placement, before a rebuild."""
        async with self._database.write() as connection:
            self._database.tell(connection, MEMORY, (ALL,))
            await connection.execute(delete(PlacementRow))

    async def mark_stale(self, release: str, live_hashes: set[str], built_at: float | None = None) -> int:
        """Mark pairs of a release that cite a page hash which is not live; return how many are new.

        Of a pair that compares releases each is judged by its own corpus. What cites only live pages
        again is stale no more. What was marked since `built_at` is not marked once more.
        """
        now = time.time()
        newly = 0
        async with self._database.write() as connection:
            columns = (PairRow.id, PairRow.release, PairRow.citations, PairRow.stale_in, PairRow.marked_at)
            rows = await connection.execute(
                select(*columns).where((PairRow.release == release) | PairRow.release.contains("+"))
            )
            for row, before, after in await every(rows, lambda row: staleness(row, release, live_hashes)):
                again = release in after and (built_at is None or row.marked_at < built_at)
                if after == before and not again:
                    continue
                newly += bool(after) and not before
                change = update(PairRow).where(PairRow.id == row.id)
                await connection.execute(change.values(stale=bool(after), stale_in="+".join(sorted(after))))
                if after:
                    await connection.execute(change.values(marked_at=now))
                else:
                    await connection.execute(change.values(**CURRENT))
        return newly

    async def move(self, channel: str, before: str, after: str) -> tuple[str, ...]:
        """Give pairs learned in a channel another scope, where it was `before`; return their ids.

        In the same transaction their placements go, and so do their questions from what explains
        answers that the new scope does not hear. What becomes public has no channel any more.
        """
        async with self._database.write() as connection:
            here = (PairRow.channel == channel, PairRow.scope == before)
            ids = tuple(
                (await connection.scalars(select(PairRow.id).where(*here).order_by(PairRow.id))).all()
            )
            self._database.tell(connection, MEMORY, ids)
            for part in slices(ids):
                pairs = update(PairRow).where(PairRow.id.in_(part))
                free = {"channel": ""} if after == "public" else {}
                await connection.execute(pairs.values(scope=after, **free))
                await connection.execute(delete(PlacementRow).where(PlacementRow.pair_id.in_(part)))
            answers = update(AnswerRow).where(AnswerRow.channel == channel, AnswerRow.scope == before)
            moving = select(AnswerRow.id).where(AnswerRow.channel == channel, AnswerRow.scope == before)
            said = update(CorrectionRow).where(CorrectionRow.answer_id.in_(moving))
            await connection.execute(said.where(CorrectionRow.scope == before).values(scope=after))
            free = {"channel": ""} if after == "public" else {}
            await connection.execute(answers.values(scope=after, **free))
            if after != "public":
                await clean_traces(connection, set(ids), AnswerRow.scope != after)
        return ids

    async def counts(self) -> dict[str, int]:
        """Return the numbers of answers, pairs, votes, and pairs in the high and low store."""
        found: dict[str, int] = {}
        async with self._database.read() as connection:
            for name, table in (("answers", AnswerRow), ("pairs", PairRow), ("votes", VoteRow)):
                found[name] = (await connection.execute(select(func.count()).select_from(table))).scalar_one()
            for store in ("high", "low"):
                placed = select(func.count()).select_from(PlacementRow).where(PlacementRow.store == store)
                shown = placed.where(PlacementRow.shadowed_by == "")
                found[store] = (await connection.execute(shown)).scalar_one()
        return found


def _look_up(ids: Sequence[str], connection: Connection) -> tuple[Sequence[Any], Sequence[Any]]:
    pairs = select(PairRow.__table__).where(PairRow.id.in_(ids))
    votes = select(VoteRow.__table__).where(VoteRow.pair_id.in_(ids), COUNTS).order_by(VoteRow.number)
    return connection.execute(pairs).all(), connection.execute(votes).all()
