"""The clock reindexes what is due, catches up after downtime, and survives failures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from bot.operations import scheduler
from bot.operations.scheduler import FIRST_SECONDS, Clock
from core.catalogue.tables import Schedule
from core.errors import SourceError, StorageError
from tests.fakes import FakeCorpora
from tests.patience import SOON

DAY = 86400.0


def every(seconds: float) -> Schedule:
    return Schedule(seconds, seconds, seconds)


class Workshop:
    """Reindexes by noting the run, or fails."""

    def __init__(self) -> None:
        self.store = FakeCorpora()
        self.done: list[str] = []
        self.fails: set[str] = set()

    async def reindex(self, release: str, sources: Sequence[str]) -> None:
        self.done.append(release)
        if release in self.fails:
            raise SourceError("unreachable")
        await self.store.note_run(release, "docs", "", ())


async def test_what_was_never_read_or_is_overdue_is_due() -> None:
    workshop = Workshop()
    now = [0.0]
    runs = {("1.0", "docs"): every(DAY), ("2.0", "docs"): every(7 * DAY)}
    clock = Clock(workshop.store, runs, workshop.reindex, lambda: now[0])
    now[0] = 10 * DAY
    assert await clock.due() == {"1.0": ["docs"], "2.0": ["docs"]}
    await clock.tick()
    assert workshop.done == ["1.0", "2.0"]
    read_at = (await workshop.store.runs())[0].at
    now[0] = read_at + 1.5 * DAY
    assert await clock.due() == {"1.0": ["docs"]}
    now[0] = read_at + 30 * DAY  # the process was down for weeks: each release is read once
    await clock.tick()
    assert workshop.done == ["1.0", "2.0", "1.0", "2.0"]


async def test_a_release_that_fails_does_not_keep_the_others_waiting() -> None:
    workshop = Workshop()
    workshop.fails = {"1.0"}
    clock = Clock(
        workshop.store, {("1.0", "docs"): every(DAY), ("2.0", "docs"): every(DAY)}, workshop.reindex
    )
    await clock.tick()
    assert workshop.done == ["1.0", "2.0"]


async def test_it_starts_and_stops() -> None:
    clock = Clock(FakeCorpora(), {}, Workshop().reindex)
    clock.start()
    await asyncio.sleep(0)
    clock.stop()
    clock.stop()


async def test_what_is_done_daily_begins_soon_after_the_start_and_a_failure_waits_for_the_next_day() -> None:
    done: list[int] = []

    async def tidy() -> None:
        done.append(len(done))
        raise StorageError("The disk is full.")

    clock = Clock(FakeCorpora(), {}, Workshop().reindex, daily=tidy)
    clock.start()
    job = clock._scheduler.get_job("daily")
    assert job.trigger.interval.days == 1
    assert 0 < job.next_run_time.timestamp() - time.time() <= FIRST_SECONDS
    await clock.tidy()
    await clock.tidy()
    clock.stop()
    assert done == [0, 1]


async def test_what_falls_due_while_the_loop_is_busy_is_done_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "FIRST_SECONDS", 0.1)
    done = asyncio.Event()

    async def tidy() -> None:
        done.set()

    clock = Clock(FakeCorpora(), {}, Workshop().reindex, daily=tidy)
    clock.start()
    time.sleep(1.3)  # as a machine that slept
    await asyncio.wait_for(done.wait(), SOON)
    clock.stop()


async def test_a_source_is_read_more_often_the_more_often_it_changes() -> None:
    workshop = Workshop()
    schedule = Schedule(DAY, DAY / 8, 8 * DAY)
    now = [0.0]
    clock = Clock(workshop.store, {("1.0", "docs"): schedule}, workshop.reindex, lambda: now[0])

    async def wait_after(*changes: bool) -> float:
        for changed in changes:
            await workshop.store.note_run("1.0", "docs", "", (), changed)
        [run] = await workshop.store.runs()
        for seconds in (DAY / 8, DAY / 4, DAY / 2, DAY, 2 * DAY, 4 * DAY, 8 * DAY):
            now[0] = run.at + seconds
            if await clock.due():
                return seconds / DAY
        raise AssertionError("it is never due")

    assert await wait_after(True) == 1 / 2
    assert await wait_after(*[True] * 9) == 1 / 8
    assert await wait_after(*[False] * 20) == 8
    assert await wait_after(True, True, True, True, True, True) == 4, "one change is no habit yet"


async def test_what_failed_is_tried_soon_again_and_then_less_often() -> None:
    workshop = Workshop()
    now = [0.0]
    schedule = {("1.0", "docs"): every(DAY), ("1.0", "site"): every(DAY)}
    clock = Clock(workshop.store, schedule, workshop.reindex, lambda: now[0])
    await workshop.store.note_run("1.0", "site", "", ())
    for wait in (300, 600, 1200):
        await workshop.store.note_run("1.0", "docs", "gone", ())
        run = next(run for run in await workshop.store.runs() if run.source == "docs")
        now[0] = run.at + wait - 1
        assert not await clock.due()
        now[0] = run.at + wait
        assert await clock.due() == {"1.0": ["docs"]}, "the other source is left alone"


async def test_what_was_read_while_the_clock_was_ahead_is_due_and_then_waits_as_usual() -> None:
    workshop = Workshop()
    now = [time.time() - 400 * DAY]
    clock = Clock(workshop.store, {("1.0", "docs"): every(DAY)}, workshop.reindex, lambda: now[0])
    await workshop.store.note_run("1.0", "docs", "", ())  # 400 days later, as that clock says
    assert await clock.due() == {"1.0": ["docs"]}
    now[0] = time.time() - 60  # clocks differ by seconds, those of a cluster, too
    assert await clock.due() == {}


@pytest.mark.parametrize("zone", ["UTC0", "CET-1CEST", "<-03>3", "Nowhere/At_all"])
async def test_the_schedule_needs_no_known_time_zone(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    monkeypatch.setattr("tzlocal.unix._cache_tz", None)
    workshop = Workshop()
    clock = Clock(workshop.store, {}, workshop.reindex, daily=lambda: asyncio.sleep(0))
    clock.start()
    clock.stop()
