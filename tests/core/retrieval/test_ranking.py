"""The tuned ranking of a home, whole or broken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.retrieval.confidence import Judgement, Signs
from core.retrieval.pregenerated import EQUAL
from core.retrieval.ranking import DEFAULT_RANKING, DEFAULT_WEIGHTS, LATER, load_ranking, save_ranking

LEARNT = replace(
    DEFAULT_RANKING,
    dense=0.5,
    weights=dict.fromkeys(DEFAULT_WEIGHTS, 2.0),
    judgement=Judgement({"joint": 3.0}, -1.0, 0.6),
    tuned="gold.jsonl",
    quotes=replace(DEFAULT_RANKING.quotes, coefficients={"found": 2.0, "margin": 0.5}, bias=-0.5),
)


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "ranking.json"
    save_ranking(path, LEARNT, "mini@256")
    assert load_ranking(path, "mini@256") == (LEARNT, "")
    shipped = {"judgement": DEFAULT_RANKING.judgement, "quotes": DEFAULT_RANKING.quotes}
    save_ranking(path, replace(LEARNT, **shipped), "mini@256")
    assert load_ranking(path, "mini@256")[0] == replace(LEARNT, **shipped)
    assert [entry.name for entry in tmp_path.iterdir()] == ["ranking.json"]


def test_a_file_of_before_a_feature_came_weighs_it_as_shipped(tmp_path: Path) -> None:
    path = tmp_path / "ranking.json"
    weights = {name: 2.0 for name in DEFAULT_WEIGHTS if name not in LATER}
    save_ranking(path, replace(LEARNT, weights=weights), "mini@256")
    ranking, problem = load_ranking(path, "mini@256")
    assert not problem
    assert ranking.weights == weights | LATER and LATER["older"] == DEFAULT_WEIGHTS["older"]
    assert LATER["tokens"] == 0.0, "what was fitted without it keeps its order"


def test_how_sure_quotes_are_is_as_shipped_where_the_file_does_not_know_what_tells_most(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ranking.json"
    before = replace(DEFAULT_RANKING.quotes, coefficients={"found": 2.0}, bias=-0.5)
    save_ranking(path, replace(LEARNT, quotes=before), "mini@256")
    assert load_ranking(path, "mini@256") == (replace(LEARNT, quotes=DEFAULT_RANKING.quotes), "")


def test_without_a_file_the_shipped_one_is_used(tmp_path: Path) -> None:
    assert load_ranking(tmp_path / "ranking.json", "mini@256") == (DEFAULT_RANKING, "")


def test_another_encoder_means_the_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "ranking.json"
    save_ranking(path, LEARNT, "mini@256")
    ranking, problem = load_ranking(path, "large@512")
    assert ranking == DEFAULT_RANKING and "mini@256" in problem and "threadlore tune" in problem


@pytest.mark.parametrize(
    "broken",
    [
        "{",
        "[]",
        "{}",
        {"weights": {"passage": 1.0}},
        {"weights": dict.fromkeys(DEFAULT_WEIGHTS, "much")},
        {"weights": dict.fromkeys(DEFAULT_WEIGHTS, float("nan"))},
        {"weights": [1, 2]},
        {"fields": {"question_vector": 1.0}},
        {"fields": dict.fromkeys(EQUAL, -1.0)},
        {"dense": 7},
        {"judgement": {"coefficients": {"mood": 1.0}, "bias": 0, "enough": 0.5}},
        {"judgement": {"coefficients": {}}},
        {"quotes": {"coefficients": {"mood": 1.0}, "bias": 0}},
        {"quotes": {"coefficients": {}}},
    ],
)
def test_a_broken_file_is_told_and_not_used(tmp_path: Path, broken: Any) -> None:
    path = tmp_path / "ranking.json"
    save_ranking(path, LEARNT, "mini@256")
    text = broken if isinstance(broken, str) else json.dumps(json.loads(path.read_text()) | broken)
    path.write_text(text)
    ranking, problem = load_ranking(path, "mini@256")
    assert ranking == DEFAULT_RANKING and "ranking.json cannot be used" in problem and "--reset" in problem


def test_a_judgement_is_a_probability_however_far_the_signs() -> None:
    judgement = Judgement({"joint": 1000.0}, 0.0, 0.5)
    assert 0.0 < judgement.confidence(Signs(joint=-9.0)) < 0.5 < judgement.confidence(Signs(joint=9.0)) <= 1.0
