"""Maximal marginal relevance, and its union with cosine."""

from __future__ import annotations

import numpy as np

from core.retrieval.retrievers.cosine_mmr import mmr, union


def test_mmr_passes_over_what_says_the_same() -> None:
    query = np.array([1.0, 0.0, 0.0], np.float32)
    near, twin, other = [0.9, 0.436, 0.0], [0.9, 0.4359, 0.01], [0.7, 0.0, 0.714]
    rows = np.array([near, twin, other], np.float32)
    assert mmr(query, rows, 2) == [0, 2]
    assert mmr(query, rows, 2, balance=1.0) == [0, 1]
    assert mmr(query, rows, 9) == [0, 2, 1]
    assert mmr(query, rows[:0], 3) == []


def test_the_union_has_no_row_twice() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chosen = union(rows[0], rows)
    assert len(set(chosen)) == len(chosen) == 4
    assert chosen[:2] == list(np.argsort(-(rows @ rows[0]))[:2])
    assert union(rows[0], rows[:3]) and len(union(rows[0], rows[:3])) == 3
