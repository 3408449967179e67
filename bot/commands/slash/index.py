"""`/threadlore status | releases | sources | reindex`: the documentation, and how everything is."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot.commands.slash.table import Call, Option, Subcommand
from bot.ports.chat import Reply
from bot.rendering.reindex_plan import plan_text, plans
from bot.rendering.sources import sources_of, sources_text
from bot.rendering.status import done_text, failed_text, progress_text, releases_text, status_text
from core.catalogue.schedule import Schedule
from core.corpora.manager import CorpusManager
from core.errors import PlatformError, ThreadloreError, UsageError
from core.ingestion.reading import Progress
from core.memory.community import CommunityMemory
from core.ports import CorpusStore

log = logging.getLogger(__name__)

EDIT_SECONDS = 2.0
MOST_SECONDS = 10.0
"""Least time between two edits of a progress message, at the beginning and later."""
EDIT_SHARE = 0.05
"""Share of the time that a run takes already, after which it is edited again."""
Status = Callable[[], Awaitable[dict[str, Any]]]


class IndexCommands:
    """Commands about releases and their pages."""

    def __init__(
        self,
        library: CorpusManager,
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
        board = Board()
        changed = asyncio.Event()

        def hear(progress: Progress) -> None:
            board.take(progress)
            changed.set()

        async def show() -> None:
            began = time.monotonic()
            while True:
                await changed.wait()
                changed.clear()
                with contextlib.suppress(PlatformError):  # the next one may be shown again
                    await call.responder.progress(Reply(board.text(), final=False))
                await asyncio.sleep(pause_after(time.monotonic() - began))

        showing = asyncio.create_task(show())
        try:
            done, failed = await self._library.reindexed(release, hear)
            text = "\n".join(filter(None, (done_text(done), failed_text(failed))))
            text, outcome = text or f"{what} is up to date.", "done"
            if failed:
                text = f"Reindexing {what} failed; the pages there were go on answering.\n{text}"
                outcome = f"failed: {failed[0][1]}"
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


class Board:
    """What a progress message shows: every release of the run, those that are done or failed included."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def take(self, progress: Progress) -> None:
        """Take over how far a release is."""
        self._lines[progress.release] = progress_text(progress)

    def text(self) -> str:
        """Say it, a line a release."""
        return "\n".join(self._lines.values())


def pause_after(seconds: float) -> float:
    """Return the seconds between two edits of a run that takes so long already.

    A message that is edited for an hour should not use up the edits that answers need.
    """
    return min(max(EDIT_SECONDS, seconds * EDIT_SHARE), MOST_SECONDS)
