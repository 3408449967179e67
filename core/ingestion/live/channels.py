"""All channels that are read live: each is asked for once, whatever releases its source belongs to."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.domain import content_hash
from core.errors import ChannelClosed, PlatformError, PlatformRejected
from core.ingestion.live.copy import ChannelCopy
from core.ingestion.live.reading import ChannelReading, Reach
from core.ports.history import HistoryReader, OpenReader, Post

SHARED_SECONDS = 600.0
"""How long what one source read counts as read for another one, that of another release."""
LeavesOut = Callable[[str, float], bool]
"""Tells of an account (`slack:U1`) and the time of a message whether nothing of it may be kept."""


@dataclass(frozen=True, slots=True)
class ChannelRead:
    """What a channel holds; `refused` says why it may not be read, `all_read` whether the time sufficed.

    `titles` are those of threads by their id, `settled` the threads that were marked as answered as a whole.
    """

    key: str
    name: str
    posts: tuple[Post, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    refused: str = ""
    all_read: bool = True


class LiveChannels:
    """Reads channels by their key (`slack:C1`) and keeps copies below `home`; safe for several threads.

    `readers` sign in to a platform.
    """

    def __init__(
        self,
        home: Path,
        readers: Mapping[str, OpenReader],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = home / "sources" / "history"
        self._readers, self._now = readers, now
        self._one = threading.Lock()
        self._reads: dict[Path, tuple[int, float]] = {}
        self._used: dict[tuple[object, Path], int] = {}
        self._changed: dict[str, set[str]] = {}
        self._private: set[str] = set()
        self._reading: asyncio.Task[Any] | None = None

    def changed(self, key: str, *ids: str) -> None:
        """Note messages or threads of a channel that were edited or deleted: they are looked at next time."""
        self._changed.setdefault(key, set()).update(filter(None, ids))

    def became_private(self, key: str) -> None:
        """Note that a channel is private; until the platform says otherwise, it is not told of."""
        self._private.add(key)

    def drop(self, key: str, reaches: Iterable[Reach]) -> None:
        """Remove the copies of a channel; blocking."""
        with self._one:
            for reach in reaches:
                self._file(key, reach).unlink(missing_ok=True)

    def sweep(self, wanted: Collection[tuple[str, Reach]]) -> None:
        """Remove copies of channels that no source names any more."""
        names = {self._file(key, reach).name for key, reach in wanted}
        for file in self._folder.glob("*"):
            if file.name not in names:
                file.unlink(missing_ok=True)

    def written(self, key: str, reach: Reach, author: str) -> list[Post]:
        """Return what is kept of an author, by their platform's id, in a channel."""
        return [post for post in ChannelCopy(self._file(key, reach)).posts() if post.author == author]

    def withhold(self, keys: Collection[str], reach: Reach, leaves_out: LeavesOut) -> None:
        """Take out of the copies of channels what may not be kept; blocking. Raises OSError."""
        with self._one:
            for key in keys:
                copy = ChannelCopy(self._file(key, reach))
                if copy.empty:  # nothing is there, or what an older version wrote
                    copy.remove()
                    continue
                copy.withhold(_for(key.partition(":")[0], leaves_out))
                copy.save()

    def read(
        self,
        keys: Sequence[str],
        reach: Reach,
        minutes: float,
        leaves_out: LeavesOut,
        reads: object,
        ask: bool = True,
    ) -> list[ChannelRead]:
        """Bring channels up to date and return them; blocking, in a thread without a running loop.

        `reads` is who asks: what another one has asked for just now is not asked for again. Without `ask`
        nothing is: what is kept is told. Raises PlatformError where a platform cannot be read now, OSError.
        """
        with self._one:
            try:
                return asyncio.run(self._noted(self._read(keys, reach, minutes * 60, leaves_out, reads, ask)))
            except asyncio.CancelledError:
                raise PlatformError("This process ends: what is missing is read the next time") from None
            finally:
                self._reading = None

    def stop(self) -> None:
        """End a reading that is under way, also one that waits for a platform; what was read is kept."""
        reading = self._reading
        if reading is not None:
            with suppress(RuntimeError):  # it ended just now
                reading.get_loop().call_soon_threadsafe(reading.cancel)

    async def _noted(self, reading: Coroutine[Any, Any, list[ChannelRead]]) -> list[ChannelRead]:
        self._reading = asyncio.current_task()
        return await reading

    async def _read(
        self,
        keys: Sequence[str],
        reach: Reach,
        seconds: float,
        leaves_out: LeavesOut,
        reads: object,
        ask: bool,
    ) -> list[ChannelRead]:
        deadline = self._now() + seconds
        found: dict[str, ChannelRead] = {}
        for platform in dict.fromkeys(key.partition(":")[0] for key in keys):
            mine = [key for key in keys if key.startswith(f"{platform}:")]
            copies = {key: ChannelCopy(self._file(key, reach)) for key in mine}
            # what was never read here is no empty channel: its pages would go for everybody
            unread = [key for key in mine if not self._file(key, reach).exists()]
            late = [
                key
                for key in mine
                if key in unread or (ask and not self._is_fresh(reads, self._file(key, reach)))
            ]
            for key in set(mine) - set(late):
                copies[key].withhold(_for(platform, leaves_out))
                if not copies[key].empty:
                    copies[key].save()
                found[key] = _told(key, copies[key])
            if late:
                try:
                    async with self._open(platform) as reader:
                        for key in late:
                            reading = (key, copies[key], reader, reach, leaves_out, deadline)
                            found[key] = await self._renewed(*reading)
                            if not found[key].refused:
                                self._note(reads, self._file(key, reach))
                except PlatformError:
                    if not self._private.issuperset(late):
                        raise
                    found |= {key: _closed(key, copies[key], "it is private") for key in late}
        return [found[key] for key in keys]

    async def _renewed(
        self,
        key: str,
        copy: ChannelCopy,
        reader: HistoryReader,
        reach: Reach,
        leaves_out: LeavesOut,
        deadline: float,
    ) -> ChannelRead:
        platform, _, place = key.partition(":")
        out = _for(platform, leaves_out)
        try:
            channel = await reader.channel(place)
            if not channel.public:
                told = "and private messages are never used in public: name a public channel"
                raise ChannelClosed(f"#{channel.name} is private, {told}")
            self._private.discard(key)
            changed = self._changed.pop(key, set())
            reading = ChannelReading(copy, reader, reach, out, self._now, deadline)
            try:
                all_read = await reading.renew(channel, frozenset(changed))
            except BaseException:  # also when it is cancelled: what changed is read the next time
                self.changed(key, *changed)
                raise
        except ChannelClosed as error:
            return _closed(key, copy, str(error).rstrip("."))
        return _told(key, copy, all_read)

    def _open(self, platform: str) -> AbstractAsyncContextManager[HistoryReader]:
        if platform not in self._readers:
            known = " or ".join(f'"{name}:…"' for name in sorted(self._readers))
            raise PlatformRejected(f"There is no history of {platform} to read: write {known}")
        return self._readers[platform]()

    def _file(self, key: str, reach: Reach) -> Path:
        return self._folder / f"{content_hash(key, str(reach.newest), str(reach.since))[:32]}.json"

    def _is_fresh(self, reads: object, file: Path) -> bool:
        """Return True if another one has read a channel since this one did."""
        count, at = self._reads.get(file, (0, 0.0))
        fresh = count > self._used.get((reads, file), 0) and self._now() - at < SHARED_SECONDS
        if fresh:
            self._used[reads, file] = count
        return fresh

    def _note(self, reads: object, file: Path) -> None:
        count = self._reads.get(file, (0, 0.0))[0] + 1
        self._reads[file] = (count, self._now())
        self._used[reads, file] = count


def _for(platform: str, leaves_out: LeavesOut) -> LeavesOut:
    return lambda author, at: leaves_out(f"{platform}:{author}", at)


def _told(key: str, copy: ChannelCopy, all_read: bool = True) -> ChannelRead:
    heads = [thread.head for thread in copy.threads.values()]
    return ChannelRead(
        key,
        copy.name or key,
        tuple(copy.posts()),
        {head.id: head.title for head in heads if head.title},
        frozenset(head.id for head in heads if head.settled),
        all_read=all_read and copy.cursor is None,
    )


def _closed(key: str, copy: ChannelCopy, why: str) -> ChannelRead:
    """Return a channel that may not be read, and keep nothing of it."""
    name = copy.name or key
    copy.remove()
    return ChannelRead(key, name, refused=why)
