"""Community memory: what people voted good or bad, recalled for the next question (ComRAG §4).

Votes are the truth and lie in the store as events; where a pair stands follows from them. The
vectors of placed pairs are mirrored here, one matrix for each release, scope and store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.domain import QAPair, Recall, Scope, Store, Vector, Vote, content_hash
from core.memory.clusters import Member, Partition
from core.memory.scoring import Thresholds, score
from core.ports import CorpusStore, Encoder, MemoryChange, MemoryStore, Placement, Remembered

EVERY_RELEASE = "*"
"""Release of a pair that holds for all of them."""
Key = tuple[str, str, Store]
Guard = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Encoders:
    """Which encoder makes the vectors of a release."""

    default: Encoder
    by_release: dict[str, Encoder]

    def of(self, release: str) -> Encoder:
        """Return the encoder of a release, or of the first of several that are compared."""
        return self.by_release.get(release.split("+")[0], self.default)


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
            vectors = await self._vectors(pairs.values(), now)
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
            await self._write(self._arrange([pairs[pair_id] for pair_id in sorted(late)], vectors))

    async def remember(self, pair: Remembered, vector: Vector) -> None:
        """Keep the vector of a new, neutral pair, so that a vote can place it."""
        encoder = self._ready().of(pair.release)
        await self._corpora.put_vectors(encoder.name, {content_hash(pair.topic): vector})

    async def recall(self, vector: Vector, topic: str, release: str, scope: Scope) -> Recall:
        """Choose the route of a question and the pairs that go with it (ComRAG algorithm 1).

        Reuse also needs that the guard finds no decisive difference and that the pair is not
        stale; else the pair is for reference.
        """
        high = await self._nearest(vector, release, scope, "high")
        low = await self._nearest(vector, release, scope, "low")
        reason = ""
        for pair, similarity in high:
            if similarity < self.thresholds.delta:
                break
            reason = "What it cites has changed since." if pair.stale else self._guard(topic, pair.topic)
            if not reason:
                return Recall("reuse", ((pair, similarity),), low)
        return Recall("reference" if high else "avoid", high, low, reason)

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Count a vote; return the pair it moved, None where the answer has no pair.

        The event is committed first: whatever happens later, the vote is not lost.
        """
        async with self._changing:
            pair = await self._store.vote(vote, weight)
            if pair is not None:
                vectors = await self._vectors([pair], self._ready())
                await self._write(self._arrange([pair], vectors))
            return pair

    async def rebuild(self) -> None:
        """Derive every placement anew from the votes; gives the same stores as before."""
        async with self._changing:
            voted = await self._store.voted()
            vectors = await self._vectors(voted, self._ready())
            self._partitions, self._home = {}, {}
            placed = self._arrange(voted, vectors)
            await self._store.clear_placements()
            await self._write(placed)

    def score(self, pair: Remembered) -> float:
        """Return a pair's score from its prior and its standing opinions."""
        return score(pair.prior, pair.opinions, self.thresholds.prior_strength)

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
    ) -> tuple[tuple[QAPair, float], ...]:
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
        return tuple(
            (self._shown(pairs[pair_id], vector), similarity)
            for pair_id, similarity in near
            if pair_id in pairs
        )

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

    async def _vectors(self, pairs: Iterable[Remembered], encoders: Encoders) -> dict[str, Vector]:
        """Find the vectors of pairs' topics; those that a changed encoder lacks are made now."""
        found: dict[str, Vector] = {}
        by_encoder: dict[str, list[Remembered]] = {}
        for pair in pairs:
            by_encoder.setdefault(encoders.of(pair.release).name, []).append(pair)
        for name, some in by_encoder.items():
            encoder = encoders.of(some[0].release)
            kept = await self._corpora.vectors(name, [content_hash(pair.topic) for pair in some])
            missing = list(dict.fromkeys(p.topic for p in some if content_hash(p.topic) not in kept))
            if missing:
                made = await encoder.encode(missing)
                fresh = {content_hash(topic): row for topic, row in zip(missing, made, strict=True)}
                await self._corpora.put_vectors(name, fresh)
                kept |= fresh
            found.update((pair.id, kept[content_hash(pair.topic)]) for pair in some)
        return found

    def _ready(self) -> Encoders:
        assert self._encoders is not None, "load() comes first"
        return self._encoders

    def _key(self, pair: Remembered, store: Store) -> Key:
        return (pair.release, pair.scope, store)

    def _right(self, pair: Remembered) -> Key:
        return self._key(pair, self.thresholds.store(self.score(pair)))

    def _neutral(self, pair: Remembered) -> bool:
        return not pair.opinions and pair.origin == "answer"

    def _partition(self, key: Key) -> Partition:
        if key not in self._partitions:
            self._partitions[key] = self._empty(key)
        return self._partitions[key]

    def _empty(self, key: Key) -> Partition:
        dimensions = self._ready().of(key[0]).dimensions
        return Partition(self.thresholds.delta, self.thresholds.tau, dimensions)
