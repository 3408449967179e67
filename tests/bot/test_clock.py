"""The clock reindexes what is due, catches up after downtime, and survives failures."""

from __future__ import annotations

import asyncio

from bot.clock import Clock
from core.errors import SourceError
from tests.fakes import FakeCorpora

DAY = 86400.0


class Workshop:
    """Reindexes by noting the run, or fails."""

    def __init__(self) -> None:
        self.store = FakeCorpora()
        self.done: list[str] = []
        self.fails: set[str] = set()

    async def reindex(self, release: str) -> None:
        self.done.append(release)
        if release in self.fails:
            raise SourceError("unreachable")
        await self.store.note_run(release, "docs", "", ())


async def test_what_was_never_read_or_is_overdue_is_due() -> None:
    workshop = Workshop()
    now = [0.0]
    runs = {("1.0", "docs"): DAY, ("2.0", "docs"): 7 * DAY}
    clock = Clock(workshop.store, runs, workshop.reindex, lambda: now[0])
    now[0] = 10 * DAY
    assert await clock.due() == ["1.0", "2.0"]
    await clock.tick()
    assert workshop.done == ["1.0", "2.0"]
    read_at = (await workshop.store.runs())[0].at
    now[0] = read_at + 1.5 * DAY
    assert await clock.due() == ["1.0"]
    now[0] = read_at + 30 * DAY  # the process was down for weeks: each release is read once
    await clock.tick()
    assert workshop.done == ["1.0", "2.0", "1.0", "2.0"]


async def test_a_release_that_fails_does_not_keep_the_others_waiting() -> None:
    workshop = Workshop()
    workshop.fails = {"1.0"}
    clock = Clock(workshop.store, {("1.0", "docs"): DAY, ("2.0", "docs"): DAY}, workshop.reindex)
    await clock.tick()
    assert workshop.done == ["1.0", "2.0"]


async def test_it_starts_and_stops() -> None:
    clock = Clock(FakeCorpora(), {}, Workshop().reindex)
    clock.start()
    await asyncio.sleep(0)
    clock.stop()
    clock.stop()
