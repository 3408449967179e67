"""Figures over outcomes, and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.errors import UsageError
from evaluation.answers.judges import contextual_precision
from evaluation.calibration import Calibration, calibrate, choose, fit
from evaluation.gold import parse_line
from evaluation.metrics import Outcome, crag, reliability, summary, trade_off
from tests.core.evaluation.small import line


def outcome(kind: str = "fact", **given: Any) -> Outcome:
    release = "" if kind in ("out_of_scope", "unknown_release") else "2.0"
    return Outcome(parse_line(line(f"{kind}{id(given)}", "q?", release, type=kind)), **given)


def test_shares_are_over_the_questions_they_apply_to() -> None:
    found = summary(
        "x",
        [
            outcome(rank=1, right=True, ms=10, calls=2),
            outcome(rank=3, right=False, ms=30, wrong_release=True),
            outcome(rank=0, right=False, abstained=True, ms=20),
            outcome(kind="howto", rank=8, right=True, ms=40),
            outcome("out_of_scope", abstained=True, ms=1),
            outcome("out_of_scope", ms=1),
            outcome("unknown_release", refused=True, ms=1),
        ],
    )
    assert (found["n"], found["hit@1"], found["hit@3"], found["hit@8"]) == (7, 0.25, 0.5, 0.75)
    assert found["mrr"] == pytest.approx((1 + 1 / 3 + 1 / 8) / 4, abs=1e-4)
    assert found["wrong_release_top3"] == 0.25
    assert (found["abstain_precision"], found["abstain_recall"]) == (0.5, 0.5)
    assert found["answerable_lost"] == 0.25
    assert found["refused"] == 1.0
    assert found["must_contain"] == 0.5
    assert found["by_type"]["howto"]["hit@1"] == 0.0 and found["by_type"]["howto"]["hit@8"] == 1.0
    assert found["by_release"]["2.0"]["n"] == 4
    assert found["ms_p50"] == 10 and found["model_calls"] == pytest.approx(2 / 7, abs=1e-3)


def test_a_share_of_nothing_is_none() -> None:
    found = summary("x", [outcome("out_of_scope")])
    assert found["hit@3"] is None and found["mrr"] is None and found["abstain_precision"] is None
    assert found["crag"] is None


def test_a_wrong_answer_costs_what_a_right_one_brings() -> None:
    score = crag(
        [
            outcome(right=True),
            outcome(right=False),
            outcome(right=False, abstained=True),
            outcome("out_of_scope", abstained=True),
        ]
    )
    assert score == {"correct": 0.5, "missing": 0.25, "hallucination": 0.25, "score": 0.25}


def test_reliability_compares_what_was_said_with_what_was() -> None:
    curve = reliability([(0.95, True), (0.95, True), (0.05, False), (1.0, False)])
    assert curve["bins"] == [
        {"confidence": 0.05, "answerable": 0.0, "n": 1},
        {
            "confidence": pytest.approx(0.9667, abs=1e-4),
            "answerable": pytest.approx(0.6667, abs=1e-4),
            "n": 3,
        },
    ]
    assert curve["ece"] == pytest.approx(0.05 / 4 + 0.3 * 3 / 4, abs=1e-4)


def test_the_trade_off_goes_from_nothing_to_everything() -> None:
    curve = trade_off([(0.9, True), (0.4, True), (0.5, False)])
    assert (curve[0]["answerable_lost"], curve[0]["abstained"]) == (0, 0)
    assert (curve[-1]["answerable_lost"], curve[-1]["abstained"]) == (1, 1)
    assert {"threshold": 0.9, "answerable_lost": 0.5, "abstained": 1.0} in curve
    assert trade_off([(0.9, True)]) == []


def test_a_fit_finds_the_sign_that_tells() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(300) < 200
    table = np.column_stack([labels + rng.normal(0, 0.3, 300), rng.normal(0, 1, 300)])
    weights, bias = fit(table, labels)
    assert weights[0] > 3 and abs(weights[1]) < 0.5
    # Both kinds count alike although one is twice the other: the middle is the boundary.
    assert -bias / weights[0] == pytest.approx(0.5, abs=0.1)


def test_the_threshold_loses_no_more_than_allowed() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    for allowed in (0.0, 0.05, 0.1, 0.25):
        threshold = choose(scores, allowed)
        assert (scores < threshold).mean() <= allowed
    assert choose(scores, 0.1) == pytest.approx(0.2, abs=1e-3)
    assert choose(scores, 1.0) == 1.0


def probability(made: Calibration, cosine: float) -> float:
    signs = {"cosine": cosine, "words": 0.5}
    logit = made.bias + sum(weight * signs[name] for name, weight in made.coefficients.items())
    return float(1.0 / (1.0 + np.exp(-logit)))


def test_calibration_abstains_from_what_has_no_signs_and_wants_both_kinds() -> None:
    pairs = [({"cosine": 0.6 + n / 100, "words": 0.5}, True) for n in range(20)]
    pairs += [({"cosine": 0.2 + n / 100, "words": 0.5}, False) for n in range(20)]
    made = calibrate(pairs, most_lost=0.0)
    assert (made.answerable_lost, made.abstained) == (0.0, 1.0)
    assert probability(made, 0.7) > made.threshold
    assert probability(made, 0.3) < made.threshold
    # Where most questions have an answer the same evidence is worth more, and as much is abstained from.
    other = calibrate(pairs, most_lost=0.0, answerable_share=0.5)
    assert probability(other, 0.5) < probability(made, 0.5)
    assert other.abstained == made.abstained
    with pytest.raises(UsageError, match="out_of_scope"):
        calibrate(pairs[:20])
    with pytest.raises(UsageError, match="anew"):
        calibrate([*pairs, ({"cosine": 1.0}, True)])


def test_contextual_precision_rewards_relevant_passages_that_rank_high() -> None:
    assert contextual_precision({1, 2}, 4) == 1.0
    assert contextual_precision({1, 3}, 4) == pytest.approx((1 + 2 / 3) / 2)
    assert contextual_precision({4}, 4) == 0.25
    assert contextual_precision(set(), 4) == 0.0


def test_the_score_of_crag_never_counts_silence_as_a_right_answer() -> None:
    silent = [outcome(right=True, abstained=True), outcome(right=True, refused=True)]
    found = crag([*silent, outcome(right=True), outcome(right=False)])
    assert found == {"correct": 0.25, "missing": 0.5, "hallucination": 0.25, "score": 0.0}
