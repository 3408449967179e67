"""Progress of reading sources, as it travels to who gave the command."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from bot.home.control_socket import Send
from core.corpora.status import progress_row
from core.ingestion.reading import Progress, Report

PROGRESS_SECONDS = 0.2
"""Least time between two progress messages of one release and stage."""


@asynccontextmanager
async def in_turn(send: Send) -> AsyncIterator[Callable[[dict[str, Any]], None]]:
    """Yield what takes messages and need not be waited for; they are sent one after the other."""
    queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def pass_on() -> None:
        while (message := await queue.get()) is not None:
            await send(message)

    passing = asyncio.create_task(pass_on())
    try:
        yield queue.put_nowait
    finally:
        queue.put_nowait(None)
        await passing


@asynccontextmanager
async def passed_on(send: Send) -> AsyncIterator[Report]:
    """Yield what hears of progress and sends it, not too often of one release and stage."""
    sent: dict[tuple[str, str], float] = {}
    async with in_turn(send) as tell:

        def hear(progress: Progress) -> None:
            key, now = (progress.release, progress.stage), time.monotonic()
            whole = progress.done == progress.total or progress.error
            if now - sent.get(key, 0.0) >= PROGRESS_SECONDS or whole:
                sent[key] = now
                tell({"progress": progress_dict(progress)})

        yield hear


def progress_dict(progress: Progress) -> dict[str, Any]:
    """Return progress as it travels."""
    return progress_row(progress) | {"error": progress.error}
