"""Work done in the thread that asks for it: for tests of what is worked on, not of how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from core.errors import WorkEnded

T = TypeVar("T")


class FakeWorkers:
    """Do the work at once, without limits; `done` counts it."""

    def __init__(self) -> None:
        self.done = 0
        self.interrupted = 0
        self._closed = False

    def run(self, work: Callable[..., T], *given: Any, patience: float = 1.0) -> T:
        if self._closed:
            raise WorkEnded("It was ended before it was done.")
        self.done += 1
        return work(*given)

    def interrupt(self) -> None:
        self.interrupted += 1

    def close(self) -> None:
        self._closed = True
