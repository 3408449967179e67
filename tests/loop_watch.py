"""An event loop that notes which of its steps take long, by the processor time of its own thread."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any

LONG = 0.020
"""Seconds of processor time from which a step is noted."""
_SAMPLE = 0.002
_DEEPEST = 14


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the loop that took long: its processor time in seconds, and where it was meanwhile."""

    seconds: float
    where: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.seconds * 1000:.0f} ms:\n" + "\n".join(f"    {line}" for line in self.where)


@dataclass
class Watch:
    """What was noted; `longest` of all steps, in seconds of processor time."""

    long: list[Step] = field(default_factory=list)
    longest: float = 0.0
    steps: int = 0

    def clear(self) -> None:
        self.long, self.longest, self.steps = [], 0.0, 0


class WatchedLoop(asyncio.SelectorEventLoop):
    """Times every step, and looks from another thread where a long one is."""

    def __init__(self) -> None:
        super().__init__()
        self.watch = Watch()
        self._begun = 0.0
        self._seen: dict[tuple[str, ...], int] = {}
        self._thread = threading.get_ident()
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        return super().call_soon(self._timed(callback), *args, context=context)

    def call_at(
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return super().call_at(when, self._timed(callback), *args, context=context)

    def call_soon_threadsafe(
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        return super().call_soon_threadsafe(self._timed(callback), *args, context=context)

    def _add_reader(self, fd: Any, callback: Any, *args: Any) -> Any:
        return super()._add_reader(fd, self._timed(callback), *args)  # type: ignore[misc]

    def _add_writer(self, fd: Any, callback: Any, *args: Any) -> Any:
        return super()._add_writer(fd, self._timed(callback), *args)  # type: ignore[misc]

    def close(self) -> None:
        self._over.set()
        super().close()

    def _timed(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        if getattr(callback, "_is_timed", False):
            return callback

        def timed(*args: Any) -> None:
            self._thread = threading.get_ident()
            self._seen = {}
            began, self._begun = time.thread_time(), time.monotonic()
            try:
                callback(*args)
            finally:
                took, self._begun = time.thread_time() - began, 0.0
                self.watch.steps += 1
                self.watch.longest = max(self.watch.longest, took)
                if took >= LONG:
                    seen = self._seen
                    where = max(seen, key=lambda stack: seen[stack]) if seen else (repr(callback)[:300],)
                    self.watch.long.append(Step(took, where))

        timed._is_timed = True  # type: ignore[attr-defined]
        return timed

    def _sample(self) -> None:
        while not self._over.wait(_SAMPLE):
            begun = self._begun
            if begun and time.monotonic() - begun > LONG / 4:
                frame = sys._current_frames().get(self._thread)
                if frame is not None and self._begun == begun:
                    stack = tuple(
                        f"{entry.filename.rpartition('/wt/parse/')[2]}:{entry.lineno} {entry.name}"
                        for entry in traceback.extract_stack(frame)[-_DEEPEST:]
                    )
                    self._seen[stack] = self._seen.get(stack, 0) + 1


@contextmanager
def watched() -> Iterator[Callable[[Any], Any]]:
    """Yield what runs a coroutine to its end on such a loop."""
    loop = WatchedLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        yield runner.run
