"""The table of faults, in small: two of them; `make faults` injects all."""

from __future__ import annotations

import pytest

from tests.faults.__main__ import injected
from tests.faults.row import FAULTS
from tests.journeys.house import Kettle


@pytest.mark.parametrize("name", ["kill", "model slow"])
async def test_nothing_is_lost_and_it_serves_again(indexed: Kettle, tmp_path: object, name: str) -> None:
    row = await injected(name, indexed.copy(tmp_path / "kettle"))  # type: ignore[operator]
    assert row.lost == () and row.seconds > 0 and not row.not_here
    assert len(FAULTS) == 19
