"""Brings the copy of a channel up to date: what is new, what may have changed, then what is missing still."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from core.ingestion.live.copy import ChannelCopy, ThreadCopy, order
from core.ports.history import Channel, HistoryReader, Page, Post, Raw

RECENT = 7 * 86_400.0
"""Seconds for which messages are read again each time, for people edit and delete what is fresh."""
RECENT_THREADS = 2 * 86_400.0
"""Seconds since something was said in a thread for which it is read again each time."""
FRESH_THREADS = 30
"""Threads that are read again for that, at most: the latest ones."""
TURN_PAGES = 3
"""Pages of older messages that are read again each time, in turn."""
TURN_THREADS = 10
"""Older threads that are read again each time, in turn."""
CLOCKS = 3_600.0
"""Seconds by which the platform's clock may differ from this machine's."""
SAVE_EVERY = 25
"""Calls after which what was read is written down, should the process end."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back a channel is read: its newest messages, none before `since` (seconds since the epoch)."""

    newest: int
    since: float = 0.0


class TimeOver(Exception):
    """The time for one reading is over; what is missing is read the next time."""


class ChannelReading:
    """One reading of one channel of a platform.

    `now` tells the time, `deadline` when to stop. `leaves_out` tells of an author's id and a message's time
    whether nothing of it may be kept.
    """

    def __init__(
        self,
        copy: ChannelCopy,
        reader: HistoryReader,
        reach: Reach,
        leaves_out: Callable[[str, float], bool],
        now: Callable[[], float],
        deadline: float,
    ) -> None:
        self._copy, self._reader, self._reach = copy, reader, reach
        self._leaves_out = leaves_out
        self._now, self._deadline = now, deadline
        self._saved = reader.calls

    async def renew(self, channel: Channel, changed: Collection[str] = ()) -> bool:
        """Read what there is to read; False where the time was over before. Raises PlatformError, OSError.

        `changed` are ids of messages and threads that are known to be others now.
        """
        self._copy.name = channel.name
        known = ""
        try:
            if not channel.forum:
                known = await self._newest(channel)
                await self._backwards(channel)
            if self._reader.lists_threads:
                await self._list(channel)
            self._trim()
            new = [t for t in self._latest() if not t.read_at or _has(t, changed)]
            for thread in new:
                await self._thread(channel, thread)
            await self._again(channel, known, changed)
            await self._threads_again(channel, {thread.head.id for thread in new})
        except TimeOver:
            return False
        finally:
            self._keep()
        return True

    async def _newest(self, channel: Channel) -> str:
        """Read down to what is known and no longer fresh; return the id where that begins."""
        copy, cursor, before = self._copy, self._copy.cursor, ""
        if not copy.top:  # nothing was said when it was read last
            copy.cursor = ""
            return ""
        newest = copy.top[max(copy.top, key=order)].at
        floor = min(self._now() - RECENT, newest)
        while True:
            page, posts = await self._page(channel, before)
            before = page.oldest
            if not page.older:
                copy.cursor = None
                return before
            if min((post.at for post in posts), default=math.inf) <= floor:
                copy.cursor = cursor
                return before
            copy.cursor = before  # should it end here, the next reading goes on from here

    async def _backwards(self, channel: Channel) -> None:
        """Read older messages until all are there that belong here."""
        copy, reach = self._copy, self._reach
        while copy.cursor is not None:
            page, posts = await self._page(channel, copy.cursor)
            oldest = min((post.at for post in posts), default=math.inf)
            all_there = not page.older or len(copy.top) >= reach.newest or oldest < reach.since
            copy.cursor = None if all_there else page.oldest

    async def _again(self, channel: Channel, known: str, changed: Collection[str]) -> None:
        """Read older pages again: those with what is known to have changed, and some in turn."""
        copy = self._copy
        if not known or not copy.top:
            return
        for message in sorted(set(changed) & copy.top.keys(), key=order):
            if order(message) < order(known):
                later = [key for key in copy.top if order(key) > order(message)]
                await self._page(channel, min(later, key=order))
        oldest = order(min(copy.top, key=order))
        before = copy.turn if copy.turn and order(copy.turn) < order(known) else known
        for _ in range(TURN_PAGES):
            if order(before) <= oldest:
                before = ""
                break
            page, _posts = await self._page(channel, before)
            before = page.oldest
        copy.turn = before

    async def _page(self, channel: Channel, before: str) -> tuple[Page, list[Post]]:
        self._in_time()
        page = await self._reader.page(channel, before)
        posts = [post for message in page.messages if (post := self._post(message, channel, ""))]
        self._copy.replace(page, before, posts)
        return page, posts

    async def _list(self, channel: Channel) -> None:
        """Ask which threads there are; one that was open and is not told of any more may be gone."""
        self._in_time()
        copy, at = self._copy, self._now()
        told = await self._reader.threads(channel, max(copy.listed, self._reach.since))
        for thread in told:
            copy.head(thread)
        there = {thread.id for thread in told}
        for key, known in copy.threads.items():
            if known.head.open and key not in there:
                known.read_at = 0.0
        copy.listed = at - CLOCKS

    def _latest(self) -> list[ThreadCopy]:
        return sorted(self._copy.threads.values(), key=lambda thread: -thread.head.at)

    async def _threads_again(self, channel: Channel, done: Collection[str]) -> None:
        """Read threads again: the fresh ones, those that were found changed meanwhile, and some in turn."""
        self._trim()
        left, now = [t for t in self._latest() if t.head.id not in done], self._now()
        new = [t for t in left if not t.read_at]
        fresh = [t for t in left if t.read_at and now - t.head.at < RECENT_THREADS][:FRESH_THREADS]
        others = [t for t in left if t.read_at and now - t.head.at >= RECENT_THREADS]
        turn = sorted(others, key=lambda thread: thread.read_at)[:TURN_THREADS]
        for thread in (*new, *fresh, *turn):
            await self._thread(channel, thread)

    async def _thread(self, channel: Channel, thread: ThreadCopy) -> None:
        self._in_time()
        head = thread.head
        told = await self._reader.replies(channel, head)
        if told is None:
            del self._copy.threads[head.id]
            return
        thread.posts = [post for message in told if (post := self._post(message, channel, head.id))]
        if channel.forum and all(post.id != head.id for post in thread.posts):  # its question was deleted
            thread.posts.insert(0, Post(head.id, "", "", head.opened, thread=head.id, withheld=True))
        thread.read_at = self._now()

    def _post(self, message: Raw, channel: Channel, thread: str) -> Post | None:
        found = self._reader.post(message, channel, thread)
        return replace(found, text="") if found and found.bot else found

    def _in_time(self) -> None:
        if self._now() >= self._deadline:
            raise TimeOver
        if self._reader.calls - self._saved >= SAVE_EVERY:
            self._keep()

    def _trim(self) -> None:
        self._copy.keep_newest(self._reach.newest, self._reach.since, self._reader.lists_threads)

    def _keep(self) -> None:
        """Write down what was read, without those who are left out and what lies beyond reach."""
        self._saved = self._reader.calls
        self._trim()
        self._copy.withhold(self._leaves_out)
        self._copy.save()


def _has(thread: ThreadCopy, changed: Collection[str]) -> bool:
    return thread.head.id in changed or any(post.id in changed for post in thread.posts)
