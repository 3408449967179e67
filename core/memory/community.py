"""Community memory: what people voted good or bad, recalled for the next question (ComRAG §4).

Votes are the truth and lie in the store as events; where a pair stands follows from them. The
vectors of placed pairs are mirrored here, one matrix for each release, scope and store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from core.domain import QAPair, Recall, Scope, Store, Vector, Vote, content_hash
from core.memory.clusters import Member, Partition
from core.memory.scoring import Thresholds, score
from core.ports import CorpusStore, Encoder, MemoryChange, MemoryStore, Placement, Remembered

EVERY_RELEASE = "*"
"""Release of a pair that holds for all of them."""
Key = tuple[str, str, Store]
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
        self._encoders: dict[str, Encoder] = {}
        self._default: Encoder | None = None
        self._changing = asyncio.Lock()

    async def load(self, default: Encoder, encoders: dict[str, Encoder]) -> None:
        """Take over placements from the store and mend those that votes have overtaken.

        `encoders` names the encoder of each release's corpus, `default` serves all others. A
        process that died between a vote and its placement leaves such a gap.
        """
        self._default, self._encoders = default, encoders
        async with self._changing:
            self._partitions.clear()
            self._home.clear()
            placed = await self._store.placements()
            vectors = await self._vectors([pair for _, pair in placed])
            seen: dict[str, Placement] = {}
            for placement, pair in placed:
                key = self._key(pair, placement.store)
                member = Member(pair.id, placement.score, pair.created_at, vectors[pair.id])
                self._partition(key).load(member, placement.cluster, placement.shadowed_by)
                self._home[pair.id] = key
                seen[pair.id] = placement
            voted = {pair.id: pair for pair in await self._store.voted()}
            late = [p for p in voted.values() if p.id not in seen or seen[p.id].score != self.score(p)]
            late += (await self._store.pairs([key for key in seen if key not in voted])).values()
            await self._move(late)

    async def remember(self, pair: Remembered, vector: Vector) -> None:
        """Keep the vector of a new, neutral pair, so that a vote can place it."""
        encoder = self._encoder(pair.release)
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
            reason = "what it cites has changed since" if pair.stale else self._guard(topic, pair.topic)
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
                await self._move([pair])
            return pair

    async def rebuild(self) -> None:
        """Derive every placement anew from the votes; gives the same stores as before."""
        async with self._changing:
            await self._store.clear_placements()
            self._partitions.clear()
            self._home.clear()
            await self._move(await self._store.voted())

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
        for (at, heard, kind), partition in self._partitions.items():
            if kind == store and at in (release, EVERY_RELEASE) and scope.hears(heard):
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

    async def _move(self, pairs: Sequence[Remembered]) -> None:
        """Put pairs where their votes say, and write down every placement this touches."""
        touched: set[str] = set()
        vectors = await self._vectors(pairs)
        for pair in pairs:
            neutral = not pair.opinions and pair.origin == "answer"
            value = self.score(pair)
            key = self._key(pair, self.thresholds.store(value))
            before = self._home.get(pair.id)
            if before is not None and (neutral or before != key):
                touched |= self._partitions[before].remove(pair.id)
                del self._home[pair.id]
            if not neutral:
                member = Member(pair.id, value, pair.created_at, vectors[pair.id])
                touched |= self._partition(key).put(member)
                self._home[pair.id] = key
        if touched:
            await self._store.place(self._change(touched))

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

    async def _vectors(self, pairs: Sequence[Remembered]) -> dict[str, Vector]:
        """Find the vectors of pairs' topics; those that a changed encoder lacks are made now."""
        found: dict[str, Vector] = {}
        by_encoder: dict[str, list[Remembered]] = {}
        for pair in pairs:
            by_encoder.setdefault(self._encoder(pair.release).name, []).append(pair)
        for name, some in by_encoder.items():
            encoder = self._encoder(some[0].release)
            kept = await self._corpora.vectors(name, [content_hash(pair.topic) for pair in some])
            missing = list(dict.fromkeys(p.topic for p in some if content_hash(p.topic) not in kept))
            if missing:
                made = await encoder.encode(missing)
                fresh = {content_hash(topic): row for topic, row in zip(missing, made, strict=True)}
                await self._corpora.put_vectors(name, fresh)
                kept |= fresh
            found.update((pair.id, kept[content_hash(pair.topic)]) for pair in some)
        return found

    def _encoder(self, release: str) -> Encoder:
        encoder = self._encoders.get(release.split("+")[0], self._default)
        assert encoder is not None, "load() comes first"
        return encoder

    def _key(self, pair: Remembered, store: Store) -> Key:
        return (pair.release, pair.scope, store)

    def _partition(self, key: Key) -> Partition:
        if key not in self._partitions:
            self._partitions[key] = Partition(
                self.thresholds.delta, self.thresholds.tau, self._encoder(key[0]).dimensions
            )
        return self._partitions[key]
