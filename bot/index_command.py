"""`threadlore index`: bring the corpora up to date, or say what that would change."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from bot.bootstrap import Threadlore
from bot.control import Send
from bot.status_text import done_text
from core.errors import ThreadloreError, UsageError
from core.ingestion.reading import Progress, Reading
from core.ports import Remembered

PROGRESS_SECONDS = 0.2
"""Least time between two progress messages of one release and stage."""


async def index(app: Threadlore, request: dict[str, Any], send: Send) -> None:
    """Carry out `index`; raises ThreadloreError."""
    release = request.get("release") or ""
    if release and not app.library.known(release):
        names = ", ".join(entry.name for entry in app.library.product.releases)
        raise UsageError(f"There is no release {release} in corpora.toml; there is: {names}.")
    if request.get("dry_run"):
        for name, reading in (await app.library.plan(release)).items():
            await send(
                {
                    "line": f"{name}: {len(reading.added)} to add, {len(reading.changed)} changed, "
                    f"{len(reading.removed)} to remove, {reading.unchanged} unchanged"
                }
            )
            for word in ("added", "changed", "removed"):
                for entry in getattr(reading, word):
                    await send({"line": f"  {word}: {entry}"})
            for source, error in reading.failed:
                await send({"line": f"  failed: {source}: {error}"})
            for pair in await _touched(app, name, reading):
                await send({"line": f"  remembered answer to look at again: {pair.id} {pair.question}"})
        await send({"code": 0})
        return
    queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    sent: dict[tuple[str, str], float] = {}

    def hear(progress: Progress) -> None:
        key, now = (progress.release, progress.stage), time.monotonic()
        if now - sent.get(key, 0.0) >= PROGRESS_SECONDS or progress.done == progress.total:
            sent[key] = now
            queue.put_nowait({"progress": progress_dict(progress)})

    async def pass_on() -> None:
        while (message := await queue.get()) is not None:
            await send(message)

    passing = asyncio.create_task(pass_on())
    try:
        done = await app.library.reindex(release, hear, rebuild=bool(request.get("rebuild")))
    finally:
        queue.put_nowait(None)
        await passing
    await send({"line": done_text(done)})
    failures = [f"{source}: {error}" for item in done for source, error in item.reading.failed]
    if failures:
        raise ThreadloreError(f"{failures[0]} (what was indexed before still answers)")
    await send({"code": 0})


async def _touched(app: Threadlore, release: str, reading: Reading) -> list[Remembered]:
    """Return the remembered answers that cite a page which a reindex would change or remove."""
    paths = {entry.partition(": ")[2] for entry in (*reading.changed, *reading.removed)}
    return [
        pair
        for pair in await app.memory.everything()
        if not pair.aside and any(c.release == release and c.path in paths for c in pair.citations)
    ]


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
    }
