"""`threadlore simulate`: the real memory, simulated people, and figures that follow from both."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import UsageError
from core.memory.decision import Decision
from core.memory.guard import guard
from evaluation.commands.simulate import temporary
from evaluation.simulation.report import spread
from evaluation.simulation.run import Options, simulate
from evaluation.simulation.world import Model, People
from tests.core.evaluation.questions import written
from tests.effort import thorough
from tests.fakes import FakeEncoder

ROUND = {
    "round",
    "asked",
    "reuse",
    "reference",
    "avoid",
    "documents",
    "reuse_precision",
    "stored",
    "growth",
    "model_calls",
    "ms_mean",
}
LEARNED = Decision("learned", reach=0.7, far=0.5)
QUICK = Options(
    rounds=4,
    people=People(error=0.0, population=30),
    decision=LEARNED,
    baselines=False,
    sweeps=False,
    plots=False,
)
SURE = Model(right=1.0, right_referred=1.0, seconds=2.0)


async def played(tmp_path: Path, options: Options = QUICK, *releases: str, **given: Any) -> dict[str, Any]:
    data = written(tmp_path / "questions.jsonl", *releases)
    return await simulate(data, tmp_path / "report", FakeEncoder(), guard, options, **given)


async def test_the_report_has_the_documented_fields_and_its_figures_add_up(tmp_path: Path) -> None:
    made = await played(tmp_path, replace(QUICK, baselines=True))
    assert json.loads((tmp_path / "report" / "simulation.json").read_text("utf-8")) == made
    assert made.keys() == {"rounds", "baselines", "settings"}
    assert [row["round"] for row in made["rounds"]] == [1, 2, 3, 4]
    assert sum(row["asked"] for row in made["rounds"]) == 72
    for row in made["rounds"]:
        assert row.keys() == ROUND
        routes = [row[route] for route in ("reuse", "reference", "avoid", "documents")]
        assert sum(routes) == pytest.approx(1.0, abs=1e-3)
        assert row["model_calls"] == pytest.approx(1 - row["reuse"], abs=1e-3)
    before = [12] + [row["stored"] for row in made["rounds"]]
    for row, was in zip(made["rounds"], before, strict=False):
        assert row["growth"] == pytest.approx(row["stored"] / was - 1, abs=1e-3)
    text = (tmp_path / "report" / "simulation.md").read_text("utf-8")
    assert "| 4 | 18 |" in text
    assert made["settings"]["decision"]["kind"] == "learned"


async def test_the_real_stores_and_those_of_dictionaries_give_the_same_rounds(tmp_path: Path) -> None:
    people = People(error=0.2, turnout=0.9, adversaries=0.1, population=30)
    options = replace(QUICK, people=people, model=Model(right=0.7, seconds=0.0), known=0.5)
    by_sql = await played(tmp_path, options, stores=temporary)
    again = await played(tmp_path, options)

    def without_time(made: dict[str, Any]) -> list[dict[str, Any]]:
        return [{key: value for key, value in row.items() if key != "ms_mean"} for row in made["rounds"]]

    assert without_time(by_sql) == without_time(again)
    assert any(row["avoid"] for row in by_sql["rounds"])
    assert sum(row["reuse"] for row in by_sql["rounds"]) > 0.5


async def test_memory_learns_to_recognise_what_it_is_asked(tmp_path: Path) -> None:
    made = await played(tmp_path, replace(QUICK, model=SURE, people=replace(QUICK.people, turnout=1.0)))
    first, last = made["rounds"][0], made["rounds"][-1]
    assert last["reuse"] > first["reuse"]
    assert last["ms_mean"] < first["ms_mean"]
    assert {row["reuse_precision"] for row in made["rounds"]} == {1.0}


async def test_baselines_differ_by_what_they_lack(tmp_path: Path) -> None:
    options = replace(QUICK, baselines=True, releases=("1.0", "2.0"), model=SURE)
    made = await played(tmp_path, options)
    none, text = made["baselines"]["no memory"], made["baselines"]["exact-text cache"]
    assert (none["reuse"], none["model_calls"], none["stored"]) == (0.0, 1.0, 0)
    assert text["reuse"] == 0.0  # every question is asked but once for a release
    mixed = made["baselines"]["without release partition"]
    assert mixed["across_releases"] > 0
    assert mixed["reuse_precision"] < 0.9
    details = json.loads((tmp_path / "report" / "details.json").read_text("utf-8"))
    assert details["this memory"]["across_releases"] == 0
    assert details["this memory"]["reuse"] > 0.2
    assert set(made["baselines"]) == {
        "no memory",
        "exact-text cache",
        "without guard",
        "without release partition",
        "the paper's rule",
    }


async def test_lines_may_name_their_release_themselves(tmp_path: Path) -> None:
    await played(tmp_path, replace(QUICK, model=SURE), "1.0", "2.0")
    details = json.loads((tmp_path / "report" / "details.json").read_text("utf-8"))
    assert details["this memory"]["across_releases"] == 0
    assert sum(row["known"] for row in details["rounds"]) == 144


async def test_a_community_that_votes_against_the_truth_ruins_precision_and_one_that_errs_does_not(
    tmp_path: Path,
) -> None:
    bad = replace(QUICK, known=0.0, model=Model(right=0.5), people=People(adversaries=1.0, population=30))
    good = replace(bad, people=People(error=0.05, population=30))
    precision = {}
    for name, options in (("bad", bad), ("good", good)):
        await played(tmp_path, options)
        details = json.loads((tmp_path / "report" / "details.json").read_text("utf-8"))
        precision[name] = details["this memory"]["reuse_precision"]
    assert precision["bad"] < 0.5 < 0.8 < precision["good"]


async def test_whatever_is_reused_for_others_is_told_and_wrong(tmp_path: Path) -> None:
    others = tuple(f"How do I mend {thing}?" for thing in ("kettle lid hinge", "red pump valve gasket ring"))
    options = replace(QUICK, others=(*others, "What is a sonnet?", "Who wrote it first?"), model=SURE)
    made = await played(tmp_path, options)
    details = json.loads((tmp_path / "report" / "details.json").read_text("utf-8"))
    assert made["settings"]["others"] == 4
    assert sum(row["asked"] for row in made["rounds"]) == 74
    assert details["this memory"]["others_reused"] in (0.0, 0.5, 1.0)


async def test_several_seeds_give_mean_and_spread(tmp_path: Path) -> None:
    await played(tmp_path, replace(QUICK, seed=5, seeds=3))
    details = json.loads((tmp_path / "report" / "details.json").read_text("utf-8"))
    reused = [run["reuse_last"] for run in details["seeds"]]
    assert len(reused) == 3
    assert details["spread"]["reuse_last"]["mean"] == pytest.approx(sum(reused) / 3, abs=1e-3)
    assert details["spread"]["reuse_last"]["least"] == min(reused)
    assert details["spread"] == spread(details["seeds"])
    assert "## Over 3 seeds" in (tmp_path / "report" / "simulation.md").read_text("utf-8")


async def test_a_seed_gives_the_same_rounds_and_another_one_others(tmp_path: Path) -> None:
    runs = [await played(tmp_path, replace(QUICK, seed=seed)) for seed in (1, 1, 2)]
    stored = [[row["stored"] for row in made["rounds"]] for made in runs]
    assert stored[0] == stored[1] != stored[2]


async def test_thresholds_can_be_fitted_on_one_half_and_the_other_is_asked(tmp_path: Path) -> None:
    made = await played(tmp_path, replace(QUICK, fitted=True))
    assert made["settings"]["half"] == "report, fitted on tune"
    assert 0 < made["settings"]["topics"] < 12
    assert made["settings"]["decision"]["reach"] != LEARNED.reach


@thorough("test_thresholds_can_be_fitted_on_one_half_and_the_other_is_asked")
async def test_sweeps_change_one_threshold_at_a_time(tmp_path: Path) -> None:
    await played(tmp_path, replace(QUICK, rounds=1, sweeps=True))
    details = json.loads((tmp_path / "report" / "details.json").read_text("utf-8"))
    assert details["sweeps"].keys() == {"delta", "tau", "gamma", "reach"}
    for name in ("delta", "reach"):
        reused = [run["reuse"] for run in details["sweeps"][name]]
        assert reused == sorted(reused, reverse=True)
        assert reused[0] > reused[-1]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"known": 1.5}, "--known is a share"),
        ({"people": People(turnout=-0.1)}, "--turnout is a share"),
        ({"rounds": 0}, "at least one round"),
        ({"model": Model(seconds=-5.0)}, "--model-seconds is a time"),
        ({"model": Model(seconds=float("nan"))}, "--model-seconds is a time"),
        ({"people": People(readers=0)}, "at least one reader"),
    ],
)
async def test_options_that_cannot_be_are_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await played(tmp_path, replace(QUICK, **changed))
    assert not (tmp_path / "report").exists()


async def test_a_folder_that_cannot_be_is_told_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "report").write_text("", "utf-8")
    with pytest.raises(UsageError, match="cannot hold a report"):
        await played(tmp_path, QUICK)
