"""Progress bars with rate and time left, one a release; plain lines where there is no terminal."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import Any

LINE_SECONDS = 5.0
"""Time between two lines where there is no terminal."""


class Bars:
    """Shows progress on stderr; starts with the first report, so quick commands show nothing.

    Where there is no terminal it is a line in `log`, or a plain one without it.
    """

    def __init__(self, log: logging.Logger | None = None) -> None:
        self._log = log
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}
        self._written: dict[str, float] = {}

    def __enter__(self) -> Bars:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Leave the bars as they are."""
        if self._progress is not None:
            self._progress.stop()

    def show(self, progress: dict[str, Any]) -> None:
        """Show how far a release is."""
        if sys.stderr.isatty():
            self._draw(progress)
        else:
            self._write(progress)

    def _draw(self, progress: dict[str, Any]) -> None:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description:<24}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._progress.start()
        release = progress["release"]
        if release not in self._tasks:
            self._tasks[release] = self._progress.add_task(release, total=None, rate="")
        self._progress.update(
            self._tasks[release],
            description=f"{release} {progress['stage']}",
            completed=progress["done"],
            total=progress["total"] or None,
            rate=f"{progress['rate']:.0f}/s" if progress["done"] else "",
        )
        if progress.get("error") or progress["stage"] == "done":
            self._progress.stop_task(self._tasks[release])

    def _write(self, progress: dict[str, Any]) -> None:
        key, now = f"{progress['release']} {progress['stage']}", time.monotonic()
        over = progress.get("error") or (progress["total"] and progress["done"] == progress["total"])
        if now - self._written.get(key, 0.0) < LINE_SECONDS and not over:
            return
        self._written[key] = now
        if self._log is not None:
            fields = {"stage": progress["stage"], "done": progress["done"], "total": progress["total"]}
            self._log.info("indexing", extra={"release": progress["release"], **fields})
            return
        if progress.get("error"):
            print(key, file=sys.stderr, flush=True)
            return
        total = f" of {progress['total']}" if progress["total"] else ""
        left = f", {progress['eta_s']:.0f} s left" if progress["eta_s"] else ""
        print(
            f"{key}: {progress['done']}{total} ({progress['rate']:.0f}/s{left})", file=sys.stderr, flush=True
        )
