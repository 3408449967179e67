"""The short form of `make reindex-kills`."""

from __future__ import annotations

from pathlib import Path

from tests.reindex.kills import endure

SEED = 4
"""The same in every run; `make reindex-kills` takes others."""


async def test_a_reindex_that_is_killed_loses_and_doubles_nothing(
    tmp_path: Path, encoder_cache: Path
) -> None:
    run = await endure(tmp_path / "kettle", encoder_cache, kills=2, seed=SEED, pages=16)
    assert run.checks.passed > 20
    assert not run.checks.failed, run.table()
