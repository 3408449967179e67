"""Which events were taken, and which message carries which answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.domain import MessageRef


@dataclass(frozen=True, slots=True)
class Claim:
    """A question that was taken from a platform.

    `message` is the message's key, `payload` what dispatch needs to answer it after a restart,
    `parts` the messages that the reply takes, `at` seconds since the epoch.
    """

    message: str
    conversation: str
    asker: str
    at: float
    payload: dict[str, Any] = field(default_factory=dict)
    parts: tuple[MessageRef, ...] = ()
    answer_id: str = ""


class ConversationStore(Protocol):
    """Remembers which events were taken, and which message carries which answer."""

    async def claim(self, claim: Claim, event: str = "") -> bool:
        """Take a message once and for all; False when it or its event was taken before."""

    async def taken(self, event: str) -> bool:
        """Tell whether an event was taken before."""

    async def claimed(self, message: str) -> Claim | None:
        """Return the claim of a message."""

    async def posted(self, message: str, parts: Sequence[MessageRef]) -> None:
        """Note the messages that a reply takes, first before anything is said in them."""

    async def answered(self, message: str, answer_id: str) -> None:
        """Note that a claim is settled with this answer; an empty id settles it without one."""

    async def emptied(self, message: str) -> None:
        """Forget what a claimed message said; that it was taken stays known."""

    async def unanswered(self, since: float) -> tuple[Claim, ...]:
        """Return claims younger than `since` that were never settled, oldest first."""

    async def answer_of(self, part: str) -> str:
        """Return the id of the answer that a posted message carries; empty when there is none."""

    async def claim_of(self, answer_id: str) -> Claim | None:
        """Return the claim that was settled with that answer."""

    async def answers_of(self, parts: Sequence[str]) -> dict[str, str]:
        """Return the ids of the answers that posted messages carry, by their keys; others are left out."""

    async def answers_in(self, conversation: str, limit: int) -> tuple[str, ...]:
        """Return the ids of the latest answers of a conversation, newest first."""

    async def last_claim(self, conversation: str) -> Claim | None:
        """Return the latest answered claim of a conversation."""

    async def last_in(self, channel: str) -> Claim | None:
        """Return the latest answered claim of a channel (`slack:C1`), whatever its thread."""

    async def reopen(self, message: str, payload: Mapping[str, Any], at: float) -> None:
        """Let a settled claim be answered anew, with a new payload, in the same messages."""
