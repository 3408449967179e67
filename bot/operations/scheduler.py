"""The schedule: reindex what is due, remove what is old, review stale answers; noted in the audit log."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.operations.audit import Audit
from bot.operations.notices import AHEAD_SECONDS
from core.catalogue.tables import USUAL, Schedule
from core.corpora.manager import CorpusManager
from core.errors import ThreadloreError
from core.learning.learner import Learner
from core.ports import BUILD, CorpusStore
from core.ports.cluster import Cluster, OnlyProcess
from core.privacy.retention import Retention, removed_text

log = logging.getLogger(__name__)

CHECK_SECONDS = 60
"""How often the clock looks whether a source is due."""
FIRST_SECONDS = 300
"""How long after the start what is done daily is done for the first time."""
LEARN_SECONDS = 600
"""How long after the start it learns from votes for the first time, where there are new ones."""
RENEW_SECONDS = 30
"""How often it looks at some stale pairs; a few at a time, for the model may have to answer them."""


class Clock:
    """Runs due reindexes one at a time; what was missed while nothing ran is due at once.

    `schedules` tells how often a source is read by (release, source name). `renew` looks at a few
    stale pairs and returns how many. `daily` removes what is older than it may be. `learn` learns from
    votes, every `learn_hours`. `watch` is called every minute: alerts, and the weekly digest that knows
    itself when it is due.
    """

    def __init__(
        self,
        store: CorpusStore,
        schedules: Mapping[tuple[str, str], Schedule],
        reindex: Callable[[str, Sequence[str]], Awaitable[object]],
        now: Callable[[], float] = time.time,
        renew: Callable[[], Awaitable[int]] | None = None,
        daily: Callable[[], Awaitable[object]] | None = None,
        watch: Sequence[Callable[[], Awaitable[object]]] = (),
        learn: Callable[[], Awaitable[object]] | None = None,
        learn_hours: float = 24.0,
        cluster: Cluster | None = None,
    ) -> None:
        self._cluster = cluster or OnlyProcess()
        self._store = store
        self._schedules = schedules
        self._reindex = reindex
        self._now = now
        self._renew = renew
        self._daily = daily
        self._watch = tuple(watch)
        self._learn = learn
        self._learn_hours = learn_hours
        # all is done at intervals, and TZ may be unknown; what falls due in a busy moment comes late
        once = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        self._scheduler = AsyncIOScheduler(timezone=UTC, job_defaults=once)

    def start(self) -> None:
        """Start the schedule: check every minute, and stale pairs twice a minute."""
        self._every("reindex", self.tick, seconds=CHECK_SECONDS)
        if self._renew is not None:
            self._every("renew", self.renew, seconds=RENEW_SECONDS)
        if self._daily is not None:  # soon at first: a process that is restarted every day does it, too
            self._every("daily", self.tidy, FIRST_SECONDS, days=1)
        if self._learn is not None and self._learn_hours:
            self._every("learn", self.learn, LEARN_SECONDS, hours=self._learn_hours)
        if self._watch:
            self._every("watch", self.look, seconds=CHECK_SECONDS)
        self._scheduler.start()

    def _every(
        self, name: str, work: Callable[[], Awaitable[None]], first: float = 0.0, **interval: float
    ) -> None:
        """Do some work at an interval, for the `first` time after so many seconds where they are given."""
        begins = {"next_run_time": datetime.now(UTC) + timedelta(seconds=first)} if first else {}
        self._scheduler.add_job(work, "interval", id=name, **interval, **begins)

    def stop(self) -> None:
        """Stop the schedule."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    async def due(self) -> dict[str, list[str]]:
        """Return the sources that are due, by release: those never read, and those whose wait is over.

        One that was read in the future is due: the clock was wrong then.
        Where no corpus could be made of what was read (a full disk, a quota, another encoder) all sources
        of the release wait together, longer with each failure, and are then read again.
        """
        runs = {(run.release, run.source): run for run in await self._store.runs()}
        late: dict[str, list[str]] = {}
        for (release, source), schedule in self._schedules.items():
            run, build = runs.get((release, source)), runs.get((release, BUILD))
            if build is not None and build.failures:
                run, schedule = build, USUAL
            waited = self._now() - run.at if run else 0.0
            if run is None or waited < -AHEAD_SECONDS or waited >= schedule.wait(run.level, run.failures):
                late.setdefault(release, []).append(source)
        return late

    async def tick(self) -> None:
        """Reindex what is due, one release after the other; of a cluster only who leads does."""
        if not self._cluster.leads:
            return
        for release, sources in (await self.due()).items():
            try:
                await self._reindex(release, sources)
            except ThreadloreError as error:
                log.error("scheduled reindex of %s failed: %s", release, error)

    async def look(self) -> None:
        """Run the checks for alerts; one that fails does not stop the others."""
        for watch in self._watch:
            await _logged(watch, "what admins should know could not be found out")

    async def tidy(self) -> None:
        """Do what is done once a day; what fails is done the next day."""
        await _logged(self._daily, "what is old could not be removed")

    async def learn(self) -> None:
        """Learn from votes; what fails is tried again the next time."""
        await _logged(self._learn, "nothing could be learned from votes")

    async def renew(self) -> None:
        """Review a few stale pairs; the rest waits for the next time, in this process or another."""
        if self._cluster.leads:
            await _logged(self._renew, "stale pairs could not be looked at")


