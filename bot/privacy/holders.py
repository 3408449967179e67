"""What platforms keep of people themselves: taken out where they run, or where it lies while they do not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bot.ports.platforms import PersonalData

Forget = Callable[[Collection[str], Collection[str]], Awaitable[None]]
"""Forgets accounts, and answers and pairs by their ids, wherever something of them is held in memory."""
Expire = Callable[[float], Awaitable[int]]
"""Removes conversations that ended before a time, and tells how many messages went."""


@dataclass(frozen=True, slots=True)
class _Running:
    forget: Forget
    expire: Expire


class Holders:
    """Knows what platforms keep in a home, and which of them run and have it in memory."""

    def __init__(self, home: Path, at_rest: Mapping[str, PersonalData]) -> None:
        """`at_rest` has the platforms that keep something, by their names."""
        self._home = home
        self._at_rest = at_rest
        self._running: dict[str, _Running] = {}

    @contextmanager
    def running(self, platform: str, *, forget: Forget, expire: Expire) -> Iterator[None]:
        """Ask a platform itself for as long as it runs: what lies in the home is its own then."""
        self._running[platform] = _Running(forget, expire)
        try:
            yield
        finally:
            self._running.pop(platform, None)

    async def forget(self, accounts: Collection[str], ids: Collection[str]) -> None:
        """Take out what is kept of people, and of answers and pairs by their ids."""
        for running in tuple(self._running.values()):
            await running.forget(accounts, ids)
        for platform, kept in self._at_rest.items():
            if platform not in self._running:
                await asyncio.to_thread(kept.forget, self._home, accounts, ids)
            await asyncio.to_thread(kept.tidy, self._home)

    async def expire(self, before: float) -> dict[str, int]:
        """Remove conversations that ended before a time; return how many messages went, by what they are."""
        gone: dict[str, int] = {}
        for platform, kept in self._at_rest.items():
            if platform in self._running:
                gone[kept.WHAT] = await self._running[platform].expire(before)
            else:
                gone[kept.WHAT] = await asyncio.to_thread(kept.expire, self._home, before)
        return gone

    def held(self) -> dict[str, Callable[[Collection[str]], list[dict[str, Any]]]]:
        """Return who tells what is held of a person, by what it is; blocking."""
        return {kept.WHAT: partial(kept.held, self._home) for kept in self._at_rest.values()}
