"""Keep pairs in partitions, one for each release, scope and store, by their votes (ComRAG §4).

Partitions live in memory; changes are saved, and what an earlier write failed to save goes with the
next one.

Votes are the truth and stand in the database; where they place pairs is worked out in memory. So memory is
changed one at a time, in this process and in a cluster: whoever changes something waits for their turn, takes
in what others changed before, and goes on from there. Placements come out as if one process had counted all
votes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.domain import Store, Vector, content_hash
from core.languages import DEFAULT
from core.memory.partitions.partition import Member, Partition
from core.memory.scoring import Thresholds, is_neutral, score_of, worth
from core.ports import (
    CorpusStore,
    Encoder,
    MemoryChange,
    MemoryStore,
    Placement,
    Remembered,
    TopicVector,
    for_questions,
)
from core.ports.cluster import ALL, MEMORY, Cluster
from core.system.offload import aside

WRITTEN_AT_ONCE = 500
"""Placements written in one transaction, so that votes and answers are written in between."""
EVICTED_AT_ONCE = 20
"""Part of the limit by which a full store is emptied, so that not every vote has to."""


class PartitionIndex:
    """Places pairs into partitions, and knows which one each is in."""

    def __init__(self, store: MemoryStore, thresholds: Thresholds, share_platforms: bool) -> None:
        self.partitions: dict[Key, Partition] = {}
        self.home: dict[str, Key] = {}
        self._store = store
        self.thresholds = thresholds
        self._share = share_platforms
        self._encoders: Encoders | None = None
        self._unwritten: set[str] = set()

    @property
    def encoders(self) -> Encoders:
        """Return the encoders of the releases; they are set when memory is loaded."""
        assert self._encoders is not None, "load() comes first"
        return self._encoders

    def empty(self, encoders: Encoders | None = None) -> PartitionIndex:
        """Return an empty index to rebuild from scratch; `encoders` takes the place of the present ones."""
        fresh = PartitionIndex(self._store, self.thresholds, self._share)
        fresh._encoders = encoders or self._encoders
        return fresh

    async def fill(self, corpora: CorpusStore) -> tuple[Collection[Remembered], set[str]]:
        """Fill an empty index with the saved placements, corrected where they no longer match the votes.

        Returns the pairs, and those whose placements changed and are to be saved.
        """
        placed, voted = await self._store.placements(), await self._store.voted()
        pairs = await aside(len(placed) + len(voted), _all_of, placed, voted)
        vectors = await self.encoders.vectors_of(corpora, pairs.values())

        def arrange() -> set[str]:
            late = self.late(placed, pairs.keys(), vectors)
            return self.arrange([pairs[pair_id] for pair_id in sorted(late)], vectors)

        return pairs.values(), await asyncio.to_thread(arrange)

    async def take_in(self, corpora: CorpusStore, keys: Collection[str]) -> Collection[Remembered]:
        """Place pairs as another process has, which wrote that down; return those that are there still."""
        found = await self._store.pairs(list(keys))
        for pair_id in self.home.keys() & set(keys) - found.keys():
            self.partitions[self.home.pop(pair_id)].remove(pair_id)
        pairs = found.values()
        self.arrange(pairs, await self.encoders.vectors_of(corpora, pairs))
        return pairs

    def late(
        self,
        placed: Iterable[tuple[Placement, Remembered]],
        known: Collection[str],
        vectors: Mapping[str, Vector],
    ) -> set[str]:
        """Load saved placements; return the known pairs that must be placed again.

        Those are pairs without a placement, with votes that now say something else, or placed by other
        thresholds.
        """
        placed = list(placed)
        late = set(known) - {placement.pair_id for placement, _ in placed}
        late |= {pair.id for p, pair in placed if not self._load(p, pair, vectors[pair.id])}
        return late | self._unsound()

    def _load(self, placement: Placement, pair: Remembered, vector: Vector) -> bool:
        """Load a saved placement; return False if it no longer matches the votes."""
        key = self.key(pair, placement.store)
        member = Member(pair.id, placement.score, pair.created_at, vector)
        self._partition(key).load(member, placement.cluster, placement.shadowed_by)
        self.home[pair.id] = key
        return not is_neutral(pair) and placement.score == self._score(pair) and key == self._right(pair)

    def _unsound(self) -> set[str]:
        """Empty partitions made with other thresholds; return the pairs that must be placed again."""
        lost: set[str] = set()
        for key, partition in list(self.partitions.items()):
            if not partition.sound():
                lost |= {pair_id for pair_id, at in self.home.items() if at == key}
                self.partitions[key] = self._empty(key)
        return lost

    def arrange(self, pairs: Iterable[Remembered], vectors: Mapping[str, Vector]) -> set[str]:
        """Place pairs by their votes; return every pair whose placement changes."""
        touched: set[str] = set()
        arriving: dict[Key, list[Member]] = {}
        for pair in pairs:
            neutral, key = is_neutral(pair), self._right(pair)
            before = self.home.get(pair.id)
            if before is not None and (neutral or before != key):
                touched.add(pair.id)
                touched |= self.partitions[before].remove(pair.id)
                del self.home[pair.id]
            if not neutral:
                member = Member(pair.id, self._score(pair), pair.created_at, vectors[pair.id])
                arriving.setdefault(key, []).append(member)
                self.home[pair.id] = key
        for key, members in arriving.items():
            touched |= self._partition(key).put_all(members)
        return touched

    async def settle(self, touched: set[str]) -> None:
        """Evict what is over the limit, and save placements."""
        if self.thresholds.limit:
            for key, partition in self.partitions.items():
                if len(partition) > self.thresholds.limit:
                    touched |= await self._evict(key)
        self._unwritten |= touched
        late = sorted(self._unwritten)
        for start in range(0, len(late), WRITTEN_AT_ONCE):
            some = late[start : start + WRITTEN_AT_ONCE]
            await self._store.place(self._change(some))
            self._unwritten -= set(some)

    def key(self, pair: Remembered, store: Store) -> Key:
        """Return the partition that a pair belongs to if it is in that store."""
        return key_of(pair, store, self._share)

    def asked_at(self, pair: Remembered) -> tuple[str, str]:
        """Return the release and scope under which a pair's rewordings are searched."""
        release, heard, _ = self.key(pair, "high")
        return release, heard

    async def _evict(self, key: Key) -> set[str]:
        """Set the least valuable pairs aside, a twentieth of the limit more than needed, as it is costly."""
        members, limit = self.partitions[key].members, self.thresholds.limit
        pairs, recalled, now = await self._store.pairs(members), self.partitions[key].kept, time.time()
        by_worth = sorted(
            pairs.values(),
            key=lambda p: (p.id in recalled, worth(p, self._score(p), now), -p.created_at, p.id),
        )
        gone = [pair.id for pair in by_worth[: len(members) - limit + limit // EVICTED_AT_ONCE]]
        await self._store.set_aside(gone, "evicted")
        touched: set[str] = set(gone)
        for pair_id in gone:
            touched |= self.partitions[key].remove(pair_id)
            del self.home[pair_id]
        return touched

    def _change(self, touched: Iterable[str]) -> MemoryChange:
        placements, removed = [], []
        for pair_id in sorted(touched):
            key = self.home.get(pair_id)
            if key is None:
                removed.append(pair_id)
                continue
            partition = self.partitions[key]
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

    def _score(self, pair: Remembered) -> float:
        return score_of(pair, self.thresholds)

    def _right(self, pair: Remembered) -> Key:
        return self.key(pair, self.thresholds.store(self._score(pair)))

    def _partition(self, key: Key) -> Partition:
        if key not in self.partitions:
            self.partitions[key] = self._empty(key)
        return self.partitions[key]

    def _empty(self, key: Key) -> Partition:
        dimensions = self.encoders.of(key[0]).dimensions
        return Partition(self.thresholds.delta, self.thresholds.tau, dimensions)


@dataclass(frozen=True, slots=True)
class Encoders:
    """Which encoder makes the vectors of a release, and the vectors it made of pairs."""

    default: Encoder
    by_release: dict[str, Encoder]

    def of(self, release: str) -> Encoder:
        """Return the encoder of a release, or of the first of several that are compared."""
        return self.by_release.get(release.split("+")[0], self.default)

    async def known_vectors(self, corpora: CorpusStore, pairs: Iterable[Remembered]) -> dict[str, Vector]:
        """Return the vectors of pairs that are stored already, by pair id."""
        pairs = list(pairs)
        found: dict[str, Vector] = {}
        for encoder, keys in await aside(len(pairs), _keys, self, pairs):
            vectors = await corpora.vectors(for_questions(encoder).name, list(keys.values()))
            found |= await aside(len(keys), _filed, keys, vectors)
        return found

    async def vectors_of(self, corpora: CorpusStore, pairs: Iterable[Remembered]) -> dict[str, Vector]:
        """Return the vectors of all pairs, by pair id; those that a changed encoder lacks are made now."""
        pairs = list(pairs)
        found = await self.known_vectors(corpora, pairs)
        if len(found) == len(pairs):
            return found
        for encoder, some in _by_encoder(self, (pair for pair in pairs if pair.id not in found)):
            fresh = await embedded(corpora, encoder, [pair.topic for pair in some])
            found |= {pair.id: fresh[pair.topic] for pair in some}
        return found

    def topic_of(self, pair: Remembered, vector: Vector) -> TopicVector:
        """Return the vector of a pair's topic as it is kept."""
        return TopicVector(for_questions(self.of(pair.release)).name, content_hash(pair.topic), vector)


async def embedded(corpora: CorpusStore, encoder: Encoder, topics: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of topics by their text; those that are not kept yet are made and kept."""
    encoder = for_questions(encoder)
    keys = {topic: content_hash(topic) for topic in topics}
    known = await corpora.vectors(encoder.name, list(keys.values()))
    missing = [topic for topic, key in keys.items() if key not in known]
    if missing:
        fresh = dict(zip((keys[topic] for topic in missing), await encoder.encode(missing), strict=True))
        await corpora.put_vectors(encoder.name, fresh)
        known |= fresh
    return {topic: known[key] for topic, key in keys.items()}


def _keys(encoders: Encoders, pairs: Iterable[Remembered]) -> list[tuple[Encoder, dict[str, str]]]:
    """Return for each encoder the hash of every pair's topic, by the pair's id."""
    return [
        (encoder, {pair.id: content_hash(pair.topic) for pair in some})
        for encoder, some in _by_encoder(encoders, pairs)
    ]


def _filed(keys: Mapping[str, str], vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    return {pair_id: vectors[key] for pair_id, key in keys.items() if key in vectors}


def _by_encoder(
    encoders: Encoders, pairs: Iterable[Remembered]
) -> Iterable[tuple[Encoder, list[Remembered]]]:
    sorted_out: dict[str, tuple[Encoder, list[Remembered]]] = {}
    for pair in pairs:
        encoder = encoders.of(pair.release)
        sorted_out.setdefault(encoder.name, (encoder, []))[1].append(pair)
    return sorted_out.values()


Key = tuple[str, str, Store]
"""A partition of memory: release, who hears it, store."""
EVERY_RELEASE = "*"
"""Release of a pair that holds for all of them."""
PRIVATE = "private:"
OTHER_LANGUAGE = "~"
"""Stands before the language in who hears a pair that is not in English: `public~de`."""


def platform_of(name: str) -> str:
    """Return the platform of an account or channel such as `slack:C1`; empty where it names none."""
    platform, colon, _ = name.partition(":")
    return platform if colon else ""


def key_of(pair: Remembered, store: Store, share: bool = True) -> Key:
    """Return the partition of a pair in that store; answers in another language than English have their own.

    Platforms that do not share have partitions of their own; imported pairs have no platform and are for
    all of them.
    """
    platform = "" if share or pair.scope != "public" else platform_of(pair.channel or pair.asker)
    heard = f"public@{platform}" if platform else pair.scope
    language = "" if pair.language in ("", DEFAULT) else f"{OTHER_LANGUAGE}{pair.language}"
    return (pair.release, heard + language, store)


def scope_of(heard: str) -> str:
    """Return who hears a partition, without the language of its answers."""
    return heard.partition(OTHER_LANGUAGE)[0]


def _all_of(
    placed: Iterable[tuple[Placement, Remembered]], voted: Iterable[Remembered]
) -> dict[str, Remembered]:
    """Return by id every pair that is placed or has votes."""
    return {pair.id: pair for _, pair in placed} | {pair.id: pair for pair in voted}


class Turns:
    """Lets memory change; `take_in` is given the pairs that others changed, or `ALL`."""

    def __init__(self, cluster: Cluster, take_in: Callable[[Collection[str]], Awaitable[None]]) -> None:
        self._cluster = cluster
        self._take_in = take_in
        self._lock = asyncio.Lock()
        self._seen: int | None = None

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Change memory while nobody else does."""
        async with self._lock, self._cluster.turn(MEMORY):
            news = await self._cluster.news(self._seen, MEMORY)
            if keys := news.keys.get(MEMORY):
                await self._take_in(keys)
            self._seen = news.number
            yield

    async def follow(self) -> None:
        """Take in what others changed, which they have written down."""
        async with self._lock:
            news = await self._cluster.news(self._seen, MEMORY)
            keys = news.keys.get(MEMORY, set())
            if ALL not in keys:
                await self._take_in(keys)
                self._seen = news.number
        if ALL in keys:  # who changed so much may be writing yet
            async with self.one():
                pass
