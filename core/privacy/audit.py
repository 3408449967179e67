"""What admins and the bot itself did: who, when, where, which words, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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

    async def delete_before(self, at: float) -> int:
        """Remove the acts that are older than that time; return how many."""
