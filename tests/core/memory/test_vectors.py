"""A table of vectors beside a dictionary: whatever is moved and taken out, each name keeps its vector."""

from collections.abc import Iterable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.memory.partitions.vectors import ROWS_AT_ONCE, Centroids, VectorTable

CHANCE = np.random.default_rng(7)
DIMENSIONS = 6


def unit(count: int) -> np.ndarray:
    vectors = CHANCE.normal(size=(count, DIMENSIONS)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


VECTORS = unit(40)


@given(
    st.lists(st.tuples(st.sampled_from(["add", "remove", "move"]), st.integers(0, 39), st.integers(0, 39)))
)
def test_every_name_keeps_its_vector(steps: list[tuple[str, int, int]]) -> None:
    table, known = VectorTable(DIMENSIONS), {}
    for what, one, row in steps:
        name = f"n{one}"
        if what == "add" and name not in known:
            table.append(name, VECTORS[one])
            known[name] = VECTORS[one]
        elif what == "remove" and name in known:
            table.remove(name)
            del known[name]
        elif what == "move" and name in known:
            table.move(name, row % len(known))
            assert table.names[row % len(known)] == name
    assert set(table.names) == known.keys()
    assert len(table) == len(known)
    assert all(np.array_equal(table.of(name), vector) for name, vector in known.items())
    assert np.array_equal(table.first(len(table)), np.array([known[n] for n in table.names]).reshape(-1, 6))
    found = table.nearest(VECTORS[0], 3, len(table))
    cosines = sorted((float(vector @ VECTORS[0]) for vector in known.values()), reverse=True)
    assert np.allclose([cosine for _, cosine in found], cosines[:3], atol=1e-6)


def test_only_the_first_rows_are_searched() -> None:
    table = VectorTable(DIMENSIONS)
    for number in range(4):
        table.append(f"n{number}", VECTORS[number])
    assert [name for name, _ in table.nearest(VECTORS[3], 1, 3)] != ["n3"]
    table.move("n3", 0)
    assert [name for name, _ in table.nearest(VECTORS[3], 1, 1)] == ["n3"]
    assert table.nearest(VECTORS[3], 1, 0) == []
    assert table.nearest_of([], VECTORS[3], 2) == []


def test_those_that_are_near_are_found_beyond_one_product() -> None:
    table, many = VectorTable(DIMENSIONS), unit(ROWS_AT_ONCE + 20)
    for number, vector in enumerate(many):
        table.append(f"n{number}", vector)
    near = {(f"n{a}", f"n{b}") for a, b in np.argwhere(many @ many.T >= 0.8) if a != b}
    assert near
    assert set(table.near(table.names, 0.8)) == near
    assert set(table.near(["n3"], 0.8)) == {pair for pair in near if pair[0] == "n3"}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 39), st.integers(1, 20)), max_size=80))
def test_a_centroid_is_its_members_mean_of_unit_length_whatever_joins_and_leaves(
    steps: list[tuple[bool, int, int]],
) -> None:
    known: dict[str, int] = {}

    def mean(names: Iterable[str]) -> np.ndarray:
        return np.mean([VECTORS[int(name)] for name in names], axis=0)

    centroids = Centroids(DIMENSIONS, mean)
    for joins, one, cluster in [*((True, n, n + 1) for n in range(20)), *steps]:
        if str(one) in known:
            centroids.leave(str(one))
            del known[str(one)]
        if joins:
            centroids.join(str(one), cluster)
            known[str(one)] = cluster
    members = {cluster: {n for n, at in known.items() if at == cluster} for cluster in known.values()}
    assert {key: set(ids) for key, ids in centroids.clustered().items()} == members
    wanted = {key: mean(ids) / np.linalg.norm(mean(ids)) for key, ids in members.items()}
    found = centroids.vectors()
    assert found.keys() == wanted.keys() and len(centroids) == len(wanted)
    assert all(np.allclose(found[key], wanted[key], atol=1e-5) for key in wanted)
    near = [cosine for _, cosine in centroids.nearest(VECTORS[0], 3)]
    cosines = sorted((float(vector @ VECTORS[0]) for vector in wanted.values()), reverse=True)
    assert np.allclose(near, cosines[:3], atol=1e-5)


def test_a_new_cluster_has_a_number_of_its_own() -> None:
    centroids = Centroids(DIMENSIONS, lambda names: VECTORS[0])
    centroids.join("a", None)
    centroids.join("b", 7)
    centroids.join("c", None)
    assert [centroids.of(name) for name in ("a", "b", "c", "d")] == [1, 7, 8, None]
    centroids.leave("c")
    assert centroids.of("c") is None and centroids.clustered() == {1: ("a",), 7: ("b",)}
