"""`/threadlore status | releases | reindex`: the documentation, and how everything is."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bot.chat import Reply, Responder
from bot.slash import Call, Option, Subcommand
from bot.status_text import done_text, progress_text, releases_text, status_text
from core.errors import PlatformError, ThreadloreError
from core.ingestion.reading import Progress
from core.library import Library

log = logging.getLogger(__name__)

EDIT_SECONDS = 2.0
"""Least time between two edits of a progress message."""
Status = Callable[[], Awaitable[dict[str, Any]]]


class IndexCommands:
    """Commands about releases and their pages."""

    def __init__(self, library: Library, status: Status) -> None:
        self._library = library
        self._status = status
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def subcommands(self) -> tuple[Subcommand, ...]:
        """Return the lines of the table."""
        release = Option("release", "One release, such as 2.3; all of them when left out")
        return (
            Subcommand("status", "how releases, memory and model are", self._tell_status),
            Subcommand("releases", "which releases there are", self._tell_releases),
            Subcommand(
                "reindex",
                "read the sources anew; the old pages answer meanwhile",
                self._reindex,
                (release,),
            ),
        )

    async def _tell_status(self, call: Call) -> None:
        await call.tell(status_text(await self._status()))

    async def _tell_releases(self, call: Call) -> None:
        await call.tell(releases_text(await self._library.releases()))

    async def _reindex(self, call: Call) -> None:
        release = call.words[0] if call.words else ""
        if release and not self._library.known(release):
            names = ", ".join(entry.name for entry in self._library.product.releases)
            await call.tell(f"There is no release `{release}`. There is: {names}.")
            return
        what = f"{self._library.product.name} {release}" if release else "every release"
        await call.tell(f"Reindexing {what}. The pages there are go on answering.")
        task = asyncio.create_task(self._work(release, what, call.responder))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, release: str, what: str, responder: Responder) -> None:
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
                await responder.progress(Reply(progress_text(latest[0]), final=False))
                shown = time.monotonic()
                await asyncio.sleep(EDIT_SECONDS)

        showing = asyncio.create_task(show())
        try:
            done = await self._library.reindex(release, hear)
            text = done_text(done) or f"{what} is up to date."
        except ThreadloreError as error:
            text = f"Reindexing {what} failed: {error}"
        except Exception:  # a progress message must not stand still for ever
            log.exception("reindexing %s failed", what)
            text = f"Reindexing {what} failed: {ThreadloreError.told}"
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
        try:
            await responder.progress(Reply(text))
        except PlatformError as error:
            log.warning("what a reindex did could not be shown (%s): %s", error, text)
