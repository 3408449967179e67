"""What a database knows about itself, what admins and the bot itself did, and what they were told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

KEY_CHECK = "privacy key"
"""A keyed hash that only the key of its one-way names gives."""
HOLDER = "holder"
"""Who has the database, where several processes could reach it."""
RETENTION = "retention"
"""When what is old was removed last, in seconds since the epoch."""
FORMER = "pair "
"""Begins the name of a pair as its message is called now; what is known is the id that the pair has."""


class AboutStore(Protocol):
    """Keeps what a database knows about itself."""

    async def told(self, name: str) -> str:
        """Return what is known under a name, empty for nothing."""

    async def tell(self, name: str, value: str) -> None:
        """Keep something in place of what was known under that name."""

    async def has_one_way_names(self, lists_alone: bool = False) -> bool:
        """Return True if anybody stands in the database under a one-way name; with `lists_alone`, on the
        lists of those who opted out or were forgotten.
        """

    async def newest(self, before: float) -> float:
        """Return when the newest question or vote before a time was, in seconds since the epoch, or 0."""


BOT = "bot"
"""Who did what nobody asked for: a schedule, a fallback, retention."""
FORGOTTEN = "forgotten"
"""What stands in place of a person who was forgotten."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that was done; `at` in seconds since the epoch.

    `who` is an account (`slack:U1`), `cli:` with the user of the machine, or `bot`. `where` is a channel
    (`slack:C1`) or empty. `what` are the command's words, never those of a question. `outcome` is `done`,
    `asked` (it waits to be confirmed), `refused`, or `failed` with a sentence.
    """

    at: float
    who: str
    where: str
    what: str
    outcome: str


class AuditStore(Protocol):
    """Keeps what was done."""

    async def note(self, act: Act) -> None:
        """Keep an act."""

    async def acts(self, limit: int = 50) -> tuple[Act, ...]:
        """Return the latest acts, the latest first."""

    async def older(self, at: float) -> int:
        """Count the acts that are older than that time."""

    async def delete_before(self, at: float) -> int:
        """Remove the acts that are older than that time; return how many."""


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
