"""How long what people leave is kept: texts of questions, who voted, log files and the audit log.

Memory and its placements do not change: votes keep counting under one-way names.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from core.ports import AboutStore, RetentionStore
from core.ports.about import RETENTION, AuditStore
from core.text.times import day_of

log = logging.getLogger(__name__)

DAY_SECONDS = 86400.0
STEP = 200
"""Rows that one transaction looks at, so that nobody waits long for the database."""
PAUSE_SECONDS = 0.01
"""Time between two transactions, in which others get the database."""
JUMP_DAYS = 30
"""Days between two runs, or since the newest question, from which the clock may be wrong."""
SETTLED_SECONDS = 3600.0
"""Age from which a question tells the time: one of this moment has it from the same clock."""
Turn = Callable[[], AbstractAsyncContextManager[None]]
"""Keeps memory as it is meanwhile: a pair that is between two places may not be taken for one of no store."""
Expirer = Callable[[float, bool], Awaitable[Mapping[str, int]]]
"""Removes what platforms keep that ended before a time, or only counts it; tells how much of what it is."""
AUDIT_LINES, LOG_FILES = "lines of the audit log", "log files"


@dataclass(frozen=True, slots=True)
class Policy:
    """Days after which something goes; 0 for never."""

    questions_days: int = 0
    votes_days: int = 0
    logs_days: int = 0


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why the clock may be wrong, in words; `since` is the last moment that is known, by an earlier clock."""

    text: str
    since: float


def removed_text(removed: Mapping[str, int]) -> str:
    """Say what was removed, as the audit log has it."""
    told = ", ".join(f"{count} {what}" for what, count in removed.items() if count)
    return f"done: {told or 'nothing'} removed"


class Retention:
    """Removes what is older than a policy allows, a little at a time."""

    def __init__(
        self,
        store: RetentionStore,
        policy: Policy,
        audit: AuditStore,
        logs: Path,
        expire: Expirer,
        clock: Callable[[], float] = time.time,
        scrub: Callable[[], Awaitable[object]] | None = None,
        about: AboutStore | None = None,
        turn: Turn = nullcontext,
    ) -> None:
        self._store = store
        self._scrub = scrub
        self._policy = policy
        self._audit = audit
        self._logs = logs
        self._expire = expire
        self._clock = clock
        self._about = about
        self._turn = turn
        self._running = asyncio.Lock()

    async def run(self, dry_run: bool = False) -> dict[str, int]:
        """Remove what is due, or only count it; returns how much by what it is. Raises StorageError."""
        questions = self._before(self._policy.questions_days)
        votes, logs = self._before(self._policy.votes_days), self._before(self._policy.logs_days)
        if dry_run:
            found = Counter(await self._store.due(questions, votes))
            if questions:
                found.update(await self._expire(questions, True))
            if logs:
                found[AUDIT_LINES] = await self._audit.older(logs)
                found[LOG_FILES] = len(await asyncio.to_thread(self._old_logs, logs))
            return dict(found)
        async with self._running:
            done: Counter[str] = Counter()
            if questions:
                await self._drop(questions, done)
                done.update(await self._expire(questions, False))
            if votes:
                await self._veil(votes, done)
            if logs:
                done[AUDIT_LINES] = await self._audit.delete_before(logs)
                done[LOG_FILES] = await asyncio.to_thread(self._remove_logs, logs)
            await self._store.settle()
            if self._scrub and any(done.values()):
                await self._scrub()
            if self._about:
                await self._about.tell(RETENTION, repr(self._clock()))
        removed = {what: count for what, count in done.items() if count}
        if removed:
            log.info("retention removed what was old", extra={"removed": sum(removed.values())})
        return removed

    async def run_here(self) -> None:
        """Remove what is old in this home alone: another process of a cluster does the rest."""
        if await self.doubt():  # the one that leads tells of it
            return
        if questions := self._before(self._policy.questions_days):
            await self._expire(questions, False)
        await asyncio.to_thread(self._remove_logs, self._before(self._policy.logs_days))

    async def doubt(self) -> Doubt | None:
        """Return why nothing is removed unasked, if the clock has jumped since that was done last.

        By a wrong clock everything may be old. Who gives the command has looked at it.
        """
        policy = self._policy
        if self._about is None or not (policy.questions_days or policy.votes_days or policy.logs_days):
            return None
        now, last = self._clock(), _seconds(await self._about.told(RETENTION))
        since = last or await self._about.newest(now - SETTLED_SECONDS)
        if not since or abs(now - since) <= JUMP_DAYS * DAY_SECONDS:
            return None
        what = "what is old was removed last" if last else "the newest question or vote is"
        on = "on" if last else "of"
        return Doubt(
            f"The clock says {day_of(now)}, but {what} {on} {day_of(since)}, so nothing is removed unasked. "
            f"If the clock is right, run `threadlore retention` (`--dry-run` says what would go).",
            since,
        )

    def _before(self, days: int) -> float:
        return self._clock() - days * DAY_SECONDS if days else 0.0

    async def _drop(self, before: float, done: Counter[str]) -> None:
        cursor: int | None = 0
        while cursor is not None:
            async with self._turn():
                step = await self._store.drop(before, cursor, STEP)
            done.update(step.done)
            cursor = step.cursor
            await asyncio.sleep(PAUSE_SECONDS)

    async def _veil(self, before: float, done: Counter[str]) -> None:
        cursor: int | None = 0
        while cursor is not None:
            step = await self._store.veil(before, cursor, STEP)
            done.update(step.done)
            cursor = step.cursor
            await asyncio.sleep(PAUSE_SECONDS)

    def _old_logs(self, before: float) -> list[Path]:
        if not before or not self._logs.is_dir():
            return []
        return [path for path in self._logs.iterdir() if path.is_file() and path.stat().st_mtime < before]

    def _remove_logs(self, before: float) -> int:
        old = self._old_logs(before)
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)


def _seconds(written: str) -> float:
    try:
        return float(written or 0.0)
    except ValueError:
        return 0.0
