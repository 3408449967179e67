"""Voters and how long they have been about; what is held of a person, for how long, and how it goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


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
        """Return True if anybody was seen before that time and voted on so many pairs."""

    async def by_strangers(self, since: float) -> tuple[VoteEvent, ...]:
        """Return the votes of strangers since then, oldest first."""

    async def link(self, people: Mapping[str, Sequence[str]]) -> int:
        """Count votes of a person's accounts as the person's from now on; return how many were not."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed of a person: how much, which answers, and what they had asked.

    `answers` are those that were removed, and those of others whose words are gone; `pages` the paths of
    documents of sources that they wrote and that say nothing now until they are made again.
    """

    questions: int
    pairs: int
    votes: int
    messages: int
    answers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    pair_ids: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()


class PersonStore(Protocol):
    """Tells what is held of a person, and forgets them."""

    async def held(self, accounts: Collection[str]) -> dict[str, list[dict[str, Any]]]:
        """Return all rows that say something of a person, by what they are, the latest first.

        `accounts` are all names of the person.
        """

    async def forget(self, accounts: Collection[str], voters: Collection[str]) -> Forgotten:
        """Remove what accounts asked and `voters` voted, and all that was made of it."""

    async def scrub(self) -> None:
        """Leave nothing of what was removed in unused room, as far as nobody has to wait for that.

        What is left is done by a later call. Raises StorageError.
        """


class OptOutStore(Protocol):
    """Keeps who opted out, what they were told once, and who was forgotten, by one-way names."""

    async def opt_outs(self) -> frozenset[str]:
        """Return the names of all who opted out."""

    async def opt_out(self, names: Collection[str], at: float) -> None:
        """Put names on the list; what is there already stays as it is."""

    async def opt_in(self, names: Collection[str]) -> None:
        """Take names off the list; a name that is not there is no error."""

    async def forgotten(self) -> dict[str, float]:
        """Return the names of all who asked to be forgotten, and when they last did."""

    async def forget(self, names: Collection[str], at: float) -> None:
        """Note that the person of these names asked to be forgotten."""

    async def tell(self, names: Collection[str], what: str) -> bool:
        """Note that the person of these names is told something; False where they were told before."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What one step of retention did: how much, by what it is, and where the next step begins.

    `cursor` is None when there is nothing left to look at.
    """

    done: dict[str, int] = field(default_factory=dict)
    cursor: int | None = None


class RetentionStore(Protocol):
    """Removes what is old, a limited number of rows a call, so that nobody waits long for the database."""

    async def due(self, questions: float, votes: float) -> dict[str, int]:
        """Count what is older than those times (seconds since the epoch, 0 for none); nothing changes."""

    async def drop(self, before: float, cursor: int, limit: int) -> Slice:
        """Remove some questions and answers, and who asked, of that time; what memory holds stays.

        Answers with votes stay without any words, so that the votes can still be changed.
        """

    async def veil(self, before: float, cursor: int, limit: int) -> Slice:
        """Pseudonymise votes of people who have not voted on the pair since."""

    async def settle(self) -> None:
        """Let nothing of what was removed stand in the log that the database writes ahead."""
