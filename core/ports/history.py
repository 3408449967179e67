"""What people said in a channel of a chat platform, read through its API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

Raw = Mapping[str, Any]
"""A message as the platform's API writes it; a Discord ✅ also has the `users` who put it there."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel as its platform describes it.

    Links to messages begin with `link`. In a `forum` people open threads and write nothing beside them.
    """

    id: str
    name: str
    public: bool
    link: str = ""
    forum: bool = False


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread: `id` is that of the message that opened it, or its own.

    `mark` differs once something was said in it or deleted, `at` is when that was last, in seconds since
    the epoch. `settled` tells that the platform's people marked the whole thread as answered. `owner` opened
    it at `opened` and gave it its title; an `open` one is not in the archive.
    """

    id: str
    mark: str
    at: float
    title: str = ""
    settled: bool = False
    owner: str = ""
    opened: float = 0.0
    open: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """Messages of a channel outside of threads, the newest first.

    `oldest` is the id of the last one, `older` tells whether there are more before it. `threads` are those
    that these messages opened; None on platforms that list threads by themselves.
    """

    messages: tuple[Raw, ...]
    oldest: str = ""
    older: bool = False
    threads: tuple[Thread, ...] | None = None


class HistoryReader(Protocol):
    """Reads public channels; waits as long as the platform's rate limits want.

    Raises `ChannelClosed` where a channel is not there or not for the bot, `PlatformRejected` where a token
    or a permission is wrong, `PlatformError` where the platform cannot be reached now.
    """

    calls: int
    """Calls of the API so far."""
    lists_threads: bool
    """Whether threads are listed apart, and not told with the messages that opened them."""

    async def channel(self, channel: str) -> Channel:
        """Return what a channel is, by its id."""

    async def page(self, channel: Channel, before: str = "") -> Page:
        """Return the messages before that id, or the newest ones."""

    async def threads(self, channel: Channel, since: float) -> tuple[Thread, ...]:
        """Return the threads that are open and those that were closed since, where they are listed apart."""

    async def replies(self, channel: Channel, thread: Thread) -> tuple[Raw, ...] | None:
        """Return what was said in a thread; None where it is gone."""


OpenReader = Callable[[], AbstractAsyncContextManager[HistoryReader]]
"""Signs in to a platform, for one reading, in the loop that is running."""
