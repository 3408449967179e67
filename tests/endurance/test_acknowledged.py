"""A short run of `tests.endurance.acknowledged`; `make acknowledged-kills` is the long one."""

from __future__ import annotations

from pathlib import Path

from tests.endurance.acknowledged import endure


async def test_what_was_acknowledged_is_answered_or_given_up_with_a_word(
    tmp_path: Path, encoder_cache: Path
) -> None:
    run = await endure(tmp_path / "kettle", encoder_cache, kills=2, rate=6.0, seed=3, features=8)
    assert run.counts.total() > 5, run.counts
    assert not any(run.found.values()), run.found
