"""Answers as lists show them: to one's own questions, those one voted on, those in public channels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from core.domain import MessageRef, Route


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer in a list; `at` in seconds since the epoch.

    `parts` are the messages that it stands in, none where one person alone saw it or it was deleted.
    `opinion` is the reader's vote that stands on it.
    """

    id: str
    question: str
    release: str
    route: Route
    at: float
    channel: str
    scope: str
    parts: tuple[MessageRef, ...] = ()
    opinion: Literal[0, 1] | None = None


class GivenStore(Protocol):
    """Lists answers, the latest first; those whose question is forgotten are left out."""

    async def asked(self, accounts: Collection[str], voter: str, limit: int) -> tuple[GivenAnswer, ...]:
        """Return the answers to what these accounts asked, with the votes of a voter."""

    async def voted(self, voter: str, without: Collection[str], limit: int) -> tuple[GivenAnswer, ...]:
        """Return the answers on which a vote of somebody stands and that none of some accounts asked for."""

    async def public(self, channels: Collection[str], voter: str, limit: int) -> tuple[GivenAnswer, ...]:
        """Return the public answers that stand in channels (`slack:C1`), with the votes of a voter.

        Those that say nothing ("I don't know.") are left out.
        """
