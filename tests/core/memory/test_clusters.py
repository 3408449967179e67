"""One partition against the same thing written plainly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.memory.partitions.partition import Member, Partition
from core.ports import Matrix
from tests.effort import examples

DELTA, TAU = 0.8, 0.5
POINTS = 30


def points() -> Matrix:
    random = np.random.default_rng(3)
    made = random.normal(size=(POINTS, 6)) * 0.5 + random.normal(size=(3, 6))[np.arange(POINTS) % 3]
    scaled: Matrix = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return scaled


VECTORS = points()
step = st.tuples(st.integers(0, POINTS - 1), st.sampled_from([None, 0.1, 0.4, 0.4, 0.7, 0.9]))
steps = st.lists(step, min_size=1, max_size=60)


def member(point: int, score: float) -> Member:
    return Member(f"p{point:02}", score, float(point % 5), VECTORS[point])


def build(changes: list[tuple[int, float | None]]) -> tuple[Partition, dict[str, Member]]:
    """Put members, or take them out where the score is None."""
    partition = Partition(DELTA, TAU, 6)
    members: dict[str, Member] = {}
    for point, score in changes:
        if score is None:
            partition.remove(f"p{point:02}")
            members.pop(f"p{point:02}", None)
        else:
            members[f"p{point:02}"] = member(point, score)
            partition.put(members[f"p{point:02}"])
    return partition, members


def rule(members: dict[str, Member]) -> dict[str, str]:
    """Return for each member who keeps it out, empty for the kept."""
    shadows: dict[str, str] = {}
    for one in sorted(members.values(), key=lambda m: m.rank):
        better = (k for k, s in shadows.items() if not s and members[k].vector @ one.vector >= DELTA)
        shadows[one.id] = next(better, "")
    return shadows


@settings(max_examples=examples(150), deadline=None)
@given(steps)
def test_who_is_kept_does_not_depend_on_the_order_of_events(changes: list[tuple[int, float | None]]) -> None:
    partition, members = build(changes)
    assert len(partition) == len(members)
    assert {key: partition.shadowed_by(key) for key in members} == rule(members)
    assert partition.kept == {key for key, better in rule(members).items() if not better}
    assert partition.sound()
    for key, one in members.items():
        assert key in partition
        assert partition.score_of(key) == one.score
        assert (partition.cluster_of(key) is None) == bool(partition.shadowed_by(key))


@settings(max_examples=examples(100), deadline=None)
@given(steps, step)
def test_a_change_names_every_member_whose_place_is_another(
    changes: list[tuple[int, float | None]], last: tuple[int, float | None]
) -> None:
    partition, members = build(changes)
    before = {key: (partition.cluster_of(key), partition.shadowed_by(key)) for key in members}
    point, score = last
    touched = partition.remove(f"p{point:02}") if score is None else partition.put(member(point, score))
    after = {
        key: (partition.cluster_of(key), partition.shadowed_by(key)) for key in members if key in partition
    }
    assert {key for key in before if before[key] != after.get(key)} <= touched


@settings(max_examples=examples(150), deadline=None)
@given(steps, st.integers(0, POINTS - 1), st.integers(1, 6))
def test_nearest_finds_what_comparing_with_all_finds(
    changes: list[tuple[int, float | None]], point: int, k: int
) -> None:
    partition, members = build(changes)
    query = VECTORS[point]
    cosines = {key: float(members[key].vector @ query) for key in partition.kept}
    found = partition.nearest(query, k)
    assert [c for _, c in found] == pytest.approx(sorted(cosines.values(), reverse=True)[:k], abs=1e-5)
    assert all(c == pytest.approx(cosines[key], abs=1e-5) for key, c in found)


def test_a_pair_joins_the_nearest_centroid_from_tau_on_or_starts_a_cluster() -> None:
    partition = Partition(0.99, TAU, 3)
    for key, vector in {"a": (1, 0, 0), "b": (0.8, 0.6, 0), "c": (0, 0, 1), "d": (0, 0.5, 0.866)}.items():
        partition.put(Member(key, 1.0, 0.0, np.array(vector, np.float32)))
    assert list(partition.clustered.values()) == [("a", "b"), ("c", "d")]
    assert partition.mean(partition.clustered[1]) == pytest.approx([0.9, 0.3, 0.0])
    partition.remove("a")
    assert partition.mean(partition.clustered[1]) == pytest.approx([0.8, 0.6, 0.0])
    partition.remove("b")
    assert list(partition.clustered.values()) == [("c", "d")]


def test_an_empty_partition_has_nothing_near() -> None:
    partition = Partition(DELTA, TAU, 6)
    assert partition.nearest(VECTORS[0], 3) == []
    assert partition.remove("nobody") == set()
    assert partition.sound()


def test_what_was_loaded_under_another_delta_is_not_sound() -> None:
    one, two = member(0, 0.9), Member("near", 0.5, 0.0, VECTORS[0])
    kept, shadowed = Partition(DELTA, TAU, 6), Partition(DELTA, TAU, 6)
    for partition in (kept, shadowed):
        partition.load(one, 1, "")
    kept.load(two, 1, "")
    assert not kept.sound()
    shadowed.load(two, None, one.id)
    assert shadowed.sound()
    far = Partition(DELTA, TAU, 6)
    far.load(one, 1, "")
    far.load(Member("far", 0.5, 0.0, -VECTORS[0]), None, one.id)
    assert not far.sound()
    worse = Partition(DELTA, TAU, 6)
    worse.load(two, 1, "")
    worse.load(one, None, "near")
    assert not worse.sound()


def test_many_at_once_stand_as_one_after_the_other() -> None:
    scores = np.random.default_rng(5).choice([0.4, 0.7, 0.9], size=POINTS)
    together, alone = Partition(DELTA, TAU, 6), Partition(DELTA, TAU, 6)
    members = [member(point, float(scores[point])) for point in range(POINTS)]
    assert together.put_all(members) == {one.id for one in members}
    for one in members:
        alone.put(one)
    assert together.kept == alone.kept
    assert all(together.shadowed_by(one.id) == alone.shadowed_by(one.id) for one in members)


def test_a_vote_on_a_pair_that_stays_compares_nothing_the_second_time() -> None:
    partition, members = build([(point, 0.7) for point in range(POINTS)])
    partition.put(member(3, 0.9))
    table = partition._vectors
    before = table._matrix
    table._matrix = np.full_like(before, np.nan)  # a comparison would now find nobody near
    partition.put(member(3, 0.8))
    table._matrix = before
    members["p03"] = member(3, 0.8)
    assert {key: partition.shadowed_by(key) for key in members} == rule(members)


def test_what_was_taken_out_leaves_no_vector_behind() -> None:
    partition, members = build([(point, 0.7) for point in range(POINTS)])
    for key in members:
        partition.remove(key)
    assert len(partition) == 0
    assert not partition.clustered
    assert not partition._vectors._matrix.any()
    assert not partition._centroids._matrix.any()
