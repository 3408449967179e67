"""Community memory: what people voted good or bad, recalled for the next question (ComRAG §4).

Votes are the truth and lie in the store as events; where a pair stands follows from them. The
vectors of placed pairs are mirrored here, one matrix for each release, scope and store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from core.domain import QAPair, Recall, Scope, Store, Vector, Vote, content_hash
from core.languages import _
from core.memory.clusters import Partition
from core.memory.decision import CANDIDATES, PAPER, Candidate, Decision, choose
from core.memory.filing import PRIVATE, Key, scope_of
from core.memory.places import Places
from core.memory.recognition import Recognition
from core.memory.scoring import Thresholds, score_of, vouched
from core.memory.topics import Encoders, kept, made
from core.memory.verification import check, searched
from core.ports import (
    CorpusStore,
    Encoder,
    MemoryStore,
    Remembered,
    RewordingStore,
)
from core.text import words

EVERY_RELEASE = "*"
"""Release of a pair that holds for all of them."""
Guard = Callable[[str, str], str]


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
        rewordings: RewordingStore | None = None,
    ) -> None:
        self._share = share_platforms
        self._store = store
        self._corpora = corpora
        self._guard = guard
        self._recognition = Recognition(decision, rewordings, corpora)
        self._places = Places(store, thresholds, share_platforms)
        self._changing = asyncio.Lock()

    @property
    def thresholds(self) -> Thresholds:
        """Return what decides on stores, clusters and reuse."""
        return self._places.thresholds

    @thresholds.setter
    def thresholds(self, thresholds: Thresholds) -> None:
        self._places.thresholds = thresholds

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
            places = self._places.empty(now)

            def arrange() -> set[str]:
                late = places.late(placed, pairs.keys(), vectors)
                return places.arrange([pairs[pair_id] for pair_id in sorted(late)], vectors)

            touched = await asyncio.to_thread(arrange)
            await self._take_over(places, pairs.values())
            await places.settle(touched)

    async def remember(self, pair: Remembered, vector: Vector) -> None:
        """Keep the vector of a new, neutral pair, so that a vote can place it."""
        encoder = self._places.encoders.of(pair.release)
        await self._corpora.put_vectors(encoder.name, {content_hash(pair.topic): vector})

    async def recall(
        self,
        vector: Vector,
        topic: str,
        release: str,
        scope: Scope,
        language: str = "",
        literal: bool = False,
    ) -> Recall:
        """Choose the route of a question and the pairs that go with it (ComRAG algorithm 1).

        Reuse also needs that enough people vouch for the pair, that the guard finds no decisive
        difference and that the pair is not stale; else the pair is for reference. So is one whose answer is
        in another `language`; empty for any. With `literal` a question must be asked in the same words.
        """
        low = self._all_shown(await self._nearest(vector, release, scope, "low"), vector)
        candidates = await self._candidates(vector, release, scope)
        decision, delta = self._recognition.decision, self.thresholds.delta
        foreign: list[Candidate] = []

        def hindrance(candidate: Candidate) -> str:
            if unfit := self._unfit(candidate.pair, scope):
                return unfit
            if self._recognition.rejected(candidate.pair.id, vector, delta):
                return _("People voted that answer bad for a question like this one.")
            if difference := self._difference(topic, candidate.pair.topic, literal):
                return difference
            if language and candidate.pair.language != language:
                foreign.append(candidate)
                return _("Its answer is in another language than the question.")
            return ""

        chosen = choose(candidates, decision, delta, hindrance, self._guard)
        if chosen.candidate is not None:
            pair, near = chosen.candidate.pair, chosen.candidate.closeness
            return Recall("reuse", ((self._shown(pair, vector), near),), low, decided=chosen.said)
        found = [(c.pair, c.closeness) for c in candidates if c.closeness >= self.thresholds.tau]
        high = self._all_shown(found[: self.thresholds.recalled], vector)
        other = (self._shown(foreign[0].pair, vector), foreign[0].closeness) if foreign else None
        return Recall("reference" if high else "avoid", high, low, chosen.blocked, chosen.said, other)

    async def repeated(self, text: str, topic: str, recall: Recall) -> str:
        """Return the id of the recalled good pair whose answer `text` says again; empty where it is new.

        Such an answer needs no pair of its own: `topic` is one more way to ask for that one.
        """
        if not recall.high or not text:
            return ""
        encoder = self._places.encoders.of(recall.high[0][0].release)
        again = await self._recognition.repeated(encoder, text, recall.high)
        return next((pair.id for pair in again if not self._guard(topic, pair.topic)), "")

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Count a vote; return the pair it moved, None where the answer has no pair.

        The event is committed first: whatever happens later, the vote is not lost.
        """
        async with self._changing:
            pair = await self._store.vote(vote, weight)
            if pair is not None:
                vectors = await made(self._corpora, self._places.encoders, [pair])
                await self._put([pair], vectors)
                await self._learn([pair])
            return pair

    async def seed(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought and place them; return the ids that are new, or back again."""
        async with self._changing:
            new = await self._store.add(pairs)
            # not before: a reindex removes vectors that no pair has
            vectors = await made(self._corpora, self._places.encoders, pairs)
            stored = await self._store.pairs([pair.id for pair in pairs])
            back = [pair_id for pair_id, pair in stored.items() if pair.aside]
            await self._store.set_aside(back, "")
            added = [replace(stored[pair_id], aside="") for pair_id in (*new, *back)]
            await self._put(added, vectors)
            await self._learn([pair for pair in added if pair.id in back])
            return new | set(back)

    async def retire(self, pair_ids: Sequence[str]) -> None:
        """Take pairs out of memory for good: no vote brings them back."""
        async with self._changing:
            await self._store.set_aside(pair_ids, "retired")
            pairs = await self._store.pairs(pair_ids)
            await self._put(pairs.values(), {})

    async def channel_became_private(self, channel: str) -> int:
        """Take what was learnt in a public channel (`slack:C1`) along into it; return how many pairs.

        From then on only that channel is told them. They stay there if it becomes public again.
        """
        return await self._move(channel, "public", PRIVATE + channel)

    async def publish(self, channel: str) -> int:
        """Let everyone hear what was learnt in a private channel, as an admin wants it; return how many."""
        return await self._move(channel, PRIVATE + channel, "public")

    async def _move(self, channel: str, before: str, after: str) -> int:
        if not channel:
            return 0
        async with self._changing:
            ids = await self._store.move(channel, before, after)
            if not ids:
                return 0
            pairs = await self._store.pairs(ids)
            vectors = await made(self._corpora, self._places.encoders, pairs.values())
            await self._put(pairs.values(), vectors)
            await self._learn(pairs.values())
            return len(ids)

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
            vectors = await kept(self._corpora, self._places.encoders, [pair for _, pair in placed])
            mirror = await asyncio.to_thread(searched, self._places.partitions)
        return await asyncio.to_thread(check, placed, voted, vectors, self.thresholds, mirror, self._share)

    async def rebuild(self, first: Callable[[], Awaitable[None]] | None = None) -> None:
        """Derive every placement anew from the votes; gives the same stores as before.

        `first` is done while nothing else changes memory, for instance to remove pairs.
        """
        async with self._changing:
            if first is not None:
                await first()
            voted = await self._store.voted()
            vectors = await made(self._corpora, self._places.encoders, voted)
            places = self._places.empty()
            touched = await asyncio.to_thread(places.arrange, voted, vectors)
            await self._take_over(places, voted)
            await self._store.clear_placements()
            await places.settle(touched)

    def score(self, pair: Remembered) -> float:
        """Return a pair's score from its prior and its standing opinions."""
        return score_of(pair, self.thresholds)

    def stores(self) -> dict[str, tuple[Store, bool]]:
        """Return for every placed pair its store, and whether it is kept there."""
        at = self._places
        return {pair_id: (key[2], pair_id in at.partitions[key].kept) for pair_id, key in at.home.items()}

    @property
    def centres(self) -> int:
        """Return how many pairs are also searched by the centre of their rewordings."""
        return self._recognition.centres

    def partitions(self) -> dict[Key, Partition]:
        """Return the partitions by (release, scope, store), for checks and pictures."""
        return dict(self._places.partitions)

    async def _nearest(
        self, vector: Vector, release: str, scope: Scope, store: Store
    ) -> tuple[tuple[Remembered, float], ...]:
        found: list[tuple[str, float]] = []
        for _key, partition in self._visible(vector, release, scope, store):
            found += partition.nearest(vector, self.thresholds.recalled)
        near = sorted((f for f in found if f[1] >= self.thresholds.tau), key=lambda f: (-f[1], f[0]))
        near = near[: self.thresholds.recalled]
        pairs = await self._store.pairs([pair_id for pair_id, _near in near]) if near else {}
        heard = {pair_id for pair_id, pair in pairs.items() if scope.hears(pair.scope)}
        return tuple((pairs[pair_id], similarity) for pair_id, similarity in near if pair_id in heard)

    async def _candidates(self, vector: Vector, release: str, scope: Scope) -> list[Candidate]:
        """Return the good pairs that a question is closest to, closest first."""
        known, wanted = self._recognition, max(CANDIDATES, self.thresholds.recalled)
        near: dict[str, tuple[float, Vector, int]] = {}
        for (at, heard, _store), partition in self._visible(vector, release, scope, "high"):
            near |= {
                pair_id: known.closeness(pair_id, vector, partition.vector_of(pair_id), self.thresholds.delta)
                for pair_id, _near in partition.nearest(vector, wanted)
            }
            near |= {
                pair_id: known.closeness(pair_id, vector, partition.vector_of(pair_id), self.thresholds.delta)
                for pair_id in known.nearest(vector, (at, heard), wanted)
                if partition.cluster_of(pair_id) is not None
            }
        best = sorted(near, key=lambda pair_id: (-near[pair_id][0], pair_id))[:wanted]
        pairs = await self._store.pairs(best) if best else {}
        here = (pair_id for pair_id in best if pair_id in pairs and scope.hears(pairs[pair_id].scope))
        return [Candidate(pairs[pair_id], *near[pair_id]) for pair_id in here]

    def _visible(
        self, vector: Vector, release: str, scope: Scope, store: Store
    ) -> Iterator[tuple[Key, Partition]]:
        """Yield the partitions that a question of this release and scope may be answered from."""
        encoders = self._places.encoders
        for key, partition in self._places.partitions.items():
            at, heard, kind = key
            if kind != store or at not in (release, EVERY_RELEASE) or not scope.hears(scope_of(heard)):
                continue
            # while a corpus gets another encoder, vectors of two kinds may meet
            if encoders.of(at).name == encoders.of(release).name and partition.dimensions == len(vector):
                yield key, partition

    def _unfit(self, pair: Remembered, scope: Scope) -> str:
        """Say why a pair is not reused whatever is asked; empty where it may be."""
        if pair.stale:
            return _("What it cites has changed since.")
        voices, needed = vouched(pair), self.thresholds.min_voters
        if scope.kind == "public" and pair.origin == "answer" and voices < needed:
            told = _("{voices} of the {needed} people it needs have voted it good.")
            return told.format(voices=voices, needed=needed)
        return ""

    def _difference(self, topic: str, remembered: str, literal: bool) -> str:
        """Say in what two questions differ; where nothing but words can be compared, in any word."""
        if literal and words(topic) != words(remembered):
            return _("Without a model a question in this language is only recognised word for word.")
        return self._guard(topic, remembered)

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
            origin=pair.origin,
            language=pair.language,
        )

    async def _put(self, pairs: Iterable[Remembered], vectors: dict[str, Vector]) -> None:
        """Put pairs where their votes say, and write that down."""
        await self._places.settle(self._places.arrange(pairs, vectors))

    async def _take_over(self, places: Places, pairs: Collection[Remembered]) -> None:
        """Answer from these places from now on, with the ways to ask for all these pairs learnt anew."""
        recognition = self._recognition.empty()
        await recognition.learn(pairs, places.encoders, self.thresholds, places.asked_at)
        self._places, self._recognition = places, recognition

    async def _learn(self, pairs: Collection[Remembered]) -> None:
        """Derive anew in which ways pairs are asked."""
        at = self._places
        await self._recognition.learn(pairs, at.encoders, self.thresholds, at.asked_at)
