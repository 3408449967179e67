"""`threadlore index`: bring the corpora up to date, or say what that would change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.rendering.reindex_plan import plan_lines, plans
from bot.rendering.status import done_text
from core.errors import ThreadloreError, UsageError
from core.ingestion.reading import Progress, Report

PROGRESS_SECONDS = 0.2
"""Least time between two progress messages of one release and stage."""


async def index(app: Application, request: dict[str, Any], send: Send) -> None:
    """Carry out `index`; raises ThreadloreError."""
    release = request.get("release") or ""
    if release and not app.library.known(release):
        names = ", ".join(entry.name for entry in app.library.product.releases)
        raise UsageError(f"There is no release {release} in corpora.toml; there is: {names}.")
    if request.get("dry_run"):
        for plan in await plans(app.library, app.memory, release):
            for line in plan_lines(plan):
                await send({"line": line})
        await send({"code": 0})
        return
    async with passed_on(send) as hear:
        done, failed = await app.library.reindexed(release, hear, rebuild=bool(request.get("rebuild")))
    if done:
        await send({"line": done_text(done)})
    for _, error in failed[1:]:
        await send({"note": str(error)})
    if failed:
        raise failed[0][1]
    failures = [f"{source}: {error}" for item in done for source, error in item.reading.failed]
    if failures:
        raise ThreadloreError(f"{failures[0]} (what was indexed before still answers)")
    await send({"code": 0})


@asynccontextmanager
async def passed_on(send: Send) -> AsyncIterator[Report]:
    """Yield what hears of progress and sends it, not too often of one release and stage."""
    queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    sent: dict[tuple[str, str], float] = {}

    def hear(progress: Progress) -> None:
        key, now = (progress.release, progress.stage), time.monotonic()
        whole = progress.done == progress.total or progress.error
        if now - sent.get(key, 0.0) >= PROGRESS_SECONDS or whole:
            sent[key] = now
            queue.put_nowait({"progress": progress_dict(progress)})

    async def pass_on() -> None:
        while (message := await queue.get()) is not None:
            await send(message)

    passing = asyncio.create_task(pass_on())
    try:
        yield hear
    finally:
        queue.put_nowait(None)
        await passing


def progress_dict(progress: Progress) -> dict[str, Any]:
    """Return progress as it travels."""
    return {
        "release": progress.release,
        "stage": progress.stage,
        "source": progress.source,
        "done": progress.done,
        "total": progress.total,
        "rate": progress.rate,
        "eta_s": progress.eta_s,
        "error": progress.error,
    }
