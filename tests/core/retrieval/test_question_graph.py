"""The graph of questions against networkx, and as it grows and shrinks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.domain import Vector
from core.memory.question_graph import ALPHA, MOST, TOLERANCE, QuestionGraph, pagerank
from core.ports import Matrix
from tests.effort import examples

POINTS = 24


def points(seed: int, count: int = POINTS) -> Matrix:
    random = np.random.default_rng(seed)
    made = random.normal(size=(count, 5)) * 0.45 + random.normal(size=(4, 5))[np.arange(count) % 4]
    scaled: Matrix = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def plainly(vectors: dict[str, Vector], asked: Vector, edge: float, **given: float) -> dict[str, float]:
    """Rank by networkx: the question is a node, and the walk restarts there."""
    graph = nx.Graph()
    graph.add_node("?")
    everything = vectors | {"?": asked}
    graph.add_nodes_from(everything)
    names = list(everything)
    for at, one in enumerate(names):
        for other in names[:at]:
            cosine = float(everything[one] @ everything[other])
            if cosine > edge:
                graph.add_edge(one, other, weight=cosine)
    ranks: dict[str, float] = nx.pagerank(graph, personalization={"?": 1.0}, **given)
    return ranks


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.7, 0.8, 0.9]), st.integers(0, POINTS - 1))
def test_a_graph_that_grew_and_shrank_ranks_as_networkx_does(seed: int, edge: float, cut: int) -> None:
    *rows, asked = points(seed, POINTS + 1)
    vectors = {f"q{at}": row for at, row in enumerate(rows)}
    graph = QuestionGraph(5, edge)
    names = list(vectors)
    graph.put({name: vectors[name] for name in names[:cut]})
    graph.remove(names[: cut // 2])
    graph.put(vectors)
    gone = names[cut : cut + 3]
    graph.remove([*gone, "unknown"])
    left = {name: vector for name, vector in vectors.items() if name not in gone}
    assert graph.ids == left.keys()
    found = dict(graph.nearest(asked, POINTS))
    wanted = plainly(left, asked, edge, alpha=ALPHA, max_iter=500, tol=1e-12)
    bound = TOLERANCE * len(left) * ALPHA / (1 - ALPHA)
    assert found == {name: pytest.approx(wanted[name], abs=bound + 1e-6) for name in left}
    out = [name for name, rank in graph.nearest(asked, POINTS) if not rank]
    assert out == sorted(out, key=lambda name: -left[name] @ asked), "out of reach the nearest come first"


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 0.4), st.booleans())
def test_the_iteration_comes_to_networkx_s_fixed_point(seed: int, density: float, joined: bool) -> None:
    random = np.random.default_rng(seed)
    upper = np.triu(random.random((15, 15)) * (random.random((15, 15)) < density), 1)
    edges = random.random(15) * (random.random(15) < 0.3) * joined
    graph = nx.Graph()
    graph.add_nodes_from(range(16))
    graph.add_weighted_edges_from((i, j, upper[i, j]) for i, j in np.argwhere(upper).tolist())
    graph.add_weighted_edges_from((i, 15, edges[i]) for i in np.nonzero(edges)[0].tolist())
    wanted = nx.pagerank(graph, ALPHA, {15: 1.0}, max_iter=1000, tol=1e-13)
    ranks = pagerank(sparse.csr_array(upper + upper.T), edges, most=1000, tolerance=1e-13)
    assert ranks == pytest.approx([wanted[node] for node in range(16)], abs=1e-9)
    assert ranks.sum() == pytest.approx(1.0)


def test_what_is_left_out_of_a_large_graph_moves_no_rank_by_more_than_its_degree_s_share() -> None:
    rows = points(3, 400)
    cosines = np.triu(rows @ rows.T, 1).astype(np.float64)
    links = sparse.csr_array(np.where(cosines > 0.5, cosines, 0.0))
    links = links + links.T
    degrees = np.asarray(links.sum(axis=1)).ravel()
    edges = np.where(rows @ rows[0] > 0.8, (rows @ rows[0]).astype(np.float64), 0.0)
    whole = pagerank(links, edges, tolerance=1e-12, most=1000)
    least = 1e-5
    near = pagerank(links, edges, least=least)
    assert near.sum() == pytest.approx(1.0)
    off = np.abs(near - whole)[:-1]
    assert off.max() > 1e-12, "something was left out"
    assert (off <= least * (degrees + edges) + 1e-12).all()


def test_it_goes_by_the_papers_parameters() -> None:
    assert (ALPHA, MOST, TOLERANCE) == (0.85, 100, 1e-6)


def test_two_nodes_by_hand() -> None:
    # ?–a–b with weights 1: x? = .15 + .85 a/2, a = .85 (x? + b), b = .85 a/2
    links = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    ranks = pagerank(links, np.array([1.0, 0.0]), tolerance=1e-12, most=1000)
    a = 0.85 * 0.15 / (1 - 2 * 0.85**2 / 2)
    assert ranks == pytest.approx([a, 0.425 * a, 0.15 + 0.425 * a], abs=1e-9)


def test_of_two_as_near_the_one_with_neighbours_of_the_question_ranks_higher() -> None:
    def turned(degrees: float) -> Vector:
        return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)

    graph = QuestionGraph(2, 0.9)
    graph.put({"alone": turned(-20), "amid": turned(20), "beside": turned(24), "far": turned(90)})
    found = graph.nearest(turned(0), 2)
    assert [name for name, _ in found] == ["amid", "beside"] and graph.edges == 1
    assert graph.nearest(turned(160), 2) == [("far", 0.0), ("beside", 0.0)], "no edge: the nearest by cosine"
    assert [name for name, _ in graph.nearest(turned(0), 4)] == ["amid", "beside", "alone", "far"]
    assert QuestionGraph(2).nearest(turned(0), 2) == []


def test_what_stands_already_is_not_built_again() -> None:
    graph = QuestionGraph(5, 0.5)
    vectors = {f"q{at}": row for at, row in enumerate(points(7))}
    graph.put(dict(list(vectors.items())[:2]))
    graph.put(vectors)
    links = graph.links
    graph.put(vectors)
    graph.remove(["unknown"])
    assert graph.links is links and graph.dimensions == 5
