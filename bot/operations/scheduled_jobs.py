"""Jobs of the schedule, with an audit-log entry where they changed something or failed."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection

from bot.operations.audit import Audit
from core.corpora.manager import CorpusManager
from core.errors import ThreadloreError
from core.learning.learner import Learner
from core.privacy.retention import Retention

log = logging.getLogger(__name__)

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
    ) -> None:
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
        if doubt := await self._retention.doubt():
            await self._tell(doubt.text, f"the clock has jumped since {doubt.since:.0f}", NEVER_AGAIN)
            return
        removed = await self._retention.run()
        if removed:
            told = ", ".join(f"{count} {what}" for what, count in removed.items())
            await self._audit.by_bot("retention", outcome=f"done: {told} removed")

    async def learn(self) -> None:
        """Learn the ranking from votes, where there are new ones; raises ThreadloreError."""
        if self._learner is None:
            return
        before = await self._learner.standing()
        learnt = await self._learner.run(on_schedule=True)
        if learnt is not None and learnt.told != before.told:
            await self._audit.by_bot("learn", outcome=f"done: {learnt.told or 'ranks without votes again'}")
