"""ComRAG's algorithms as the paper has them: what arrives stays or goes for good; centroids are searched."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Scope, Vector, Vote
from core.memory.community import CommunityMemory
from core.memory.partitions.arrivals import Arrivals, Replayed
from core.memory.partitions.partition import Member, Partition
from core.memory.scoring import Thresholds
from core.ports import Matrix
from tests.contracts.samples import keep, pair
from tests.effort import examples
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories

DELTA, TAU = 0.8, 0.5
KEY = ("1.0", "public", "high")


def turned(degrees: float) -> Vector:
    """Return a unit vector of the plane, so that cosines are those of the angles between them."""
    angle = math.radians(degrees)
    return np.array([math.cos(angle), math.sin(angle)], np.float32)


def arrived(*pairs: tuple[str, float, float]) -> Arrivals:
    """Let (name, degrees, score) arrive in this order."""
    arrivals = Arrivals(DELTA, TAU, 2)
    for name, degrees, score in pairs:
        arrivals.arrive(name, turned(degrees), score)
    return arrivals


A, B, C = ("A", 0.0, 0.9), ("B", 30.0, 0.8), ("C", -30.0, 0.95)
"""cos 30° = .866 from A to both; cos 60° = .5 between B and C."""


def test_of_the_papers_three_only_the_last_is_left_and_ours_keeps_two() -> None:
    assert arrived(A, B, C).kept == {"C"}
    partition = Partition(DELTA, TAU, 2)
    for age, (name, degrees, score) in enumerate((A, B, C)):
        partition.put(Member(name, score, float(age), turned(degrees)))
    assert partition.kept == {"B", "C"}


def test_the_order_of_arrival_decides() -> None:
    assert arrived(A, C, B).kept == {"B", "C"}
    assert arrived(B, A, C).kept == {"C"}


def test_an_equal_score_is_thrown_away() -> None:
    assert arrived(A, ("D", 10.0, 0.9)).kept == {"A"}


def test_a_better_pair_takes_the_place_of_the_other_in_its_cluster() -> None:
    # 50° from A joins its cluster (cos .643 from τ on); the better one at 80° takes its place there, although
    # it is further than τ from A, and from the mean of both
    found = arrived(A, ("E", 50.0, 0.6), ("F", 80.0, 0.7))
    assert found.kept == {"A", "F"} and found.clusters == (("A", "F"),)
    assert arrived(A, ("F", 80.0, 0.7)).clusters == (("A",), ("F",))


def test_the_last_of_a_cluster_is_replaced_within_it() -> None:
    assert arrived(A, ("G", 20.0, 1.0)).clusters == (("G",),)


def test_only_members_of_the_nearest_centroids_are_found() -> None:
    # the centroid of 0° and 55° is at 27.5°, that of 120° and 170° at 145°
    found = arrived(("a", 0.0, 0.9), ("b", 55.0, 0.9), ("d", 120.0, 0.9), ("e", 170.0, 0.9))
    assert found.clusters == (("a", "b"), ("d", "e"))
    asked = turned(87.0)  # 58° from the second centroid, 59.5° from the first; b is 32° away, d is 33°
    assert [name for name, _ in found.nearest(asked, 1)] == ["d"]
    assert [name for name, _ in found.nearest(asked, 2)] == ["b", "d"]


def points() -> Matrix:
    random = np.random.default_rng(5)
    made = random.normal(size=(30, 6)) * 0.5 + random.normal(size=(3, 6))[np.arange(30) % 3]
    scaled: Matrix = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return scaled


VECTORS = points()
arriving = st.lists(
    st.tuples(st.integers(0, 29), st.sampled_from([0.6, 0.7, 0.8, 0.9])),
    unique_by=lambda a: a[0],
    max_size=30,
)


def plainly(pairs: list[tuple[int, float]]) -> list[list[int]]:
    """Algorithm 2 line by line, over lists."""
    score = dict(pairs)
    clusters: list[list[int]] = []
    for new, _ in pairs:
        kept = [point for cluster in clusters for point in cluster]
        near = max(kept, key=lambda point: VECTORS[new] @ VECTORS[point], default=None)
        if near is not None and VECTORS[new] @ VECTORS[near] >= DELTA:
            if score[new] > score[near]:
                cluster = next(some for some in clusters if near in some)
                cluster.remove(near)
                cluster.append(new)
            continue
        means = [np.mean(VECTORS[cluster], axis=0) for cluster in clusters]
        cosines = [VECTORS[new] @ mean / np.linalg.norm(mean) for mean in means]
        if cosines and max(cosines) >= TAU:
            clusters[int(np.argmax(cosines))].append(new)
        else:
            clusters.append([new])
    return clusters


@settings(max_examples=examples(100), deadline=None)
@given(arriving)
def test_it_is_algorithm_2_line_by_line(pairs: list[tuple[int, float]]) -> None:
    arrivals = Arrivals(DELTA, TAU, 6)
    for point, score in pairs:
        arrivals.arrive(str(point), VECTORS[point], score)
    told = {frozenset(cluster) for cluster in arrivals.clusters}
    assert told == {frozenset(map(str, cluster)) for cluster in plainly(pairs)}


async def test_a_partition_is_replayed_by_age_and_only_as_far_as_it_changed() -> None:
    partition, replayed = Partition(DELTA, TAU, 2), Replayed()
    for age, (name, degrees, score) in enumerate((A, B)):
        partition.put(Member(name, score, float(age), turned(degrees)))
    first = await replayed.of(KEY, partition, DELTA, TAU)
    assert first.kept == {"A"} and await replayed.of(KEY, partition, DELTA, TAU) is first
    partition.put(Member("C", 0.95, 2.0, turned(-30.0)))
    assert await replayed.of(KEY, partition, DELTA, TAU) is first and first.kept == {"C"}
    partition.put(Member("B", 0.99, 1.0, turned(30.0)))  # a vote on an older pair
    again = await replayed.of(KEY, partition, DELTA, TAU)
    assert again is not first and again.kept == {"B", "C"}
    partition.remove("B")
    assert (await replayed.of(KEY, partition, DELTA, TAU)).kept == {"C"}
    assert (await replayed.of(KEY, partition, 0.99, TAU)).kept == {"A", "C"}


async def test_vectors_of_another_encoder_are_replayed_anew() -> None:
    replayed, found = Replayed(), []
    for dimensions in (2, 3):
        partition = Partition(DELTA, TAU, dimensions)
        vector = np.eye(dimensions, dtype=np.float32)[-1]
        partition.put(Member("A", 0.9, 0.0, vector))
        arrivals = await replayed.of(KEY, partition, DELTA, TAU)
        found.append(arrivals.nearest(vector, 1))
    assert found == [[("A", 1.0)], [("A", 1.0)]]


@pytest.mark.parametrize(
    ("by_paper", "stale", "route"),
    [
        (True, False, "reuse"),
        (False, False, "reference"),
        (True, True, "reference"),
        (False, True, "reference"),
    ],
)
async def test_by_the_paper_no_guard_counts_but_staleness_does(
    by_paper: bool, stale: bool, route: str
) -> None:
    store, asked = FakeMemories(), "how to set the secret key"
    memory = CommunityMemory(store, FakeCorpora(store.topics), Thresholds(), lambda asked, kept: "a number")
    await memory.load(FakeEncoder(), {})
    await keep(store, pair("p1", topic=asked, stale=stale))
    await memory.vote(Vote("a-p1", "u", 1), 1.0)
    (vector,) = await FakeEncoder().encode([asked])
    found = await memory.recall(vector, asked, "1.0", Scope(), by_paper=by_paper)
    assert found.route == route
    elsewhere = await memory.recall(vector, asked, "2.0", Scope(), by_paper=by_paper)
    assert elsewhere.route == "avoid" and not elsewhere.high
