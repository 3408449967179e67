"""Alert the people who run the bot: what went wrong, and what is resolved."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.operations.application import Application
from bot.operations.notices import AGAIN_SECONDS, Notices
from core.memory.scoring import Burst
from core.models.breaker import Breaker
from core.ports import BUILD

FAILURES = 3
"""Failed readings of a source in a row after which admins are told; of a corpus one is enough."""
AWAY_SECONDS = 600.0
"""Seconds for which the model must be away before admins are told."""
DISK_SHARE = 0.05
DISK_BYTES = 1_000_000_000
"""Free share and bytes of the home's disk; below both it is nearly full."""


@dataclass
class _Model:
    away_since: float = 0.0
    told: bool = False


class Alerts:
    """Checks everything regularly; the notices make sure that nothing is said twice."""

    def __init__(
        self,
        app: Application,
        notices: Notices,
        clock: Callable[[], float] = time.time,
        free: Callable[[Path], tuple[int, int]] | None = None,
    ) -> None:
        self._app = app
        self._notices = notices
        self._clock = clock
        self._free = free or _free
        self._model = _Model()

    async def tick(self) -> None:
        """Check, report what is new, and retry what could not be reported."""
        await self._notices.retry()
        await self._sources()
        await self._encoder()
        await self._away()
        await self._bursts()
        await self._disk()

    async def _sources(self) -> None:
        """Report once that a source or a corpus fails, and once that it works again."""
        for run in await self._app.corpora.runs():
            is_build = run.source == BUILD
            if not is_build and (run.release, run.source) not in self._app.schedules:
                continue
            key = f"source {run.release} {run.source}"
            if run.failures >= (1 if is_build else FAILURES):
                text = f"{run.release} cannot be brought up to date: {run.error}"
                if not is_build:
                    text = (
                        f"{run.source} of {run.release} failed {run.failures} times in a row: {run.error} "
                        f"The old pages keep answering; `/threadlore sources` shows the state of each."
                    )
                # since its last success: another outage is told again
                await self._notices.tell_admins(text, key, since=run.succeeded_at)
            elif not run.failures:
                what = (
                    f"{run.release} is up to date" if is_build else f"{run.source} of {run.release} is read"
                )
                await self._notices.tell_over(f"{what} again.", key)

    async def _encoder(self) -> None:
        current = (await self._app.corpus_manager.encoders.current()).name
        others = {c.encoder for c in self._app.research.corpora.values()} - {current}
        if others:
            await self._notices.tell_admins(
                f"Pages were embedded by {', '.join(sorted(others))}, EMBEDDING_MODEL is {current} now. They "
                f"keep answering as they are; `threadlore index --rebuild` embeds them again.",
                f"encoder {current}",
                7 * AGAIN_SECONDS,
            )

    async def _away(self) -> None:
        model = self._app.engine.model
        if not isinstance(model, Breaker):
            return
        now, status = self._clock(), model.status
        # a breaker closes with the next call that succeeds, for which nobody may ask for hours
        is_back = status.state == "half-open" and (await model.health()).ready
        if status.state == "closed" or is_back:
            if self._model.told:
                minutes, key = (now - self._model.away_since) / 60, f"model back {self._model.away_since:.0f}"
                text = f"{model.name} answers again, after {minutes:.0f} minutes."
                await self._notices.tell_admins(text, key)
            self._model = _Model()
            return
        self._model.away_since = self._model.away_since or now
        if now - self._model.away_since >= AWAY_SECONDS and not self._model.told:
            self._model.told = True
            await self._notices.tell_admins(
                f"{model.name} has been away for {AWAY_SECONDS / 60:.0f} minutes ({status.reason}) Until it "
                f"is back, answers quote the documentation.",
                f"model away {self._model.away_since:.0f}",
            )

    async def _bursts(self) -> None:
        for burst in await self._app.vote_weighting.bursts(self._clock()):
            key = f"burst {burst.pair_id} {burst.voter} {burst.began_at:.0f}"
            if not await self._notices.was_told(key):
                await self._notices.tell_admins(f"{_told(burst)} `threadlore memory bursts` lists them.", key)

    async def _disk(self) -> None:
        free, total = await asyncio.to_thread(self._free, self._app.settings.home)
        if free < DISK_BYTES and free < DISK_SHARE * total:
            await self._notices.tell_admins(
                f"The disk of {self._app.settings.home} has {free / 1e6:.0f} MB left. Free some space: an "
                f"index that cannot be written keeps the old pages.",
                "disk",
            )


def _told(burst: Burst) -> str:
    """Say what came in a burst; no account is named."""
    if burst.pair_id:
        return f"A burst of votes: {burst.people} people voted on one remembered answer within an hour."
    return f"A burst of votes: one account cast {burst.votes} more than an hour allows; they move nothing."


def _free(home: Path) -> tuple[int, int]:
    """Return free and total bytes of the disk that holds the home."""
    usage = shutil.disk_usage(home)
    return usage.free, usage.total
