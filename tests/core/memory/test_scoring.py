"""Scores by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import ContextChunk, Evidence
from core.memory.scoring import Thresholds, score, support


@pytest.mark.parametrize(
    ("prior", "opinions", "strength", "wanted"),
    [
        (0.5, [], 1.0, 0.5),
        (0.5, [(1, 1.0)], 1.0, 0.75),
        (0.5, [(0, 1.0)], 1.0, 0.25),
        (0.25, [(1, 2.0)], 1.0, 0.75),  # (.25 + 2) / 3
        (0.75, [(0, 2.0)], 1.0, 0.25),  # .75 / 3
        (0.6, [(1, 1.0), (0, 2.0), (1, 1.0)], 2.0, 3.2 / 6),
        (0.4, [(1, 1.0)] * 9, 1.0, 0.94),
    ],
)
def test_a_score_is_the_mean_of_votes_over_a_prior(
    prior: float, opinions: list[tuple[int, float]], strength: float, wanted: float
) -> None:
    assert score(prior, opinions, strength) == pytest.approx(wanted)


opinion = st.tuples(st.sampled_from([0, 1]), st.floats(0.1, 5))


@given(st.floats(0, 1), st.lists(opinion, max_size=20), st.floats(0.1, 5))
def test_a_score_stays_within_bounds_and_follows_each_vote(
    prior: float, opinions: list[tuple[int, float]], strength: float
) -> None:
    before = score(prior, opinions, strength)
    assert -1e-9 <= before <= 1 + 1e-9
    assert score(prior, [*opinions, (1, 1.0)], strength) >= before - 1e-9
    assert score(prior, [*opinions, (0, 1.0)], strength) <= before + 1e-9


def test_the_store_begins_at_gamma() -> None:
    thresholds = Thresholds(gamma=0.7)
    assert thresholds.store(0.7) == "high"
    assert thresholds.store(0.7 - 1e-9) == "low"


def evidence(*pages: str) -> list[Evidence]:
    return [
        Evidence(n, ContextChunk(str(n), "a.rst", "Title", "Heading", "url", page), 1.0)
        for n, page in enumerate(pages, start=1)
    ]


def test_support_is_the_share_of_terms_that_the_evidence_holds() -> None:
    pages = evidence("Set SECRET_KEY in production.", "Restart the server.")
    assert support("Set SECRET_KEY and restart the server.", pages) == pytest.approx(0.75)
    assert support("Bananas grow slowly.", pages) == pytest.approx(0.25)
    assert 0.25 < support("Restart bananas.", pages) < 0.75
    assert support("", pages) == support("Restart.", []) == 0.25


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_support_leaves_the_last_word_to_one_vote(answer: str, pages: list[str]) -> None:
    prior = support(answer, evidence(*pages))
    thresholds = Thresholds()
    assert 0.25 <= prior <= 0.75
    assert thresholds.store(score(prior, [(1, 1.0)], thresholds.prior_strength)) == "high"
    assert thresholds.store(score(prior, [(0, 1.0)], thresholds.prior_strength)) == "low"
