"""What people said in a channel of a chat platform, read through its API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

Raw = Mapping[str, Any]
"""A message as the platform's API writes it."""


@dataclass(frozen=True, slots=True)
class Post:
    """A message; `at` in seconds. `thread` is the id of the message that opened its thread, if known.

    `votes` counts 👍 and the like. `accepted` tells that it was marked as the answer, `accepted_by` by whom
    where that is known, `endorsed` that one of them is a helper. `mentions` are the authors that it
    addresses. A `withheld` one has neither words nor author: it was deleted, or its author is left out.
    """

    id: str
    author: str
    text: str
    at: float
    url: str = ""
    thread: str = ""
    reply_to: str = ""
    votes: int = 0
    accepted: bool = False
    bot: bool = False
    mentions: frozenset[str] = frozenset()
    accepted_by: frozenset[str] = frozenset()
    endorsed: bool = False
    withheld: bool = False

    def judged_by(self, asker: str) -> Post:
        """Return it with marks as they count: those of the asker and of helpers accept, others' are votes."""
        others = self.accepted_by - {self.author}
        if not self.accepted_by or self.endorsed or asker in others:
            return self
        return replace(self, accepted=False, votes=self.votes + len(others))


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

    `oldest` is the id of the last one, `older` says whether there are more before it. `threads` are those
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

    def post(self, message: Raw, channel: Channel, thread: str) -> Post | None:
        """Return a message, in that thread if in any, as a post; None for joins, pins and the like."""


OpenReader = Callable[[], AbstractAsyncContextManager[HistoryReader]]
"""Signs in to a platform, for one reading, in the loop that is running."""
