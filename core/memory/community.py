"""Community memory: what people voted good or bad, recalled for the next question (ComRAG §4).

Votes are the truth and lie in the store as events; where a pair stands follows from them. The
vectors of placed pairs are mirrored here, one matrix for each release, scope and store.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from core.domain import QAPair, Recall, Scope, Store, Vector, Vote, content_hash
from core.memory.clusters import Member, Partition
from core.memory.scoring import Thresholds, is_neutral, score_of, worth
from core.memory.topics import Encoders, kept, made
from core.memory.verification import Key, check
from core.ports import CorpusStore, Encoder, MemoryChange, MemoryStore, Placement, Remembered

EVICTED_AT_ONCE = 20
"""Part of the limit by which a full store is emptied, so that not every vote has to."""
EVERY_RELEASE = "*"
"""Release of a pair that holds for all of them."""
Guard = Callable[[str, str], str]


class CommunityMemory:
    """Places pairs by their votes and recalls them by their question."""

    def __init__(
        self, store: MemoryStore, corpora: CorpusStore, thresholds: Thresholds, guard: Guard
    ) -> None:
        self.thresholds = thresholds
        self._store = store
        self._corpora = corpora
        self._guard = guard
        self._partitions: dict[Key, Partition] = {}
        self._home: dict[str, Key] = {}
        self._unwritten: set[str] = set()
        self._encoders: Encoders | None = None
        self._changing = asyncio.Lock()

    async def load(self, default: Encoder, encoders: dict[str, Encoder]) -> None:
        """Take over placements from the store and mend those that votes have overtaken.

        `encoders` names the encoder of each release's corpus, `default` serves all others. A
        process that died between a vote and its placement leaves such a gap, other thresholds or
        another encoder a bigger one. What was loaded before answers until this is done.
        """
        async with self._changing:
            now = Encoders(default, encoders)
            placed = await self._store.placements()
            pairs = {pair.id: pair for _, pair in placed} | {p.id: p for p in await self._store.voted()}
            vectors = await made(self._corpora, now, pairs.values())
            self._encoders, self._partitions, self._home, self._unwritten = now, {}, {}, set()
            late = pairs.keys() - {placement.pair_id for placement, _ in placed}
            for placement, pair in placed:
                key = self._key(pair, placement.store)
                member = Member(pair.id, placement.score, pair.created_at, vectors[pair.id])
                self._partition(key).load(member, placement.cluster, placement.shadowed_by)
                self._home[pair.id] = key
                if self._neutral(pair) or placement.score != self.score(pair) or key != self._right(pair):
                    late.add(pair.id)
            for key, partition in list(self._partitions.items()):
                if not partition.sound():
                    late |= {pair_id for pair_id, at in self._home.items() if at == key}
                    self._partitions[key] = self._empty(key)
            await self._settle(self._arrange([pairs[pair_id] for pair_id in sorted(late)], vectors))

    async def remember(self, pair: Remembered, vector: Vector) -> None:
        """Keep the vector of a new, neutral pair, so that a vote can place it."""
        encoder = self._ready().of(pair.release)
        await self._corpora.put_vectors(encoder.name, {content_hash(pair.topic): vector})

    async def recall(self, vector: Vector, topic: str, release: str, scope: Scope) -> Recall:
        """Choose the route of a question and the pairs that go with it (ComRAG algorithm 1).

        Reuse also needs that enough people vouch for the pair, that the guard finds no decisive
        difference and that the pair is not stale; else the pair is for reference.
        """
        found = await self._nearest(vector, release, scope, "high")
        low = self._all_shown(await self._nearest(vector, release, scope, "low"), vector)
        reason = ""
        for pair, similarity in found:
            if similarity < self.thresholds.delta:
                break
            reason = self._unfit(pair, scope) or self._guard(topic, pair.topic)
            if not reason:
                return Recall("reuse", ((self._shown(pair, vector), similarity),), low)
        high = self._all_shown(found, vector)
        return Recall("reference" if high else "avoid", high, low, reason)

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Count a vote; return the pair it moved, None where the answer has no pair.

        The event is committed first: whatever happens later, the vote is not lost.
        """
        async with self._changing:
            pair = await self._store.vote(vote, weight)
            if pair is not None:
                vectors = await made(self._corpora, self._ready(), [pair])
                await self._settle(self._arrange([pair], vectors))
            return pair

    async def seed(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought and place them; return the ids that are new, or back again."""
        async with self._changing:
            vectors = await made(self._corpora, self._ready(), pairs)
            new = await self._store.add(pairs)
            stored = await self._store.pairs([pair.id for pair in pairs])
            back = [pair_id for pair_id, pair in stored.items() if pair.aside]
            await self._store.set_aside(back, "")
            added = [replace(stored[pair_id], aside="") for pair_id in (*new, *back)]
            await self._settle(self._arrange(added, vectors))
            return new | set(back)

    async def retire(self, pair_ids: Sequence[str]) -> None:
        """Take pairs out of memory for good: no vote brings them back."""
        async with self._changing:
            await self._store.set_aside(pair_ids, "retired")
            pairs = await self._store.pairs(pair_ids)
            await self._settle(self._arrange(pairs.values(), {}))

    async def find(self, name: str) -> Remembered | None:
        """Return the pair of that id, or the first that was imported under it."""
        pair = await self._store.pair(name)
        if pair is None and name:
            labelled = (p for p in await self._store.voted() if p.label == name)
            pair = min(labelled, key=lambda p: (p.aside != "", p.created_at), default=None)
        return pair

    async def named(self, pair_id: str) -> str:
        """Return what people call a pair: the id it was imported under, else its own."""
        pair = await self._store.pair(pair_id) if pair_id else None
        return pair.label or pair_id if pair else pair_id

    async def everything(self) -> tuple[Remembered, ...]:
        """Return every pair with a standing opinion or brought by people, those set aside too."""
        return await self._store.voted()

    async def verify(self) -> list[str]:
        """Check every invariant against the store; return a sentence for each one that is broken."""
        async with self._changing:
            placed, voted = await self._store.placements(), await self._store.voted()
            vectors = await kept(self._corpora, self._ready(), [pair for _, pair in placed])
            return check(placed, voted, vectors, self.thresholds, self._partitions)

    async def rebuild(self, first: Callable[[], Awaitable[None]] | None = None) -> None:
        """Derive every placement anew from the votes; gives the same stores as before.

        `first` is done while nothing else changes memory, for instance to remove pairs.
        """
        async with self._changing:
            if first is not None:
                await first()
            voted = await self._store.voted()
            vectors = await made(self._corpora, self._ready(), voted)
            self._partitions, self._home = {}, {}
            placed = self._arrange(voted, vectors)
            await self._store.clear_placements()
            await self._settle(placed)

    def score(self, pair: Remembered) -> float:
        """Return a pair's score from its prior and its standing opinions."""
        return score_of(pair, self.thresholds)

    def stores(self) -> dict[str, tuple[Store, bool]]:
        """Return for every placed pair its store, and whether it is kept there."""
        return {
            pair_id: (key[2], pair_id in self._partitions[key].kept) for pair_id, key in self._home.items()
        }

    def partitions(self) -> dict[Key, Partition]:
        """Return the partitions by (release, scope, store), for checks and pictures."""
        return dict(self._partitions)

    async def _nearest(
        self, vector: Vector, release: str, scope: Scope, store: Store
    ) -> tuple[tuple[Remembered, float], ...]:
        found: list[tuple[str, float]] = []
        encoders = self._ready()
        for (at, heard, kind), partition in self._partitions.items():
            if kind != store or at not in (release, EVERY_RELEASE) or not scope.hears(heard):
                continue
            # while a corpus gets another encoder, vectors of two kinds may meet
            if encoders.of(at).name == encoders.of(release).name and partition.dimensions == len(vector):
                found += partition.nearest(vector, self.thresholds.recalled)
        near = sorted((f for f in found if f[1] >= self.thresholds.tau), key=lambda f: (-f[1], f[0]))
        near = near[: self.thresholds.recalled]
        pairs = await self._store.pairs([pair_id for pair_id, _ in near]) if near else {}
        return tuple((pairs[pair_id], similarity) for pair_id, similarity in near if pair_id in pairs)

    def _unfit(self, pair: Remembered, scope: Scope) -> str:
        """Say why a pair is not reused whatever is asked; empty where it may be."""
        if pair.stale:
            return "What it cites has changed since."
        vouched = sum(1 for value, _ in pair.opinions if value)
        if scope.kind == "public" and pair.origin == "answer" and vouched < self.thresholds.min_voters:
            return f"{vouched} of the {self.thresholds.min_voters} people it needs have voted it good."
        return ""

    def _all_shown(
        self, found: Iterable[tuple[Remembered, float]], vector: Vector
    ) -> tuple[tuple[QAPair, float], ...]:
        return tuple((self._shown(pair, vector), similarity) for pair, similarity in found)

    def _shown(self, pair: Remembered, vector: Vector) -> QAPair:
        return QAPair(
            id=pair.id,
            question=pair.question,
            answer=pair.answer,
            release=pair.release,
            scope=pair.scope,
            score=self.score(pair),
            vector=vector,
            citations=pair.citations,
            stale=pair.stale,
            topic=pair.topic,
            label=pair.label,
        )

    def _arrange(self, pairs: Iterable[Remembered], vectors: dict[str, Vector]) -> set[str]:
        """Put pairs where their votes say; return every pair whose placement this touches."""
        touched: set[str] = set()
        for pair in pairs:
            neutral, key = self._neutral(pair), self._right(pair)
            before = self._home.get(pair.id)
            if before is not None and (neutral or before != key):
                touched.add(pair.id)
                touched |= self._partitions[before].remove(pair.id)
                del self._home[pair.id]
            if not neutral:
                member = Member(pair.id, self.score(pair), pair.created_at, vectors[pair.id])
                touched |= self._partition(key).put(member)
                self._home[pair.id] = key
        return touched

    async def _settle(self, touched: set[str]) -> None:
        """Evict what is over the limit, and write placements down."""
        if self.thresholds.limit:
            for key, partition in self._partitions.items():
                if len(partition) > self.thresholds.limit:
                    touched |= await self._evict(key)
        await self._write(touched)

    async def _evict(self, key: Key) -> set[str]:
        """Set aside what is worth least, a twentieth of the limit more than needed: it is costly."""
        members, limit = self._partitions[key].members, self.thresholds.limit
        pairs, recalled, now = await self._store.pairs(members), self._partitions[key].kept, time.time()
        by_worth = sorted(
            pairs.values(),
            key=lambda p: (p.id in recalled, worth(p, self.score(p), now), -p.created_at, p.id),
        )
        gone = [pair.id for pair in by_worth[: len(members) - limit + limit // EVICTED_AT_ONCE]]
        await self._store.set_aside(gone, "evicted")
        touched: set[str] = set(gone)
        for pair_id in gone:
            touched |= self._partitions[key].remove(pair_id)
            del self._home[pair_id]
        return touched

    async def _write(self, touched: set[str]) -> None:
        """Write placements down, with those that an earlier write failed to."""
        self._unwritten |= touched
        if self._unwritten:
            await self._store.place(self._change(self._unwritten))
            self._unwritten = set()

    def _change(self, touched: Iterable[str]) -> MemoryChange:
        placements, removed = [], []
        for pair_id in sorted(touched):
            key = self._home.get(pair_id)
            if key is None:
                removed.append(pair_id)
                continue
            partition = self._partitions[key]
            placements.append(
                Placement(
                    pair_id,
                    key[2],
                    partition.score_of(pair_id),
                    partition.cluster_of(pair_id),
                    partition.shadowed_by(pair_id),
                )
            )
        return MemoryChange(tuple(placements), tuple(removed))

    def _ready(self) -> Encoders:
        assert self._encoders is not None, "load() comes first"
        return self._encoders

    def _key(self, pair: Remembered, store: Store) -> Key:
        return (pair.release, pair.scope, store)

    def _right(self, pair: Remembered) -> Key:
        return self._key(pair, self.thresholds.store(self.score(pair)))

    def _neutral(self, pair: Remembered) -> bool:
        return is_neutral(pair)

    def _partition(self, key: Key) -> Partition:
        if key not in self._partitions:
            self._partitions[key] = self._empty(key)
        return self._partitions[key]

    def _empty(self, key: Key) -> Partition:
        dimensions = self._ready().of(key[0]).dimensions
        return Partition(self.thresholds.delta, self.thresholds.tau, dimensions)