async def _logged(work: Callable[[], Awaitable[object]] | None, failed: str) -> None:
    """Do some work, if there is any, and log what it fails with."""
    try:
        if work is not None:
            await work()
    except ThreadloreError as error:
        log.error("%s: %s", failed, error)


Tell = Callable[[str, str, float], Awaitable[object]]
"""Tells admins a sentence, under a key, and again after so many seconds."""
NEVER_AGAIN = float("inf")


async def to_log(text: str, key: str, again_after: float) -> None:
    """Tell admins by the log, where there is nothing else."""
    log.warning("%s", text)


class OnSchedule:
    """Scheduled reindexing, tidying and learning; `tell` tells admins what waits for them."""

    def __init__(
        self,
        corpus_manager: CorpusManager,
        retention: Retention,
        audit: Audit,
        tell: Tell = to_log,
        learner: Learner | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        self._cluster = cluster or OnlyProcess()
        self._learner = learner
        self._tell = tell
        self._corpus_manager = corpus_manager
        self._retention = retention
        self._audit = audit

    async def reindex(self, release: str, sources: Collection[str] = ()) -> None:
        """Bring a release up to date, or only these of its sources; raises ThreadloreError."""
        try:
            done = await self._corpus_manager.reindex(release, only=sources)
        except ThreadloreError as error:
            await self._audit.by_bot(f"reindex {release}", outcome=f"failed: {error}")
            raise
        for item in done:
            reading = item.reading
            failed = "".join(f"; {source} failed: {error}" for source, error in reading.failed)
            if reading.differs or failed:
                told = (
                    f"done: {len(reading.added)} added, {len(reading.changed)} changed, "
                    f"{len(reading.removed)} removed{failed}"
                )
                await self._audit.by_bot(f"reindex {release}", outcome=told)
        await self._corpus_manager.remake_pairs(release)

    async def tidy(self) -> None:
        """Remove what is older than it may be, unless the clock may be wrong; raises ThreadloreError."""
        if not self._cluster.leads:
            await self._retention.run_here()
            return
        if doubt := await self._retention.doubt():
            await self._tell(doubt.text, f"the clock has jumped since {doubt.since:.0f}", NEVER_AGAIN)
            return
        if removed := await self._retention.run():
            await self._audit.by_bot("retention", outcome=removed_text(removed))

    async def learn(self) -> None:
        """Learn the ranking from votes, where there are new ones; raises ThreadloreError."""
        if self._learner is None:
            return
        before = await self._learner.standing()
        learnt = await self._learner.run(on_schedule=True)
        if learnt is not None and learnt.told != before.told:
            await self._audit.by_bot("learn", outcome=f"done: {learnt.told or 'ranks without votes again'}")
