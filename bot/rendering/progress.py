"""What a terminal shows: Markdown at its width, and progress bars with rate and time left, one a release.

Somebody who watches the bot start has a line a stage, which is rewritten while the stage lasts.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from types import TracebackType
from typing import Any, TextIO

from bot.rendering.splitting import broken
from core.text.plurals import plural

WIDEST = 100
"""Columns of prose; longer lines are hard to read."""
LINE_SECONDS = 5.0
"""Time between two lines where there is no terminal."""
CLEARED = "\r\x1b[2K"
"""Takes away what the line of a terminal says."""
_REWRITTEN_SECONDS = 0.1
_SHOWN = ("reading", "embedding", "indexing", "sentences")


def say(markdown: str, out: TextIO) -> None:
    """Print Markdown: as it stands where it goes into a file or a pipe, else as a terminal shows it."""
    if not out.isatty():
        print(markdown, file=out, flush=True)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(file=out, highlight=False)
    shown = Markdown(broken(markdown), code_theme="ansi_dark", hyperlinks=False)
    console.print(shown, width=min(console.width, WIDEST))
    out.flush()


class Bars:
    """Shows progress on stderr; starts with the first report, so quick commands show nothing.

    Where there is no terminal it is a line in `log`, or a plain one without it. With a `product` it is for
    people who watch the bot start at a terminal: a line a stage.
    """

    def __init__(self, log: logging.Logger | None = None, product: str = "") -> None:
        self._log = log
        self._product = product
        self._stage = ""
        self._is_quiet = False
        self._line = ""
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
        self._end_line()
        if self._progress is not None:
            self._progress.stop()

    def show(self, progress: dict[str, Any]) -> None:
        """Show how far a release is."""
        if self._product:
            self._rewrite(progress)
        elif self._log is None and sys.stderr.isatty():
            self._draw(progress)
        else:
            self._write(progress)

    def say(self, sentence: str, last: bool = False) -> None:
        """Tell people who watch something in a line of its own, the `last` one; in a log it says nothing."""
        if self._product:
            self._end_line()
            print(f"{CLEARED}{sentence}", file=sys.stderr, flush=True)
            self._is_quiet = last

    def _rewrite(self, progress: dict[str, Any]) -> None:
        stage = f"{progress['release']} {progress['stage']}"
        if stage != self._stage:
            self._end_line()
            self._stage = stage
        if self._is_quiet or progress["stage"] not in _SHOWN or not progress["done"]:
            return
        self._line = f"{self._product} {_line_of(progress)}"[: shutil.get_terminal_size().columns - 1]
        now = time.monotonic()
        if now - self._written.get(stage, 0.0) < _REWRITTEN_SECONDS:
            return
        self._written[stage] = now
        sys.stderr.write(f"{CLEARED}{self._line}")
        sys.stderr.flush()

    def _end_line(self) -> None:
        """Leave what the line says now as it is, and go on in the next."""
        if self._line:  # said again, for a warning may have taken it away
            print(f"{CLEARED}{self._line}", file=sys.stderr, flush=True)
        self._line = ""

    def _draw(self, progress: dict[str, Any]) -> None:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description:<30}"),
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
            description=f"{release} {progress['doing']}",
            completed=progress["done"] or int(progress["stage"] == "done"),
            total=progress["total"] or (1 if progress["stage"] == "done" else None),
            rate=_rate_of(progress),
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
        print(key if progress.get("error") else _line_of(progress), file=sys.stderr, flush=True)


def _rate_of(progress: dict[str, Any]) -> str:
    """Return what is done a second; empty where nothing is known or all is done."""
    return f"{progress['rate']:.0f}/s" if progress["rate"] >= 1 and progress["stage"] != "done" else ""


def _line_of(progress: dict[str, Any]) -> str:
    """Return what a stage of a release has done, and how long it still takes."""
    total, many = progress["total"], progress["unit"]
    noun = plural(total or progress["done"], many[:-1], many)
    counted = f"{progress['done']}{f' of {total}' if total else ''} {noun}"
    seconds, left = progress["eta_s"], ""
    if seconds and seconds >= 1:
        left = f"{seconds:.0f} s left" if seconds < 90 else f"{seconds / 60:.0f} min left"
    answers = "(it answers already)" if progress["stage"] == "sentences" else ""
    doing = " ".join(filter(None, (progress["doing"], answers)))
    return f"{progress['release']}: " + ", ".join(filter(None, (doing, counted, left)))
