"""The short form of `make reindex-kills`."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.reindex.kills import endure


async def test_a_reindex_that_is_killed_loses_and_doubles_nothing(
    tmp_path: Path, encoder_cache: Path
) -> None:
    seed = secrets.randbelow(1_000_000)
    run = await endure(tmp_path / "kettle", encoder_cache, kills=2, seed=seed, pages=16)
    assert run.checks.passed > 20
    assert not run.checks.failed, f"seed {seed}\n{run.table()}"
