"""Changes of memory one after the other, in this process and in a cluster, each after what others changed.

Votes are the truth and stand in the database; where they place pairs is worked out in memory. So whoever
changes something waits for their turn, takes in what others changed before, and goes on from there:
placements come out as if one process had counted all votes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from core.ports.cluster import ALL, MEMORY, Cluster


class Turns:
    """Lets memory change; `take_in` is given the pairs that others changed, or `ALL`."""

    def __init__(self, cluster: Cluster, take_in: Callable[[Collection[str]], Awaitable[None]]) -> None:
        self._cluster = cluster
        self._take_in = take_in
        self._lock = asyncio.Lock()
        self._seen: int | None = None

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Change memory while nobody else does."""
        async with self._lock, self._cluster.turn(MEMORY):
            news = await self._cluster.news(self._seen, MEMORY)
            if keys := news.keys.get(MEMORY):
                await self._take_in(keys)
            self._seen = news.number
            yield

    async def follow(self) -> None:
        """Take in what others changed, which they have written down."""
        async with self._lock:
            news = await self._cluster.news(self._seen, MEMORY)
            keys = news.keys.get(MEMORY, set())
            if ALL not in keys:
                await self._take_in(keys)
                self._seen = news.number
        if ALL in keys:  # who changed so much may be writing yet
            async with self.one():
                pass
