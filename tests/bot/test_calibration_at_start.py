"""A start goes by the home's calibration, and warns where memory's thresholds are for another embedder."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app.bootstrap import build
from bot.commands.command_line import status_of
from core.memory.calibrated import Calibrated, write_calibration
from tests.fakes import FakeEncoder
from tests.journeys.house import Kettle, new_folder
from tests.shared_processes import SHARED

OTHER = "some/other-model"


def loaded(model: str, cache: Path) -> FakeEncoder:
    encoder = FakeEncoder(f"{model}@256")
    encoder.close = lambda: None  # type: ignore[attr-defined]
    return encoder


@pytest.fixture
def kettle(tmp_path: Path) -> Kettle:
    (tmp_path / "models").mkdir()
    return new_folder(tmp_path / "kettle", tmp_path / "models")


async def test_another_embedder_is_warned_of_at_start_and_in_status(
    kettle: Kettle, caplog: pytest.LogCaptureFixture
) -> None:
    async with build(kettle.settings(embedding_model=OTHER), "test", loaded, SHARED) as app:
        problems = (await status_of(app))["problems"]
    said = f"for {OTHER} run `threadlore calibrate PAIRS.jsonl`"
    assert any(said in problem for problem in problems)
    assert any(said in record.getMessage() for record in caplog.records)


async def test_a_calibration_for_it_holds_and_silences_the_warning(
    kettle: Kettle, caplog: pytest.LogCaptureFixture
) -> None:
    write_calibration(kettle.home, Calibrated(f"{OTHER}@256", 0.91, 0.5, 0.96, 0.9, "p", 1.0, 0.8, 0.6))
    async with build(kettle.settings(embedding_model=OTHER), "test", loaded, SHARED) as app:
        problems = (await status_of(app))["problems"]
        assert (app.memory.thresholds.delta, app.memory.thresholds.tau) == (0.91, 0.5)
    assert not any("calibrate" in problem for problem in problems)
    assert not any("calibrate" in record.getMessage() for record in caplog.records)
