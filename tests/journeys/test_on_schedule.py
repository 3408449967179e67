"""What the clock does leaves a line in the audit log, where it changed something or failed."""

from __future__ import annotations

from typing import cast

import pytest

from bot.operations.audit import Audit
from bot.operations.scheduler import OnSchedule
from core.corpora.manager import CorpusManager
from core.errors import SourceError
from core.ports.about import BOT
from tests.journeys.house import Bot


class Broken:
    """A library that cannot be reached."""

    async def reindex(self, release: str, only: object = ()) -> None:
        raise SourceError("The shelf is away.")


async def test_a_scheduled_reindex_is_written_down_when_it_changed_something_or_failed(bot: Bot) -> None:
    pages = bot.kettle.folder / "docs" / "2.0"
    work = OnSchedule(bot.app.corpus_manager, bot.app.retention, Audit(bot.app.audit))
    await work.reindex("2.0")
    assert await bot.app.audit.acts() == (), "nothing has changed"
    (pages / "new.md").write_text("# Zeppelins\n\nA zeppelin job flies.\n")
    await work.reindex("2.0")
    [act] = await bot.app.audit.acts()
    assert (act.who, act.what, act.outcome) == (BOT, "reindex 2.0", "done: 1 added, 0 changed, 0 removed")
    pages.rename(pages.with_name("elsewhere"))
    await work.reindex("2.0")
    assert "folder:docs/2.0 failed" in (await bot.app.audit.acts())[0].outcome
    broken = OnSchedule(cast(CorpusManager, Broken()), bot.app.retention, Audit(bot.app.audit))
    with pytest.raises(SourceError):
        await broken.reindex("1.0")
    assert (await bot.app.audit.acts())[0].outcome == "failed: The shelf is away."
