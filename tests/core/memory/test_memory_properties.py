"""Whatever people do, in whatever order, memory stands where the votes say."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from core.domain import Answer, Question, Scope, Vector, Vote
from core.memory.community import EVERY_RELEASE, CommunityMemory
from core.memory.scoring import Thresholds, score
from core.ports import Matrix, Remembered
from tests.fakes import FakeCorpora, FakeMemories

T = TypeVar("T")
THRESHOLDS = Thresholds()
OTHERS = (Thresholds(delta=0.6, gamma=0.75), Thresholds(delta=0.95, tau=0.5, gamma=0.4))
TOPICS, CENTRES = 12, 2
RELEASES = ["1.0", "2.0", EVERY_RELEASE]
SCOPES = ["public", "private:slack:C1", "private:slack:C2"]
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


def expected(
    pairs: Sequence[Remembered], thresholds: Thresholds, encoder: TopicEncoder
) -> dict[str, tuple[str, bool]]:
    """Derive store and keeping of every pair from opinions alone, in the plainest way."""
    found: dict[str, tuple[str, bool]] = {}
    kept: list[tuple[tuple[str, str, str], Vector]] = []
    scored = [(score(p.prior, p.opinions, thresholds.prior_strength), p) for p in pairs]
    for value, pair in sorted(scored, key=lambda item: (-item[0], item[1].created_at, item[1].id)):
        if pair.aside or (not pair.opinions and pair.origin == "answer"):
            continue
        store = "high" if value >= thresholds.gamma else "low"
        key, vector = (pair.release, pair.scope, store), encoder.vector(pair.topic)
        free = all(at != key or float(vector @ other) < thresholds.delta for at, other in kept)
        if free:
            kept.append((key, vector))
        found[pair.id] = (store, free)
    return found


class Community(RuleBasedStateMachine):
    """People ask, vote, change their minds; the process dies, restarts, and is configured anew."""

    answers = Bundle("answers")

    @initialize(target=answers, topics=st.lists(st.integers(0, TOPICS - 1), min_size=3, max_size=8))
    def start(self, topics: list[int]) -> Any:
        self.loop = asyncio.new_event_loop()
        self.store = FakeMemories()
        self.corpora = FakeCorpora(self.store.topics)
        self.thresholds = THRESHOLDS
        self.encoder = ENCODERS[0]
        self.count = 0
        self.pair_ids: list[str] = []
        self.answer_of: dict[str, str] = {}
        self.open()
        asked = [self.asked(topic, "1.0", "public", 0.5, 0, "answer", 1) for topic in topics]
        return multiple(*itertools.chain.from_iterable(asked))

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def open(self) -> None:
        self.memory = CommunityMemory(self.store, self.corpora, self.thresholds, lambda asked, kept: "")
        self.run(self.memory.load(self.encoder, dict.fromkeys(RELEASES[:2], self.encoder)))

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
        first=st.sampled_from([None, 0, 1, 1]),
    )
    def ask(
        self, topic: int, release: str, scope: str, prior: float, age: int, origin: Any, first: Any
    ) -> Any:
        return multiple(*self.asked(topic, release, scope, prior, age, origin, first))

    def asked(
        self, topic: int, release: str, scope: str, prior: float, age: int, origin: Any, first: Any
    ) -> list[str]:
        self.count += 1
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
        )
        self.pair_ids.append(made.id)
        ids = [f"a{self.count}-1", f"a{self.count}-2"]
        self.answer_of[made.id] = ids[0]
        for answer_id in ids:
            answer = Answer(answer_id, made.answer, "documents", release, pair_id=made.id)
            self.run(self.store.save_answer(answer, Question(made.question), made))
        self.run(self.memory.remember(made, self.encoder.vector(made.topic)))
        if origin == "import":
            self.open()
        if first is not None:
            self.run(self.memory.vote(Vote(ids[0], "asker", first), 2.0))
        return ids

    @rule(
        answer=answers,
        voter=st.sampled_from(["asker", "u", "v"]),
        value=st.sampled_from([0, 1]),
        weight=st.sampled_from([1.0, 2.0]),
    )
    def vote(self, answer: str, voter: str, value: Any, weight: float) -> None:
        assert self.run(self.memory.vote(Vote(answer, voter, value), weight)) is not None

    @rule(
        answer=answers,
        voter=st.sampled_from(["asker", "asker", "u", "v"]),
        withdraws=st.sampled_from([0, 1, None]),
    )
    def take_back(self, answer: str, voter: str, withdraws: Any) -> None:
        self.run(self.memory.vote(Vote(answer, voter, None, withdraws), 1.0))

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

    @rule()
    def rebuild(self) -> None:
        before, clusters = self.memory.stores(), self.run(self.store.placements())
        self.run(self.memory.rebuild())
        assert self.memory.stores() == before
        assert [p.pair_id for p, _ in self.run(self.store.placements())] == [p.pair_id for p, _ in clusters]

    @rule(place=st.integers(0, 50))
    def retire(self, place: int) -> None:
        self.run(self.memory.retire([self.pair_ids[place % len(self.pair_ids)], "unknown"]))

    @rule(limit=st.integers(1, 4))
    def have_a_limit_for_a_while(self, limit: int) -> None:
        self.memory.thresholds = replace(self.thresholds, limit=limit)
        voted = self.answer_of[self.pair_ids[limit % len(self.pair_ids)]]
        self.run(self.memory.vote(Vote(voted, "late", 1), 1.0))
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
    )
    def recall(self, topic: int, release: str, scope: str) -> None:
        vector, thresholds = self.encoder.vector(str(topic)), self.thresholds
        found = self.run(self.memory.recall(vector, str(topic), release, Scope.parse(scope)))
        heard = {"public", scope} if scope.startswith("private") else {"public"}
        right = expected(self.pairs(), thresholds, self.encoder)
        for store, recalled in (("high", found.high), ("low", found.low)):
            visible = {
                pair.id: float(vector @ self.encoder.vector(pair.topic))
                for pair in self.pairs()
                if right.get(pair.id) == (store, True)
                and pair.release in (release, EVERY_RELEASE)
                and pair.scope in heard
            }
            near = sorted((c for c in visible.values() if c >= thresholds.tau), reverse=True)
            assert {pair.id for pair, _ in recalled} <= visible.keys()
            if store == "low" or found.route != "reuse":
                assert [c for _, c in recalled] == pytest.approx(near[: thresholds.recalled], abs=1e-5)
            else:
                assert recalled[0][1] == pytest.approx(near[0], abs=1e-5)
            if store == "high":
                assert (found.route == "reuse") == bool(near and near[0] >= thresholds.delta)
                assert (found.route == "avoid") == (not near)

    @invariant()
    def every_pair_stands_where_the_votes_say(self) -> None:
        if hasattr(self, "memory"):
            assert self.memory.stores() == expected(self.pairs(), self.thresholds, self.encoder)

    @invariant()
    def what_is_written_down_is_what_is_recalled(self) -> None:
        if hasattr(self, "memory"):
            assert self.run(self.memory.verify()) == []
            placed = {p.pair_id: p for p, _ in self.run(self.store.placements())}
            assert {k: (p.store, not p.shadowed_by) for k, p in placed.items()} == self.memory.stores()
            for pair in self.run(self.store.pairs(list(placed))).values():
                assert placed[pair.id].score == self.memory.score(pair)
            for (_, _, store), partition in self.memory.partitions().items():
                for cluster in partition.clusters:
                    assert {(placed[key].store, placed[key].cluster) for key in cluster.members} == {
                        (store, cluster.id)
                    }

    @invariant()
    def centroids_are_means_and_kept_pairs_are_apart(self) -> None:
        if not hasattr(self, "memory"):
            return
        topics = {pair.id: pair.topic for pair in self.pairs()}
        seen: set[str] = set()
        for partition in self.memory.partitions().values():
            members = [key for cluster in partition.clusters for key in cluster.members]
            assert sorted(members) == sorted(partition.kept)
            assert not seen & partition.kept
            seen |= partition.kept
            assert partition.sound()
            for cluster in partition.clusters:
                vectors = np.stack([self.encoder.vector(topics[key]) for key in cluster.members])
                assert cluster.centroid == pytest.approx(vectors.mean(axis=0), abs=1e-5)
            for one, two in itertools.combinations(sorted(members), 2):
                cosine = float(self.encoder.vector(topics[one]) @ self.encoder.vector(topics[two]))
                assert cosine < self.thresholds.delta


TestCommunity = Community.TestCase
TestCommunity.settings = settings(
    max_examples=100, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
