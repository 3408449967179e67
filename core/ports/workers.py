"""Processes that can be ended: for work on what others wrote, which may never end or take all memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Alone(Protocol):
    """A process that has something to itself and does what it is asked, one thing after the other."""

    @property
    def gone(self) -> bool:
        """Return True if it has ended."""

    def do(self, work: Callable[..., Any], given: tuple[Any, ...], patience: float) -> Any:
        """Return `work(*given)`; blocking. Raises what `work` raises, TooCostly and Unused where it ends."""

    def end(self) -> None:
        """Kill it: what it did is not to be gone on with."""

    def let_go(self) -> None:
        """End it."""


class Workers(Protocol):
    """Runs work outside of this process, within a limit of time and of memory."""

    def run(self, work: Callable[..., T], *given: Any, patience: float = 1.0) -> T:
        """Return `work(*given)`; blocking, so call it in a worker thread.

        `work` is a function of a module; it, what it is given and what it returns can be pickled. `patience`
        multiplies the limit of time. Raises what `work` raises, TooCostly where it takes more than it may or
        ends its process, and WorkEnded after `interrupt` or `close`.
        """

    def interrupt(self) -> None:
        """End all work that is under way; work that comes later is done."""

    def close(self) -> None:
        """End everything; nothing is done any more."""
