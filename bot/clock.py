"""Time as one more caller: reindexes what is due, and looks at remembered answers that became stale."""

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
RENEW_SECONDS = 30
"""How often it looks at some stale pairs; a few at a time, for the model may have to answer them."""


class Clock:
    """Runs due reindexes one at a time; what was missed while nothing ran is due at once.

    `intervals` holds the seconds between two readings by (release, source name). `renew` looks at a few
    stale pairs and returns how many.
    """

    def __init__(
        self,
        store: CorpusStore,
        intervals: Mapping[tuple[str, str], float],
        reindex: Callable[[str], Awaitable[object]],
        now: Callable[[], float] = time.time,
        renew: Callable[[], Awaitable[int]] | None = None,
    ) -> None:
        self._store = store
        self._intervals = intervals
        self._reindex = reindex
        self._now = now
        self._renew = renew
        self._scheduler = AsyncIOScheduler()

    def start(self) -> None:
        """Look every minute, and twice a minute for stale pairs, from now on."""
        self._scheduler.add_job(
            self.tick, "interval", seconds=CHECK_SECONDS, max_instances=1, coalesce=True, id="reindex"
        )
        if self._renew is not None:
            self._scheduler.add_job(
                self.renew, "interval", seconds=RENEW_SECONDS, max_instances=1, coalesce=True, id="renew"
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

    async def renew(self) -> None:
        """Look at a few stale pairs; what is left waits for the next time, also that of another process."""
        if self._renew is None:
            return
        try:
            await self._renew()
        except ThreadloreError as error:
            log.error("stale pairs could not be looked at: %s", error)
