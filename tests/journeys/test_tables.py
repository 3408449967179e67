"""A question about a cell of a table is answered by its row under the header."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.journeys.house import Kettle, house, new_folder, opened
from tests.journeys.stage import ON_EACH_WIRE, ask, open_stage, squeezed

PAGE = """\
# Limits of the queues

Every queue has limits of its own, which this table lists.

| Queue | Tries | Pause in s |
| --- | --- | --- |
| mail | 8 | 3 |
| report | 2 | 60 |
| backup | 1 | 3600 |
"""


async def _indexed(folder: Path, encoder_cache: Path) -> Kettle:
    kettle = new_folder(folder, encoder_cache)
    (folder / "docs" / "2.0" / "limits.md").write_text(PAGE)
    async with opened(kettle) as app:
        await app.corpus_manager.reindex("2.0")
    return kettle


@pytest.fixture(scope="module")
def tabled(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Kettle:
    return asyncio.run(_indexed(tmp_path_factory.mktemp("tabled") / "kettle", encoder_cache))


@ON_EACH_WIRE
async def test_a_cell_is_told_with_its_column_and_unit_and_no_other_row(
    platform: str, tabled: Kettle, tmp_path: Path
) -> None:
    async with house(tabled.copy(tmp_path / "kettle")) as bot, open_stage(platform, bot) as stage:
        text = squeezed((await ask(stage, "What is the pause of the report queue in 2.0?")).text)
        assert "report" in text and "60" in text and "Pause in s" in text
        assert "3600" not in text and "backup" not in text and "mail" not in text
        assert "https://kettle.example/2.0/limits" in text
        assert ("| --- |" in text) is (platform != "discord"), (
            "there it is set in columns; elsewhere it is a table"
        )
