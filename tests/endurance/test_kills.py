"""The short form of `make endurance`."""

from __future__ import annotations

from pathlib import Path

from tests.endurance.kills import endure

SEED = 4
"""The same in every run; `make endurance` takes others."""


async def test_what_was_acknowledged_outlives_every_kill(tmp_path: Path, encoder_cache: Path) -> None:
    run = await endure(tmp_path / "kettle", encoder_cache, operations=120, kills=3, seed=SEED, features=8)
    assert run.checks.passed > 20
    assert not run.checks.failed, run.table()
