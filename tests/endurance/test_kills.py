"""The short form of `make endurance`."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.endurance.kills import endure


async def test_what_was_acknowledged_outlives_every_kill(tmp_path: Path, encoder_cache: Path) -> None:
    seed = secrets.randbelow(1_000_000)
    run = await endure(tmp_path / "kettle", encoder_cache, operations=200, kills=4, seed=seed, features=8)
    assert run.checks.passed > 40
    assert not run.checks.failed, f"seed {seed}\n{run.table()}"
