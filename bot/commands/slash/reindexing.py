"""A reindex that is begun in chat: its progress stands in one message that is edited."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from bot.ports.chat import Reply
from bot.rendering.status import done_text, failed_text, progress_text
from core.errors import PlatformError, ThreadloreError
from core.ingestion.reading import Progress, Report

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application

log = logging.getLogger(__name__)

EDIT_SECONDS = 2.0
MOST_SECONDS = 10.0
"""Least time between two edits of a progress message, at the beginning and later."""
EDIT_SHARE = 0.05
"""Share of the time that a run takes already, after which it is edited again."""
_TASKS: set[asyncio.Task[None]] = set()
"""Runs under way, which nothing else holds on to."""


Read = Callable[[Report], Awaitable[tuple[str, str]]]
"""Reads, and returns what to say of it and what to write down."""


def begin(app: Application, release: str, what: str, call: Call) -> None:
    """Begin to reindex a release, or all of them; the caller's message tells how far it is."""

    async def read(hear: Report) -> tuple[str, str]:
        done, failed = await app.corpus_manager.reindexed(release, hear)
        text = "\n".join(filter(None, (done_text(done), failed_text(failed))))
        if not failed:
            return text or f"{what} is up to date.", "done"
        told = f"Reindexing {what} failed; the old pages keep answering.\n{text}"
        return told, f"failed: {failed[0][1]}"

    begin_reading(read, f"Reindexing {what}", call)


def begin_reading(read: Read, what: str, call: Call) -> None:
    """Begin to read; the caller's message tells how far it is, and at last what became of it."""
    task = asyncio.create_task(_work(read, what, call))
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)


async def _work(read: Read, what: str, call: Call) -> None:
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
        text, outcome = await read(hear)
    except ThreadloreError as error:
        text, outcome = f"{what} failed: {error}", f"failed: {error}"
    except Exception:  # a progress message must not stand still for ever
        log.exception("%s failed", what)
        text, outcome = f"{what} failed: {ThreadloreError.told}", "failed"
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
