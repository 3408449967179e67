"""Whatever people do, in whatever order, memory stands where the votes say."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from core.domain import STRANGERS, Answer, Citation, Question, Scope, Vector, Vote
from core.memory.community import CommunityMemory
from core.memory.decision import CANDIDATES
from core.memory.partitions.partition_index import EVERY_RELEASE
from core.memory.scoring import Thresholds, score
from core.ports import Matrix, Remembered
from tests.effort import examples
from tests.fake_upkeep import FakeUpkeep
from tests.fakes import FakeCorpora, FakeMemories

T = TypeVar("T")
THRESHOLDS = Thresholds()
OTHERS = (Thresholds(delta=0.6, gamma=0.75), Thresholds(delta=0.95, tau=0.5, gamma=0.4))
TOPICS, CENTRES = 12, 2
RELEASES = ["1.0", "2.0", EVERY_RELEASE]
SCOPES = ["public", "private:slack:C1", "private:slack:C2"]
CHANNELS = ["slack:C1", "slack:C2", "discord:C7"]
STANDINGS = ["known", "known", "known", *STRANGERS]
ASKERS = ["slack:ann", "discord:bob"]
MOSTLY = 6
"""Times that the first release and scope are drawn for each time of another, so that pairs meet."""


def topic_vectors(name: str, dimensions: int) -> Matrix:
    """Make topics around a few centres, so that many are as close as δ and many as τ."""
    random = np.random.default_rng(len(name))
    centres = random.normal(size=(CENTRES, dimensions))
    made = centres[np.arange(TOPICS) % CENTRES] + random.normal(scale=0.5, size=(TOPICS, dimensions))
    scaled: Matrix = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return scaled


class TopicEncoder:
    """Knows the topics "0", "1", … only."""

    max_tokens = 256

    def __init__(self, name: str, dimensions: int) -> None:
        self.name, self.dimensions = name, dimensions
        self._vectors = topic_vectors(name, dimensions)

    async def encode(self, texts: Sequence[str]) -> Matrix:
        return self._vectors[[int(text) for text in texts]]

    def count_tokens(self, text: str) -> int:
        return 3

    def forget(self) -> None:
        pass

    def vector(self, topic: str) -> Vector:
        found: Vector = self._vectors[int(topic)]
        return found


ENCODERS = (TopicEncoder("small", 5), TopicEncoder("larger", 7))


def test_no_topics_are_exactly_as_close_as_a_threshold() -> None:
    for encoder, thresholds in itertools.product(ENCODERS, (THRESHOLDS, *OTHERS)):
        vectors = np.stack([encoder.vector(str(n)) for n in range(TOPICS)]).astype(np.float64)
        cosines = (vectors @ vectors.T)[np.triu_indices(TOPICS, 1)]
        assert np.abs(cosines - thresholds.delta).min() > 1e-4
        assert 0.01 < (cosines >= thresholds.delta).mean() < 0.9


class Killed(BaseException):
    """The process ends here."""


class Brittle(FakeMemories):
    """A store whose process is killed at the `fuse`th call that writes, before or after it is done."""

    fuse = 0
    is_done_first = False

    async def _burn(self, work: Coroutine[Any, Any, T]) -> T:
        self.fuse -= 1
        if self.fuse != 0:
            return await work
        if self.is_done_first:
            await work
        else:
            work.close()
        raise Killed

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        return await self._burn(super().vote(vote, weight))

    async def place(self, change: Any) -> None:
        await self._burn(super().place(change))

    async def set_aside(self, ids: Sequence[str], why: Any) -> None:
        await self._burn(super().set_aside(ids, why))

    async def move(self, channel: str, before: str, after: str) -> tuple[str, ...]:
        return await self._burn(super().move(channel, before, after))

    async def clear_placements(self) -> None:
        await self._burn(super().clear_placements())

    async def mark_stale(self, release: str, live: set[str], built_at: float | None = None) -> int:
        return await self._burn(super().mark_stale(release, live, built_at))


def cast(pair: Remembered) -> list[tuple[int, float]]:
    """Return the votes that count, with what they weigh, as the rules say it."""
    early = [value for value, _, was_early in pair.strangers if was_early]
    if pair.opinions or pair.origin != "answer":
        heard, most = [value for value, _, _ in pair.strangers], 0.5
    else:
        heard, most = [value for value in early if early.count(value) <= 2], 1.0
    share = min(1.0, most / len(heard)) if heard else 0.0
    return [*pair.opinions, *((value, share) for value in heard)]


def voices(pair: Remembered) -> int:
    """Return how many people vouch for a pair."""
    early = [value for value, _, was_early in pair.strangers if was_early and value]
    return sum(value for value, _ in pair.opinions) + (len(early) if len(early) <= 2 else 0)


def audience(pair: Remembered, share: bool) -> str:
    """Name who may hear a pair."""
    platform = (pair.channel or pair.asker).partition(":")[0]
    return pair.scope if share or pair.scope != "public" or not platform else f"public on {platform}"


def expected(
    pairs: Sequence[Remembered], thresholds: Thresholds, encoder: TopicEncoder, share: bool
) -> dict[str, tuple[str, bool]]:
    """Derive store and keeping of every pair from its votes alone, in the plainest way."""
    found: dict[str, tuple[str, bool]] = {}
    kept: list[tuple[tuple[str, str, str], Vector]] = []
    scored = [(score(p.prior, cast(p), thresholds.prior_strength), p) for p in pairs]
    for value, pair in sorted(scored, key=lambda item: (-item[0], item[1].created_at, item[1].id)):
        if pair.aside or (not cast(pair) and pair.origin == "answer"):
            continue
        store = "high" if value >= thresholds.gamma else "low"
        key, vector = (pair.release, audience(pair, share), store), encoder.vector(pair.topic)
        free = all(at != key or float(vector @ other) < thresholds.delta for at, other in kept)
        if free:
            kept.append((key, vector))
        found[pair.id] = (store, free)
    return found


class Community(RuleBasedStateMachine):
    """People ask, vote, change their minds and are forgotten; pages and channels change.

    The process dies at any moment, restarts, and is configured anew.
    """

    answers = Bundle("answers")

    @initialize(target=answers, topics=st.lists(st.integers(0, TOPICS - 1), min_size=3, max_size=8))
    def start(self, topics: list[int]) -> Any:
        self.loop = asyncio.new_event_loop()
        self.store = Brittle()
        self.upkeep = FakeUpkeep(self.store)
        self.share = True
        self.version = dict.fromkeys(itertools.product(RELEASES[:2], map(str, range(TOPICS))), 1)
        self.acknowledged: list[Vote] = []
        self.corpora = FakeCorpora(self.store.topics)
        self.thresholds = THRESHOLDS
        self.encoder = ENCODERS[0]
        self.count = 0
        self.pair_ids: list[str] = []
        self.answer_of: dict[str, str] = {}
        self.open()
        asked = [self.asked(topic, "1.0", "public", 0.5, 0, "answer", 1, 0) for topic in topics]
        return multiple(*itertools.chain.from_iterable(asked))

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def open(self) -> None:
        self.store.fuse = 0
        self.memory = CommunityMemory(
            self.store, self.corpora, self.thresholds, lambda asked, kept: "", share_platforms=self.share
        )
        self.run(self.memory.load(self.encoder, dict.fromkeys(RELEASES[:2], self.encoder)))

    def hash_of(self, release: str, topic: str) -> str:
        """Return the hash of the page that is live for a topic."""
        return f"{release} {topic} {self.version[release, topic]}"

    def live(self, release: str) -> set[str]:
        """Return the hashes of all live pages of a release."""
        return {self.hash_of(release, str(topic)) for topic in range(TOPICS)}

    def pairs(self) -> list[Remembered]:
        return list(self.run(self.store.pairs(self.pair_ids)).values())

    @rule(
        target=answers,
        topic=st.integers(0, TOPICS - 1),
        release=st.sampled_from(RELEASES[:1] * MOSTLY + RELEASES),
        scope=st.sampled_from(SCOPES[:1] * MOSTLY + SCOPES),
        prior=st.sampled_from([0.25, 0.5, 0.62, 0.75]),
        age=st.integers(0, 3),
        origin=st.sampled_from(["answer", "answer", "answer", "import"]),
        first=st.sampled_from([None, None, 0, 1, 1]),
        where=st.integers(0, 3),
    )
    def ask(
        self,
        topic: int,
        release: str,
        scope: str,
        prior: float,
        age: int,
        origin: Any,
        first: Any,
        where: int,
    ) -> Any:
        return multiple(*self.asked(topic, release, scope, prior, age, origin, first, where))

    def asked(
        self,
        topic: int,
        release: str,
        scope: str,
        prior: float,
        age: int,
        origin: Any,
        first: Any,
        where: int,
    ) -> list[str]:
        self.count += 1
        channel = scope.partition(":")[2] or [*CHANNELS, ""][where]
        cited = "" if release == EVERY_RELEASE else self.hash_of(release, str(topic))
        made = Remembered(
            id=f"p{self.count}",
            question=f"{topic}?",
            topic=str(topic),
            answer=f"{topic}!",
            release=release,
            scope=scope,
            prior=prior,
            created_at=1000.0 - age,
            origin=origin,
            channel=channel,
            asker=ASKERS[where % 2],
            citations=(Citation(1, "Page", "https://page", release, str(topic), cited),),
        )
        self.pair_ids.append(made.id)
        ids = [f"a{self.count}-1", f"a{self.count}-2"]
        self.answer_of[made.id] = ids[0]
        for answer_id in ids:
            answer = Answer(answer_id, made.answer, "documents", release, pair_id=made.id)
            asked = Question(made.question, made.asker, channel, Scope.parse(scope))
            topic = self.memory.topic_of(made, self.encoder.vector(made.topic))
            self.run(self.store.save_answer(answer, asked, made, topic=topic))
        if origin == "import":
            self.open()
        if first is not None:
            self.cast(Vote(ids[0], "asker", first), 2.0)
        return ids

    def cast(self, vote: Vote, weight: float = 1.0) -> None:
        known = vote.answer_id.partition("-")[0].replace("a", "p") in self.pair_ids
        assert (self.run(self.memory.vote(vote, weight)) is not None) == known
        if known:
            self.acknowledged.append(vote)

    @rule(
        answer=answers,
        voter=st.sampled_from(["asker", "u", "v"]),
        value=st.sampled_from([0, 1]),
        weight=st.sampled_from([1.0, 2.0]),
    )
    def vote(self, answer: str, voter: str, value: Any, weight: float) -> None:
        self.cast(Vote(answer, voter, value), weight)

    @rule(
        answer=answers,
        voters=st.lists(st.sampled_from(["w", "x", "y", "z"]), min_size=1, max_size=4, unique=True),
        value=st.sampled_from([0, 1, 1]),
        standing=st.sampled_from(STANDINGS),
    )
    def people_of_one_kind_vote_the_same(
        self, answer: str, voters: list[str], value: Any, standing: Any
    ) -> None:
        for voter in voters:
            self.cast(Vote(answer, voter, value, standing=standing))
        self.recall_what_was_touched(lambda pair: pair.id == f"p{answer.partition('-')[0][1:]}")

    @rule(
        answer=answers,
        voter=st.sampled_from(["asker", "asker", "u", "v"]),
        withdraws=st.sampled_from([0, 1, None]),
    )
    def take_back(self, answer: str, voter: str, withdraws: Any) -> None:
        self.cast(Vote(answer, voter, None, withdraws))

    @rule(
        votes=st.lists(
            st.tuples(answers, st.sampled_from(["asker", "u", "v"]), st.sampled_from([0, 1, None])),
            min_size=1,
            max_size=4,
        )
    )
    def die_between_votes_and_placements(self, votes: list[tuple[str, str, Any]]) -> None:
        for answer, voter, value in votes:
            self.run(self.store.vote(Vote(answer, voter, value), 1.0))
        self.open()

    @rule()
    def restart(self) -> None:
        self.open()

    @rule(
        fuse=st.integers(1, 3),
        is_done_first=st.booleans(),
        doing=st.sampled_from(["vote", "retire", "private", "public", "rebuild", "reindex", "limit"]),
        answer=answers,
        place=st.integers(0, 50),
        channel=st.sampled_from(CHANNELS),
    )
    def die_while_something_is_done(
        self, fuse: int, is_done_first: bool, doing: str, answer: str, place: int, channel: str
    ) -> None:
        if not self.pair_ids:
            return
        self.store.fuse, self.store.is_done_first = fuse, is_done_first
        pair_id = self.pair_ids[place % len(self.pair_ids)]
        try:
            match doing:
                case "vote":
                    self.cast(Vote(answer, "late", place % 2))  # type: ignore[arg-type]
                case "limit":
                    self.memory.thresholds = replace(self.thresholds, limit=2)
                    self.cast(Vote(answer, "late", 1))
                case "retire":
                    self.run(self.memory.retire([pair_id]))
                case "private":
                    self.run(self.memory.channel_became_private(channel))
                case "public":
                    self.run(self.memory.publish(channel))
                case "rebuild":
                    self.run(self.memory.rebuild())
                case "reindex":
                    self.change_pages(RELEASES[place % 2], {place % TOPICS})
        except Killed:
            pass
        self.open()
        for release in RELEASES[:2]:  # as a start does
            self.run(self.store.mark_stale(release, self.live(release)))

    def change_pages(self, release: str, topics: set[int]) -> None:
        for topic in topics:
            self.version[release, str(topic)] += 1
        self.run(self.store.mark_stale(release, self.live(release)))

    @rule(release=st.sampled_from(RELEASES[:2]), places=st.lists(st.integers(0, 50), max_size=4))
    def reindex(self, release: str, places: list[int]) -> None:
        cited = [int(p.topic) for p in self.pairs() if p.release == release] or [0]
        self.change_pages(release, {cited[place % len(cited)] for place in places})
        self.recall_what_was_touched(lambda pair: pair.stale)

    def recall_what_was_touched(self, touched: Callable[[Remembered], bool]) -> None:
        for pair in [pair for pair in self.pairs() if touched(pair)][:3]:
            release = RELEASES[0] if pair.release == EVERY_RELEASE else pair.release
            for scope in ("public", pair.scope):
                self.recalled(int(pair.topic), release, scope)

    @rule(count=st.integers(1, 4), renews=st.booleans(), again=st.booleans())
    def look_at_stale_pairs(self, count: int, renews: bool, again: bool) -> None:
        waiting = self.run(self.upkeep.unchecked(count))
        if again and waiting:  # its pages change once more while somebody looks
            self.change_pages(waiting[0].releases[0], {int(waiting[0].pair.topic)})
        for seen in waiting:
            cited = replace(seen.pair.citations[0], hash=self.hash_of(seen.pair.release, seen.pair.topic))
            if renews:
                done = self.run(self.upkeep.renew(seen, f"{seen.pair.topic}, still!", (cited,)))
            else:
                done = self.run(self.upkeep.found(seen, "It says something else.", "New.", (cited,), 1.0))
            assert done or again
        self.recall_what_was_touched(lambda pair: pair.id in {seen.pair.id for seen in waiting})

    @rule(channel=st.sampled_from(CHANNELS))
    def make_a_channel_private(self, channel: str) -> None:
        here = {p.id for p in self.pairs() if (p.channel, p.scope) == (channel, "public")}
        assert self.run(self.memory.channel_became_private(channel)) == len(here)
        assert {p.scope for p in self.pairs() if p.id in here} <= {f"private:{channel}"}
        self.recall_what_was_touched(lambda pair: pair.id in here)

    @rule(channel=st.sampled_from(CHANNELS))
    def publish_a_channel(self, channel: str) -> None:
        self.run(self.memory.publish(channel))
        assert not [p for p in self.pairs() if (p.channel, p.scope) == (channel, f"private:{channel}")]

    @rule(asker=st.sampled_from(ASKERS), only=st.integers(0, 3))
    def forget(self, asker: str, only: int) -> None:
        gone = {p.id for n, p in enumerate(self.pairs()) if p.asker == asker and n % 4 == only}

        async def remove() -> None:
            for pair_id in gone:
                self.store.discard(pair_id)

        self.run(self.memory.rebuild(remove))
        self.pair_ids = [pair_id for pair_id in self.pair_ids if pair_id not in gone]
        left = {pair_id.replace("p", "a") for pair_id in self.pair_ids}
        self.acknowledged = [v for v in self.acknowledged if v.answer_id.partition("-")[0] in left]

    @rule(share=st.booleans())
    def restart_with_platforms_that_share_or_not(self, share: bool) -> None:
        self.share = share
        self.open()

    @rule()
    def rebuild(self) -> None:
        before, clusters = self.memory.stores(), self.run(self.store.placements())
        self.run(self.memory.rebuild())
        assert self.memory.stores() == before
        assert [p.pair_id for p, _ in self.run(self.store.placements())] == [p.pair_id for p, _ in clusters]

    @rule(place=st.integers(0, 50))
    def retire(self, place: int) -> None:
        if self.pair_ids:
            self.run(self.memory.retire([self.pair_ids[place % len(self.pair_ids)], "unknown"]))

    @rule(limit=st.integers(1, 4))
    def have_a_limit_for_a_while(self, limit: int) -> None:
        self.memory.thresholds = replace(self.thresholds, limit=limit)
        if self.pair_ids:
            self.cast(Vote(self.answer_of[self.pair_ids[limit % len(self.pair_ids)]], "late", 1))
        else:
            self.run(self.memory.rebuild())
        assert all(len(partition) <= limit for partition in self.memory.partitions().values())
        self.memory.thresholds = self.thresholds

    @rule(thresholds=st.sampled_from([THRESHOLDS, *OTHERS]))
    def restart_with_other_thresholds(self, thresholds: Thresholds) -> None:
        self.thresholds = thresholds
        self.open()

    @rule(encoder=st.sampled_from(ENCODERS))
    def go_over_to_another_encoder(self, encoder: TopicEncoder) -> None:
        self.encoder = encoder
        self.run(self.memory.load(encoder, dict.fromkeys(RELEASES[:2], encoder)))

    @rule(
        topic=st.integers(0, TOPICS - 1),
        release=st.sampled_from(RELEASES[:2]),
        scope=st.sampled_from([*SCOPES, "private:slack:C9", "direct:slack:D1"]),
        platform=st.sampled_from(["", "slack", "discord"]),
        place=st.integers(0, 50),
    )
    def recall(self, topic: int, release: str, scope: str, platform: str, place: int) -> None:
        if place % 4 and self.pair_ids:  # mostly what somebody asked already
            (known,) = self.run(self.store.pairs([self.pair_ids[place % len(self.pair_ids)]])).values()
            topic, release = int(known.topic), release if known.release == EVERY_RELEASE else known.release
        self.recalled(topic, release, scope, platform)

    def recalled(self, topic: int, release: str, scope: str, platform: str = "") -> None:
        """Ask memory, and compare what it recalls with what the rules say."""
        vector, thresholds = self.encoder.vector(str(topic)), self.thresholds
        asked_in = replace(Scope.parse(scope), platform=platform)
        found = self.run(self.memory.recall(vector, str(topic), release, asked_in))
        heard = {"public", scope} if scope.startswith("private") else {"public"}
        heard |= {f"public on {p}" for p in ("slack", "discord") if platform in ("", p)}
        pairs = {pair.id: pair for pair in self.pairs()}
        right = expected(self.pairs(), thresholds, self.encoder, self.share)
        for store, recalled in (("high", found.high), ("low", found.low)):
            visible = {
                pair.id: float(vector @ self.encoder.vector(pair.topic))
                for pair in self.pairs()
                if right.get(pair.id) == (store, True)
                and pair.release in (release, EVERY_RELEASE)
                and audience(pair, self.share) in heard
            }
            near = sorted((c for c in visible.values() if c >= thresholds.tau), reverse=True)
            first = sorted(visible, key=lambda key: (-visible[key], key))[:CANDIDATES]
            fit = [
                visible[key]
                for key in first
                if visible[key] >= thresholds.delta
                and not pairs[key].stale
                and (scope != "public" or pairs[key].origin != "answer" or voices(pairs[key]))
            ]
            assert {pair.id for pair, _ in recalled} <= visible.keys()
            if store == "low" or found.route != "reuse":
                assert [c for _, c in recalled] == pytest.approx(near[: thresholds.recalled], abs=1e-5)
            else:
                assert recalled[0][1] == pytest.approx(fit[0], abs=1e-5)
            if store == "high":
                assert (found.route == "reuse") == bool(fit)
                assert (found.route == "avoid") == (not near)

    @invariant()
    def every_pair_stands_where_the_votes_say(self) -> None:
        if hasattr(self, "memory"):
            right = expected(self.pairs(), self.thresholds, self.encoder, self.share)
            assert self.memory.stores() == right

    @invariant()
    def no_vote_that_was_acknowledged_is_lost(self) -> None:
        if hasattr(self, "memory"):
            kept = [(v.answer_id, v.voter, v.value) for v, _, _ in self.store.votes]
            for vote in self.acknowledged:
                kept.remove((vote.answer_id, vote.voter, vote.value))

    @invariant()
    def what_cites_a_page_that_is_not_live_is_stale(self) -> None:
        if not hasattr(self, "memory"):
            return
        for pair in self.pairs():
            cited = pair.citations[0].hash
            assert pair.stale == bool(cited and cited != self.hash_of(pair.release, pair.topic))
        assert self.run(self.upkeep.broken()) == []
        waiting = {item.pair.id for item in self.run(self.upkeep.stale())}
        placed = self.memory.stores()
        assert waiting == {p.id for p in self.pairs() if p.stale and placed.get(p.id, ("",))[0] == "high"}

    @invariant()
    def what_is_written_down_is_what_is_recalled(self) -> None:
        if hasattr(self, "memory"):
            assert self.run(self.memory.verify()) == []
            placed = {p.pair_id: p for p, _ in self.run(self.store.placements())}
            assert {k: (p.store, not p.shadowed_by) for k, p in placed.items()} == self.memory.stores()
            for pair in self.run(self.store.pairs(list(placed))).values():
                assert placed[pair.id].score == self.memory.score(pair)
            for (_, _, store), partition in self.memory.partitions().items():
                for cluster, members in partition.clustered.items():
                    assert {(placed[key].store, placed[key].cluster) for key in members} == {(store, cluster)}

    @invariant()
    def centroids_are_means_and_kept_pairs_are_apart(self) -> None:
        if not hasattr(self, "memory"):
            return
        topics = {pair.id: pair.topic for pair in self.pairs()}
        seen: set[str] = set()
        for partition in self.memory.partitions().values():
            members = [key for ids in partition.clustered.values() for key in ids]
            assert sorted(members) == sorted(partition.kept)
            assert not seen & partition.kept
            seen |= partition.kept
            assert partition.sound()
            for cluster, ids in partition.clustered.items():
                mean = np.stack([self.encoder.vector(topics[key]) for key in ids]).mean(axis=0)
                assert partition.centroids[cluster] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
            for one, two in itertools.combinations(sorted(members), 2):
                cosine = float(self.encoder.vector(topics[one]) @ self.encoder.vector(topics[two]))
                assert cosine < self.thresholds.delta


TestCommunity = Community.TestCase
TestCommunity.settings = settings(
    max_examples=examples(50),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
