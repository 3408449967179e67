"""The processes that serve one database, as each of them sees the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

MEMORY, APART, CORPORA, CLAIMS = "memory", "apart", "corpora", "claims"
"""Topics of changes, by what their keys are: pairs, pairs told apart, releases, messages taken over."""
INSIDE, GONE = "inside", "gone"
"""The same of channels that became private, and of answers, pairs and pages of somebody who was forgotten."""
ALL = "*"
"""The key of a change that concerns every pair."""


@dataclass(frozen=True, slots=True)
class News:
    """What other processes changed: keys by topic, such as pauses; `number` is that of the last change."""

    number: int = 0
    keys: dict[str, set[str]] = field(default_factory=dict)


class Cluster(Protocol):
    """What a process knows of the others on its database, and they of it."""

    @property
    def leads(self) -> bool:
        """Return True if this process does what only one of them does: the schedule, alerts, the digest."""

    @property
    def is_shared(self) -> bool:
        """Return True if there may be other processes."""

    @property
    def is_sure(self) -> bool:
        """Return True if the others certainly take this process to be alive."""

    async def sure(self) -> None:
        """Return once that is so; raises StorageUnavailable where they took over what it had begun."""

    def turn(self, what: str) -> AbstractAsyncContextManager[None]:
        """Let one process at a time do something, such as change memory."""

    async def news(self, since: int | None, topic: str = "") -> News:
        """Return what others changed after change number `since`; None for nothing but the last number."""

    async def tell(self, topic: str, *keys: str) -> None:
        """Tell the others of a change that is no row of theirs to read."""

    def listen(self, heard: Callable[[bool], None]) -> None:
        """Call `heard` in the event loop whenever there may be news, and every few seconds.

        It is told whether a dead process left something open.
        """


class OnlyProcess:
    """The `Cluster` port where a database has one process: it leads, and nobody tells it anything."""

    leads = is_sure = True
    is_shared = False

    async def sure(self) -> None:
        """Return at once."""

    @asynccontextmanager
    async def turn(self, what: str) -> AsyncIterator[None]:
        """Let it go on."""
        yield

    async def news(self, since: int | None, topic: str = "") -> News:
        """Return nothing."""
        return News()

    async def tell(self, topic: str, *keys: str) -> None:
        """Tell nobody."""

    def listen(self, heard: Callable[[bool], None]) -> None:
        """Never call it."""


async def _go_on() -> None:
    """Return at once."""


STILL: ContextVar[Callable[[], Awaitable[None]]] = ContextVar("still", default=_go_on)
"""What a platform awaits just before it sends anything in an answer: `Cluster.sure`, in a cluster."""
