"""Questions that were put to a person, what they were told, and the port that keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from core.domain import MessageRef

Post = tuple[MessageRef, ...]
"""The messages that one thing said takes, in order."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A question that was put to a person; times in seconds since the epoch.

    `message` is the key of what was asked, as its claim has it; `asker` asked it, `by` put it to a person.
    `question` stands alone, `release` is that of the bot's answer. `people` are the accounts of those who
    were asked, `names` how the thread was told of them. `posts` are the messages to them, each as its parts,
    `told` what each of them says, and `notice` what says so in the thread. `resolver` is who resolved it,
    `answer` the key of the message that did, empty where none did.
    """

    message: str
    answer_id: str
    conversation: str
    channel: str
    scope: str
    asker: str
    by: str
    question: str
    release: str
    at: float
    people: tuple[str, ...] = ()
    names: str = ""
    told: tuple[str, ...] = ()
    posts: tuple[Post, ...] = ()
    notice: Post = ()
    resolved_at: float = 0.0
    resolver: str = ""
    resolver_name: str = ""
    answer: str = ""

    @property
    def is_open(self) -> bool:
        """Return True if nobody has resolved it yet."""
        return not self.resolved_at


class EscalationStore(Protocol):
    """Keeps tickets over restarts."""

    async def add(self, ticket: Ticket) -> bool:
        """Keep a new ticket; False where its message has one, which stays as it is."""

    async def save(self, ticket: Ticket) -> None:
        """Replace a ticket by a later state of it; one that is gone stays gone."""

    async def remove(self, message: str) -> None:
        """Forget the ticket of a message; an unknown one is no error."""

    async def of(self, message: str) -> Ticket | None:
        """Return the ticket of a message."""

    async def about(self, message: str) -> tuple[Ticket, ...]:
        """Return the tickets of a message: of its answer, and of those for other releases or given anew."""

    async def of_post(self, part: str) -> Ticket | None:
        """Return the ticket that a message of the bot tells of, by that message's key."""

    async def latest_in(self, conversation: str) -> Ticket | None:
        """Return the latest ticket of a conversation."""

    async def answered_by(self, answer: str) -> Ticket | None:
        """Return the ticket that a person's message resolved, by that message's key."""

    async def waiting(self, channel: str = "") -> tuple[Ticket, ...]:
        """Return what is open, in one channel (`slack:C1`) or anywhere, the oldest first."""

    async def since(self, at: float) -> tuple[Ticket, ...]:
        """Return what was opened since then, the oldest first."""

    async def counts(self) -> tuple[int, int]:
        """Return how many are open and how many resolved."""
