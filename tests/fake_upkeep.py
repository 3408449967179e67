"""The rest of the fake memory: stale pairs, its size, and who votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.domain import READER, STRANGERS, Citation, Scope
from core.ports import Acquaintance, Census, StalePair, Stored, VoteEvent
from tests.fake_stores import FakeMemories, Mark


class FakeUpkeep:
    """The `UpkeepStore` port, over the same pairs."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories

    async def stale(self) -> tuple[StalePair, ...]:
        found = []
        for placement, pair in await self._memories.placements():
            mark = self._memories.marks.get(pair.id) or Mark(frozenset(pair.release.split("+")), 0.0)
            if pair.stale and placement.store == "high" and not pair.aside:
                releases = tuple(sorted(mark.releases))
                times = (mark.marked_at, mark.checked_at)
                found.append(StalePair(pair, releases, *times, mark.finding, mark.proposal, mark.proposed))
        return tuple(found)

    async def unchecked(self, limit: int) -> tuple[StalePair, ...]:
        waiting = [item for item in await self.stale() if item.checked_at < item.marked_at]
        return tuple(sorted(waiting, key=lambda item: (item.marked_at, item.pair.id))[:limit])

    async def found(
        self, seen: StalePair, finding: str, proposal: str, proposed: Sequence[Citation], at: float
    ) -> bool:
        mark = self._memories.marks.get(seen.pair.id)
        if mark is None or mark.marked_at != seen.marked_at:
            return False
        looked = max(at, mark.marked_at)
        told = Mark(mark.releases, mark.marked_at, looked, finding, proposal, tuple(proposed))
        self._memories.marks[seen.pair.id] = told
        return True

    async def renew(self, seen: StalePair, answer: str, citations: Sequence[Citation]) -> bool:
        mark = self._memories.marks.get(seen.pair.id)
        if mark is None or mark.marked_at != seen.marked_at:
            return False
        del self._memories.marks[seen.pair.id]
        self._memories.change(seen.pair.id, answer=answer, citations=tuple(citations), stale=False)
        return True

    async def census(self) -> Census:
        placed = await self._memories.placements()
        counts = Counter((pair.release, p.store, bool(p.shadowed_by)) for p, pair in placed)
        kinds = sorted({key[:2] for key in counts})
        stores = tuple(Stored(r, s, counts[r, s, False], counts[r, s, True]) for r, s in kinds)
        return Census(stores, tuple(sorted(Counter(int(p.created_at // 86400) for _, p in placed).items())))

    async def broken(self) -> list[str]:
        wrong = []
        for key, pair in sorted(self._memories.all_pairs().items()):
            mark = self._memories.marks.get(key)
            scope = Scope.parse(pair.scope)
            if mark is not None and (not pair.stale or not mark.releases <= set(pair.release.split("+"))):
                stale_in = "+".join(sorted(mark.releases))
                wrong.append(f"{key} is stale in '{stale_in}', its mark says {pair.stale}")
            if not scope.remembered:
                wrong.append(f"{key} comes from a direct message")
            if scope.kind == "private" and pair.channel not in ("", scope.channel):
                wrong.append(f"{key} is for {scope.channel} alone, but was learned in {pair.channel}")
        return wrong


class FakeVoters:
    """The `VoterStore` port, over the same votes."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories

    async def acquaintance(self, accounts: Collection[str], pair_id: str, since: float) -> Acquaintance:
        own = [(v.at.timestamp(), p) for v, p, _ in self._memories.votes if v.at and v.voter in accounts]
        asked = [row["at"] for row in self._memories.all_answers() if row["asker"] in accounts]
        late = [
            vote
            for vote, pair, _ in self._memories.votes
            if vote.at and pair == pair_id and vote.at.timestamp() >= since and vote.voter not in accounts
            if vote.standing != READER
        ]
        return Acquaintance(
            min([*asked, *(at for at, _ in own)], default=0.0),
            len(asked) + len({pair for _, pair in own}),
            sum(1 for at, _ in own if at >= since),
            len({vote.voter for vote in late}),
            len({vote.voter for vote in late if vote.standing in STRANGERS}),
        )

    async def anybody_known(self, before: float, contributions: int) -> bool:
        pairs: dict[str, set[str]] = {}
        old: set[str] = set()
        for vote, pair, _ in self._memories.votes:
            if vote.standing == READER:
                continue
            pairs.setdefault(vote.voter, set()).add(pair)
            if vote.at and vote.at.timestamp() <= before:
                old.add(vote.voter)
        return any(len(pairs[voter]) >= contributions for voter in old)

    async def by_strangers(self, since: float) -> tuple[VoteEvent, ...]:
        found = [
            VoteEvent(pair, vote.answer_id, vote.voter, vote.standing, vote.at.timestamp())
            for vote, pair, _ in self._memories.votes
            if vote.standing in STRANGERS and vote.at and vote.at.timestamp() >= since
        ]
        return tuple(sorted(found, key=lambda event: event.at))

    async def link(self, people: Mapping[str, Sequence[str]]) -> int:
        names = {account: name for name, accounts in people.items() for account in accounts}
        count = 0
        for place, (vote, pair, weight) in enumerate(self._memories.votes):
            name = names.get(vote.voter, vote.voter)
            count += name != vote.voter
            self._memories.votes[place] = (replace(vote, voter=name), pair, weight)
        return count
