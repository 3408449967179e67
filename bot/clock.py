"""Time as one more caller: reindexes each release when one of its sources is due."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from core.errors import ThreadloreError
from core.ports import CorpusStore

log = logging.getLogger(__name__)

CHECK_SECONDS = 60
"""How often the clock looks whether a source is due."""


class Clock:
    """Runs due reindexes one at a time; what was missed while nothing ran is due at once.

    `intervals` holds the seconds between two readings by (release, source name).
    """

    def __init__(
        self,
        store: CorpusStore,
        intervals: Mapping[tuple[str, str], float],
        reindex: Callable[[str], Awaitable[object]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._intervals = intervals
        self._reindex = reindex
        self._now = now
        self._scheduler = AsyncIOScheduler()

    def start(self) -> None:
        """Look every minute from now on."""
        self._scheduler.add_job(
            self.tick, "interval", seconds=CHECK_SECONDS, max_instances=1, coalesce=True, id="reindex"
        )
        self._scheduler.start()

    def stop(self) -> None:
        """Look no more."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    async def due(self) -> list[str]:
        """Return the releases with a source whose interval has passed since it was last read."""
        read = {(run.release, run.source): run.at for run in await self._store.runs()}
        late = [
            release
            for (release, source), seconds in self._intervals.items()
            if self._now() - read.get((release, source), 0.0) >= seconds
        ]
        return list(dict.fromkeys(late))

    async def tick(self) -> None:
        """Reindex what is due, one release after the other."""
        for release in await self.due():
            try:
                await self._reindex(release)
            except ThreadloreError as error:
                log.error("scheduled reindex of %s failed: %s", release, error)
