"""Which thresholds hold: what was set by hand, what the home was calibrated to, or the defaults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import UsageError
from core.memory.calibrated import FILE, Calibrated, read_calibration, settle, write_calibration
from core.memory.decision import LEARNED, PAPER
from core.memory.scoring import Thresholds

FOUND = Calibrated("other-model@512", 0.7, 0.55, 0.96, 0.91, "pairs.jsonl", 1000.0, 0.66, 0.4)


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_calibration(tmp_path) is None
    for made in (FOUND, replace(FOUND, reach=None, far=None)):
        write_calibration(tmp_path / "home", made)
        assert read_calibration(tmp_path / "home") == made
    assert [path.name for path in (tmp_path / "home").iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "[]", '{"encoder": "m"}', '{"delta": 7}'])
def test_a_torn_calibration_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, "utf-8")
    with pytest.raises(UsageError, match="run `threadlore calibrate` again or delete it"):
        read_calibration(tmp_path)


def test_numbers_that_are_no_shares_are_refused(tmp_path: Path) -> None:
    write_calibration(tmp_path, replace(FOUND, delta=7.0))
    with pytest.raises(UsageError, match="no shares"):
        read_calibration(tmp_path)


def test_without_a_calibration_the_defaults_hold_and_another_model_is_warned_of() -> None:
    settled = settle(None, "all-MiniLM-L6-v2", Thresholds(), LEARNED)
    assert settled == (Thresholds(), LEARNED, "")
    thresholds, decision, warning = settle(None, "other-model", Thresholds(), LEARNED)
    assert (thresholds, decision) == (Thresholds(), LEARNED)
    assert "for other-model run `threadlore calibrate PAIRS.jsonl`" in warning


def test_who_set_what_decides_by_hand_is_not_warned() -> None:
    assert settle(None, "other", Thresholds(), PAPER, {"delta", "tau"})[2] == ""
    assert settle(None, "other", Thresholds(), PAPER, {"tau"})[2] != ""
    assert settle(None, "other", Thresholds(), LEARNED, {"delta", "tau"})[2] != ""
    assert settle(None, "other", Thresholds(), LEARNED, {"delta", "tau", "reach"})[2] == ""


def test_a_calibration_for_the_model_holds_unless_set_by_hand() -> None:
    thresholds, decision, warning = settle(FOUND, "other-model", Thresholds(), PAPER)
    assert (thresholds.delta, thresholds.tau, warning) == (0.7, 0.55, "")
    thresholds, decision, _ = settle(FOUND, "other-model", Thresholds(), LEARNED)
    assert (decision.reach, decision.far) == (0.66, 0.4)
    fixed = {"delta", "reach"}
    thresholds, decision, _ = settle(FOUND, "other-model", Thresholds(), LEARNED, fixed)
    assert (thresholds.delta, thresholds.tau, decision) == (Thresholds().delta, 0.55, LEARNED)


def test_pairs_are_hidden_behind_each_other_only_where_they_are_nearer_than_for_reuse() -> None:
    thresholds, _, _ = settle(FOUND, "other-model", Thresholds(), LEARNED)
    assert thresholds.delta == pytest.approx((1 + 0.66) / 2)
    thresholds, _, _ = settle(replace(FOUND, delta=0.9), "other-model", Thresholds(), LEARNED)
    assert thresholds.delta == 0.9


def test_pairs_that_say_nothing_about_rewordings_leave_delta_as_the_reach() -> None:
    _, decision, _ = settle(replace(FOUND, reach=None, far=None), "other-model", Thresholds(), LEARNED)
    assert (decision.reach, decision.far) == (0.7, LEARNED.far)


def test_a_calibration_for_another_model_warns_and_does_not_hold() -> None:
    thresholds, decision, warning = settle(FOUND, "all-MiniLM-L6-v2", Thresholds(), LEARNED)
    assert (thresholds, decision) == (Thresholds(), LEARNED)
    assert "calibration.json is about other-model, not all-MiniLM-L6-v2" in warning
