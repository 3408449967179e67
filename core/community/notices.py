"""Notices to the people who run the bot: what was said where, so that none is repeated or lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice to one channel (`slack:C1`); `told_at` is 0 while it could not be said, times in seconds.

    `key` tells which notices are the same. The text goes once it was said.
    """

    destination: str
    key: str
    text: str
    at: float
    told_at: float = 0.0
    tries: int = 0


class NoticeStore(Protocol):
    """Keeps notices over restarts."""

    async def notice(self, destination: str, key: str) -> Notice | None:
        """Return what is known of a notice to a channel."""

    async def keep(self, notice: Notice) -> None:
        """Keep a notice in place of the one before of the same destination and key."""

    async def untold(self) -> tuple[Notice, ...]:
        """Return the notices that wait to be said, the oldest first."""
