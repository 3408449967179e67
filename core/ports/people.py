"""Voters and how long they have been about; forgetting a person."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """What is known of a voter when they vote; times in seconds since the epoch.

    `first_seen` is their first question or vote (0 for none), `contributions` how many questions they
    asked and pairs they voted on. `events` are their votes within the last hour; of the same hour
    `voters` counts the people who voted on the pair, `strangers` those of them whom nobody knows.
    """

    first_seen: float = 0.0
    contributions: int = 0
    events: int = 0
    voters: int = 0
    strangers: int = 0


@dataclass(frozen=True, slots=True)
class VoteEvent:
    """A vote as it was written down, without its words."""

    pair_id: str
    answer_id: str
    voter: str
    standing: str
    at: float


class VoterStore(Protocol):
    """Knows how long people have been about."""

    async def acquaintance(self, accounts: Collection[str], pair_id: str, since: float) -> Acquaintance:
        """Return what is known of the person behind the accounts; `since` begins the last hour."""

    async def anybody_known(self, before: float, contributions: int) -> bool:
        """Tell whether anybody was seen before that time and voted on so many pairs."""

    async def by_strangers(self, since: float) -> tuple[VoteEvent, ...]:
        """Return the votes of strangers since then, oldest first."""

    async def link(self, people: Mapping[str, Sequence[str]]) -> int:
        """Count votes of a person's accounts as the person's from now on; return how many were not."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed of a person: how much, which answers (of others too), and what they had asked."""

    questions: int
    pairs: int
    votes: int
    messages: int
    answers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    pair_ids: frozenset[str] = frozenset()


class PersonStore(Protocol):
    """Forgets people."""

    async def forget(self, accounts: Collection[str], voters: Collection[str]) -> Forgotten:
        """Remove what accounts asked and `voters` voted, and all that was made of it."""

    async def scrub(self) -> None:
        """Overwrite what was removed; raises StorageError where that cannot be done now."""
