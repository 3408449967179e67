"""`/threadlore status | releases | sources | reindex`: the documentation, and how everything is."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot.chat import Reply
from bot.plan import plan_text, plans
from bot.slash import Call, Option, Subcommand
from bot.sources_text import sources_of, sources_text
from bot.status_text import done_text, progress_text, releases_text, status_text
from core.errors import PlatformError, ThreadloreError, UsageError
from core.ingestion.reading import Progress
from core.library import Library
from core.memory.community import CommunityMemory
from core.ports import CorpusStore
from core.schedule import Schedule

log = logging.getLogger(__name__)

EDIT_SECONDS = 2.0
"""Least time between two edits of a progress message."""
Status = Callable[[], Awaitable[dict[str, Any]]]


class IndexCommands:
    """Commands about releases and their pages."""

    def __init__(
        self,
        library: Library,
        memory: CommunityMemory,
        corpora: CorpusStore,
        schedules: Mapping[tuple[str, str], Schedule],
        status: Status,
    ) -> None:
        self._library = library
        self._memory = memory
        self._corpora = corpora
        self._schedules = schedules
        self._status = status
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def subcommands(self) -> tuple[Subcommand, ...]:
        """Return the lines of the table."""
        release = Option("release", "One release, such as 2.3; all of them when left out")
        return (
            Subcommand("status", "how releases, memory and model are", self._tell_status),
            Subcommand("releases", "which releases there are", self._tell_releases, everybody=True),
            Subcommand(
                "sources", "where pages come from, when they were read, what failed", self._tell_sources
            ),
            Subcommand(
                "reindex",
                "read the sources anew; the old pages answer meanwhile",
                self._reindex,
                (release, Option("dry-run", "Only say what would change", kind="flag")),
            ),
        )

    async def _tell_status(self, call: Call) -> str:
        await call.tell(status_text(await self._status()))
        return "shown"

    async def _tell_sources(self, call: Call) -> str:
        await call.tell(sources_text(await sources_of(self._corpora, self._schedules)))
        return "shown"

    async def _tell_releases(self, call: Call) -> None:
        await call.tell(releases_text(await self._library.releases()))

    async def _reindex(self, call: Call) -> str:
        release = call.given.get("release", "")
        if release and not self._library.known(release):
            names = ", ".join(entry.name for entry in self._library.product.releases)
            raise UsageError(f"There is no release `{release}`. There is: {names}.")
        if "dry-run" in call.given:
            await call.responder.reply(Reply("Reading the sources; nothing is changed.", final=False))
            found = await plans(self._library, self._memory, release)
            await call.tell(plan_text(found, {"hears": call.scope.key}))
            return "shown"
        what = f"{self._library.product.name} {release}" if release else "every release"
        await call.tell(f"Reindexing {what}. The pages there are go on answering.")
        task = asyncio.create_task(self._work(release, what, call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return "begun"

    async def _work(self, release: str, what: str, call: Call) -> None:
        shown = 0.0
        latest: list[Progress] = []
        changed = asyncio.Event()

        def hear(progress: Progress) -> None:
            latest[:] = [progress]
            changed.set()

        async def show() -> None:
            nonlocal shown
            while True:
                await changed.wait()
                changed.clear()
                await call.responder.progress(Reply(progress_text(latest[0]), final=False))
                shown = time.monotonic()
                await asyncio.sleep(EDIT_SECONDS)

        showing = asyncio.create_task(show())
        try:
            done = await self._library.reindex(release, hear)
            text, outcome = done_text(done) or f"{what} is up to date.", "done"
        except ThreadloreError as error:
            text, outcome = f"Reindexing {what} failed: {error}", f"failed: {error}"
        except Exception:  # a progress message must not stand still for ever
            log.exception("reindexing %s failed", what)
            text, outcome = f"Reindexing {what} failed: {ThreadloreError.told}", "failed"
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
        await call.note(outcome)
        try:
            await call.responder.progress(Reply(text))
        except PlatformError as error:
            log.warning("what a reindex did could not be shown (%s): %s", error, text)
