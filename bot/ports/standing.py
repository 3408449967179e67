"""The port of a platform that lets the bot read which emoji stand under its messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.ports.chat import Person
from core.domain import MessageRef


@dataclass(frozen=True, slots=True)
class Standing:
    """Whose emoji stand under a message: accounts by emoji; `whole` tells that nobody is left out."""

    people: Mapping[str, frozenset[str]]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why nothing can be read: of one message, of its whole channel, or of any message."""

    what: Literal["message", "channel", "all"]
    why: str


class ReactionReader(Protocol):
    """Reads the emoji that stand under messages."""

    read_seconds: float
    """Seconds from one message to the next, so that the platform's limits leave room for answers."""

    @property
    def reads_here(self) -> Callable[[MessageRef], Awaitable[bool]] | None:
        """Tell which messages this process reads, where each of a cluster reads its own; else None."""

    async def standing(self, ref: MessageRef) -> Standing | Unreadable:
        """Return whose emoji stand under a message now; raises PlatformError where it may work later."""

    async def somebody(self, account: str, ref: MessageRef) -> Person:
        """Return the person of an account who reacted to a message."""
