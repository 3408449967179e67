"""Settings, calibration and defaults meet, and the commands that measure memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.app.builders.memory import tuned
from bot.cli.arguments import parsed
from core.errors import UsageError
from core.memory.calibrated import Calibrated, write_calibration
from core.memory.decision import LEARNED
from core.memory.scoring import Thresholds
from core.settings import Settings, load_settings
from evaluation.commands.simulate import run_calibration, run_simulation
from tests.core.evaluation.questions import written
from tests.fakes import FakeEncoder

MODEL = "all-MiniLM-L6-v2"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DELTA", "TAU", "REACH", "DECISION"):
        monkeypatch.delenv(f"MEMORY_{name}", raising=False)
    monkeypatch.delenv("EMBEDDING_MODEL", raising=False)
    return tmp_path / "home"


def settings(home: Path, **given: Any) -> Settings:
    return load_settings(env_file=None, home=home, **given)


def test_the_settings_that_are_shipped_are_the_defaults_of_the_code(home: Path) -> None:
    assert tuned(settings(home)) == (Thresholds(), LEARNED, "")


def test_what_is_set_by_hand_goes_before_the_calibration_and_that_before_the_defaults(home: Path) -> None:
    write_calibration(home, Calibrated(f"{MODEL}@256", 0.9, 0.5, 0.96, 0.9, "p", 1.0, 0.7, 0.45))
    thresholds, decision, _ = tuned(settings(home))
    assert (thresholds.delta, thresholds.tau, decision.reach, decision.far) == (0.9, 0.5, 0.7, 0.45)
    thresholds, decision, _ = tuned(settings(home, reuse_threshold=0.84, memory_reach=0.8))
    assert (thresholds.delta, thresholds.tau, decision.reach) == (0.84, 0.5, 0.8)


def test_the_paper_can_be_had(home: Path) -> None:
    _, decision, _ = tuned(settings(home, memory_decision="paper"))
    assert not decision.learns


def test_another_model_without_a_calibration_is_warned_of(home: Path) -> None:
    assert (
        "for some/model run `threadlore calibrate" in tuned(settings(home, embedding_model="some/model"))[2]
    )


def loaded(model: str, cache: Path) -> FakeEncoder:
    encoder = FakeEncoder(f"{model}@256")
    encoder.close = lambda: None  # type: ignore[attr-defined]
    return encoder


async def test_calibrate_then_simulate_from_the_command_line(home: Path, tmp_path: Path) -> None:
    data, told = written(tmp_path / "questions.jsonl"), list[str]()
    given = parsed(["calibrate", str(data), "--precision", "0.9"]).options
    assert await run_calibration(settings(home), given, told.append, loaded) == 0
    assert (home / "calibration.json").exists()
    assert any("it holds from the next start on" in line for line in told)
    arguments = ["simulate", str(data), "--report", str(tmp_path / "report"), "--rounds", "2"]
    given = parsed([*arguments, "--no-baselines", "--no-sweeps", "--tables", "--adversaries", "0.1"]).options
    assert await run_simulation(settings(home), given, told.append, loaded) == 0
    made = json.loads((tmp_path / "report" / "simulation.json").read_text("utf-8"))
    assert len(made["rounds"]) == 2
    assert made["settings"]["people"]["adversaries"] == 0.1
    tables = (tmp_path / "report" / "comrag.md").read_text("utf-8")
    assert "| RAG+DPR |" in tables and "| without centroids |" in tables, (
        "ComRAG's systems, beside the report"
    )
    assert "**By round: ROUGE-L**" in tables and "![rounds.png](rounds.png)" in tables
    assert (tmp_path / "report" / "rounds.png").stat().st_size > 10_000
    calibrated = json.loads((home / "calibration.json").read_text("utf-8"))
    assert made["settings"]["thresholds"]["tau"] == calibrated["tau"]


async def test_a_precision_that_nothing_reaches_leaves_the_calibration_and_fails(
    home: Path, tmp_path: Path
) -> None:
    rows = [{"a": f"q{n % 30}", "b": f"q{n % 30}", "same": n < 30} for n in range(60)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    told: list[str] = []
    given = parsed(["calibrate", str(tmp_path / "pairs.jsonl")]).options
    assert await run_calibration(settings(home), given, told.append, loaded) == 1
    assert "stays as it is" in told[-1] and not (home / "calibration.json").exists()


async def test_a_threshold_set_by_hand_is_named_as_what_keeps_the_calibration_out(
    home: Path, tmp_path: Path
) -> None:
    told: list[str] = []
    given = parsed(["calibrate", str(written(tmp_path / "q.jsonl"))]).options
    await run_calibration(settings(home, reuse_threshold=0.8), given, told.append, loaded)
    assert any(line.startswith("MEMORY_DELTA is set by hand") for line in told)


async def test_data_that_is_not_there_is_told_in_a_sentence(home: Path, tmp_path: Path) -> None:
    given = parsed(["simulate", str(tmp_path / "none"), "--report", str(tmp_path / "r")]).options
    with pytest.raises(UsageError, match="cannot be read"):
        await run_simulation(settings(home), given, lambda line: None, loaded)
