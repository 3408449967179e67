"""Community memory: what people voted good or bad, recalled for the next question (ComRAG §4).

Votes are the truth, kept in the store as events; placements are derived from them. The vectors
of placed pairs are mirrored here, one matrix for each release, scope and store.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial

from core.domain import QAPair, Recall, Scope, Store, Vector, Vote
from core.memory.calibrated import Settle
from core.memory.decision import PAPER, Decision, Distinctions, Guard, key_of
from core.memory.partitions.arrivals import Replayed
from core.memory.partitions.partition import Partition
from core.memory.partitions.partition_index import PRIVATE, Encoders, Key, PartitionIndex, Turns
from core.memory.recall import Lookup, PaperRecaller, Recaller, shown
from core.memory.recognition import Recognition
from core.memory.scoring import Thresholds, score_of
from core.memory.verification import check, searched
from core.ports import CorpusStore, Encoder, MemoryStore, Remembered, RewordingStore, TopicVector
from core.ports.cluster import ALL, Cluster, OnlyProcess
from core.ports.opinions import Distinction, DistinctionStore
from core.system.offload import aside

Known = Callable[[], Awaitable[bool]]


class CommunityMemory:
    """Places pairs by their votes and recalls them by their question."""

    def __init__(
        self,
        store: MemoryStore,
        corpora: CorpusStore,
        thresholds: Thresholds,
        guard: Guard,
        *,
        share_platforms: bool = True,
        decision: Decision = PAPER,
        settle: Settle | None = None,
        rewordings: RewordingStore | None = None,
        distinctions: DistinctionStore | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        self._share = share_platforms
        self._store = store
        self._corpora = corpora
        self._guard = guard
        self._apart = distinctions
        known = Distinctions(distinctions, corpora)
        self._recognition = Recognition(decision, rewordings, corpora, known)
        self._places = PartitionIndex(store, thresholds, share_platforms)
        self._settle = settle
        self._settled = frozenset[str]()
        self._replayed = Replayed()
        self._turns = Turns(cluster or OnlyProcess(), self._take_in)
        self.turn = self._turns.one
        """Keeps every pair in its place until the context ends."""

    @property
    def thresholds(self) -> Thresholds:
        """Return what decides on stores, clusters and reuse."""
        return self._places.thresholds

    @thresholds.setter
    def thresholds(self, thresholds: Thresholds) -> None:
        self._places.thresholds = thresholds

    @property
    def decision(self) -> Decision:
        """Return how close a question must be for an answer to be reused."""
        return self._recognition.decision

    async def load(self, default: Encoder, encoders: dict[str, Encoder]) -> None:
        """Load placements from the store and correct those that no longer match the votes.

        `encoders` names the encoder of each release's corpus, `default` serves all others; thresholds and
        decision are settled again for them. A process that died between a vote and its placement leaves a
        gap, other thresholds or another encoder a bigger one. What was loaded before answers meanwhile.
        """
        async with self._turns.one():
            await self._load(Encoders(default, encoders))

    async def follow(self, told_apart: Collection[str] = ()) -> None:
        """Take in what other processes of a cluster changed, such as which questions they told apart."""
        await self._turns.follow()
        if told_apart:
            async with self._turns.one():
                for pair_id in told_apart:
                    await self._learn_apart(pair_id)

    async def _take_in(self, keys: Collection[str]) -> None:
        """Place pairs as another process has; what that wrote down is not written again."""
        if ALL in keys:
            await self._load(self._places.encoders)
        elif keys:
            await self._learn(await self._places.take_in(self._corpora, keys))

    async def _load(self, now: Encoders) -> None:
        places, decision = self._places.empty(now), self.decision
        in_use = {encoder.name: encoder for encoder in now.by_release.values() or [now.default]}
        if self._settle and in_use.keys() != self._settled:
            places.thresholds, decision = await self._settle(list(in_use.values()))
            self._settled = frozenset(in_use)
        pairs, touched = await places.fill(self._corpora)
        await self._take_over(places, pairs, decision)
        await places.settle(touched)

    def topic_of(self, pair: Remembered, vector: Vector) -> TopicVector:
        """Return what is kept with a new, neutral pair, so that a vote can place it."""
        return self._places.encoders.topic_of(pair, vector)

    async def recall(
        self,
        vector: Vector,
        topic: str,
        release: str,
        scope: Scope,
        language: str = "",
        literal: bool = False,
        by_paper: bool = False,
    ) -> Recall:
        """Choose the route of a question and the pairs that go with it (ComRAG algorithm 1).

        Reuse also needs that enough people vouch for the pair, that the guard finds no decisive
        difference and that the pair is not stale; else the pair is for reference. So is one whose answer is
        in another `language`; empty for any. With `literal` a question must be asked in the same words.
        None of this holds `by_paper`, where algorithm 1 alone decides on what algorithm 2 keeps.
        """
        parts = (self._store, self._places, self._recognition, self._guard)
        recaller = PaperRecaller(*parts, self._replayed) if by_paper else Recaller(*parts)
        return await recaller.recall(Lookup(vector, topic, release, scope, language, literal))

    async def repeated(self, text: str, topic: str, recall: Recall) -> str:
        """Return the id of the recalled good pair whose answer `text` says again; empty where it is new.

        Such an answer needs no pair of its own: `topic` is one more way to ask for that one.
        """
        if not recall.high or not text:
            return ""
        encoder = self._places.encoders.of(recall.high[0][0].release)
        again = await self._recognition.repeated(encoder, text, recall.high)
        return next((pair.id for pair in again if not self._guard(topic, pair.topic)), "")

    async def vote(self, vote: Vote, weight: float, known: Known | None = None) -> Remembered | None:
        """Count a vote unless it is `known` by then; return the pair it moved, None where there is none.

        The event is committed first: whatever happens later, the vote is not lost.
        """
        async with self._turns.one():
            pair = None if known and await known() else await self._store.vote(vote, weight)
            if pair is not None:
                await self._put([pair], await self._places.encoders.vectors_of(self._corpora, [pair]))
                await self._learn([pair])
            return pair

    async def tell_apart(self, pair_id: str, topic: str, answer_id: str, person: str) -> bool:
        """Keep that a question is not a pair's own, as somebody said of an answer; False if it was known."""
        if self._apart is None:
            return False
        said = Distinction(pair_id, key_of(topic), answer_id, person, time.time())
        async with self._turns.one():
            new = await self._apart.tell_apart(said)
            await self._learn_apart(pair_id)
        return new

    async def told_apart(self, pair_id: str = "") -> tuple[Distinction, ...]:
        """Return which questions were told apart from a pair, or from any, oldest first."""
        return await self._apart.told_apart(pair_id) if self._apart else ()

    async def take_back(self, said: Distinction) -> None:
        """Undo `tell_apart`: the pair may be reused for that question again."""
        assert self._apart is not None, "there is nothing to take back"
        async with self._turns.one():
            await self._apart.take_back(said.pair_id, said.key)
            await self._learn_apart(said.pair_id)

    async def _learn_apart(self, pair_id: str) -> None:
        await self._recognition.distinctions.load(self._places.encoders)
        await self._learn((await self._store.pairs([pair_id])).values())

    async def seed(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought and place them; return the ids that are new, or back again."""
        async with self._turns.one():
            new = await self._store.add(pairs)
            # not before: a reindex removes vectors that no pair has
            vectors = await self._places.encoders.vectors_of(self._corpora, pairs)
            stored = await self._store.pairs(list(new))
            await self._put(stored.values(), vectors)
            await self._learn(stored.values())
            return new

    async def retire(self, pair_ids: Sequence[str]) -> None:
        """Take pairs out of memory; only `restore` brings them back, not votes."""
        async with self._turns.one():
            await self._store.set_aside(pair_ids, "retired")
            await self._put((await self._store.pairs(pair_ids)).values(), {})

    async def restore(self, pair_ids: Sequence[str]) -> None:
        """Undo `retire`: votes decide on these pairs again."""
        async with self._turns.one():
            await self._store.set_aside(pair_ids, "")
            await self._place_anew(pair_ids)

    async def channel_became_private(self, channel: str) -> int:
        """Move what was learned in a channel (`slack:C1`) into that channel; return how many pairs.

        From then on they are reused only there, even if the channel becomes public again.
        """
        move = partial(self._store.move, channel, "public", PRIVATE + channel)
        return await self.moved(move) if channel else 0

    async def publish(self, channel: str) -> int:
        """Publish what was learned in a private channel, for an admin; return how many pairs."""
        move = partial(self._store.move, channel, PRIVATE + channel, "public")
        return await self.moved(move) if channel else 0

    async def moved(self, move: Callable[[], Awaitable[Sequence[str]]]) -> int:
        """Place the pairs anew that `move` gives to other listeners; return how many."""
        async with self._turns.one():
            if ids := await move():
                await self._place_anew(ids)
            return len(ids)

    async def _place_anew(self, pair_ids: Sequence[str]) -> None:
        pairs = await self._store.pairs(pair_ids)
        vectors = await self._places.encoders.vectors_of(self._corpora, pairs.values())
        await self._put(pairs.values(), vectors)
        await self._learn(pairs.values())

    async def find(self, name: str) -> Remembered | None:
        """Return the pair of that id, or the first that was imported under it."""
        pair = await self._store.pair(name)
        if pair is None and name:
            labelled = (p for p in await self._store.voted() if p.label == name)
            pair = min(labelled, key=lambda p: (p.aside != "", p.created_at), default=None)
        return pair

    async def named(self, pair_id: str) -> str:
        """Return a pair's public name: the id it was imported under, else its own."""
        pair = await self._store.pair(pair_id) if pair_id else None
        return pair.label or pair_id if pair else pair_id

    async def everything(self) -> tuple[Remembered, ...]:
        """Return every pair with a standing opinion or brought by people, those set aside too."""
        return await self._store.voted()

    async def verify(self) -> list[str]:
        """Check every invariant against the store; return a sentence for each one that is broken."""
        async with self._turns.one():
            placed, voted = await self._store.placements(), await self._store.voted()
            vectors = await self._places.encoders.known_vectors(self._corpora, [pair for _, pair in placed])
            mirror = await asyncio.to_thread(searched, self._places.partitions)
        return await asyncio.to_thread(check, placed, voted, vectors, self.thresholds, mirror, self._share)

    async def rebuild(self, first: Callable[[], Awaitable[None]] | None = None) -> None:
        """Recalculate every placement from the votes; gives the same stores as before.

        `first` runs while nothing else changes memory, for instance to remove pairs.
        """
        async with self._turns.one():
            if first is not None:
                await first()
            voted = await self._store.voted()
            vectors = await self._places.encoders.vectors_of(self._corpora, voted)
            places = self._places.empty()
            touched = await asyncio.to_thread(places.arrange, voted, vectors)
            await self._take_over(places, voted)
            await self._store.clear_placements()
            await places.settle(touched)

    def score(self, pair: Remembered) -> float:
        """Return a pair's score from its prior and its standing opinions."""
        return score_of(pair, self.thresholds)

    def good(self, vector: Vector, release: str, scope: Scope) -> dict[Key, Partition]:
        """Return the partitions of good pairs that a question of this release and scope may hear."""
        recaller = Recaller(self._store, self._places, self._recognition, self._guard)
        return dict(recaller.visible(Lookup(vector, "", release, scope), "high"))

    async def told(self, pair_ids: Sequence[str], scope: Scope) -> dict[str, QAPair]:
        """Return pairs by id as they are shown in a scope; those it may not hear are left out."""
        pairs = await self._store.pairs(pair_ids) if pair_ids else {}
        return {key: shown(pair, self.thresholds) for key, pair in pairs.items() if scope.hears(pair.scope)}

    def stores(self) -> dict[str, tuple[Store, bool]]:
        """Return for every placed pair its store, and whether it is kept there."""
        at = self._places
        home = list(at.home.items())  # votes may change it meanwhile
        return {pair_id: (key[2], pair_id in at.partitions[key].kept) for pair_id, key in home}

    async def placed(self) -> dict[str, tuple[Store, bool]]:
        """Return the same without blocking the event loop, however many pairs there are."""
        return await aside(len(self._places.home), self.stores)

    async def pairs(self, pair_ids: Sequence[str]) -> dict[str, Remembered]:
        """Return pairs by id, with their standing opinions."""
        return await self._store.pairs(pair_ids)

    @property
    def centres(self) -> int:
        """Return how many pairs are also searched by the centre of their rewordings."""
        return self._recognition.centres

    def partitions(self) -> dict[Key, Partition]:
        """Return the partitions by (release, scope, store), for checks and pictures."""
        return dict(self._places.partitions)

    async def _put(self, pairs: Iterable[Remembered], vectors: dict[str, Vector]) -> None:
        """Place pairs by their votes, and save the placements."""
        await self._places.settle(self._places.arrange(pairs, vectors))

    async def _take_over(
        self, places: PartitionIndex, pairs: Collection[Remembered], decision: Decision | None = None
    ) -> None:
        """Switch to these partitions, with the rewordings of their pairs learned again."""
        recognition = self._recognition.empty(decision)
        await recognition.distinctions.load(places.encoders)
        await recognition.learn(pairs, places.encoders, places.thresholds, places.asked_at)
        self._places, self._recognition = places, recognition

    async def _learn(self, pairs: Collection[Remembered]) -> None:
        """Learn the rewordings of pairs again."""
        at = self._places
        await self._recognition.learn(pairs, at.encoders, self.thresholds, at.asked_at)
