"""Which events were taken, which message carries which answer, and how much of a limit is used up."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from core.domain import MessageRef

MOST_TRIES = 2
"""Processes that may end while they work on one claim."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a person did on a platform and the bot has taken on, such as a question.

    `message` is the message's key, `payload` what dispatch needs to answer it after a restart,
    `parts` the messages that the reply takes, `at` seconds since the epoch. `language` is the one that it was
    answered in, once it was. A claim that is not `decided` may turn out to be meant for somebody else; nobody
    has worked on it. `tries` counts the processes that began to. `posting` is the id of the answer that was
    found, before it is known to be posted. `before` are answers that stood in the same messages until an edit
    replaced them, the first one first.
    """

    message: str
    conversation: str
    asker: str
    at: float
    payload: dict[str, Any] = field(default_factory=dict)
    parts: tuple[MessageRef, ...] = ()
    answer_id: str = ""
    posting: str = ""
    before: tuple[str, ...] = ()
    is_settled: bool = False
    language: str = ""
    decided: bool = True
    tries: int = 1
    kind: Literal["message", "command", "press", "share"] = "message"

    @property
    def is_hopeless(self) -> bool:
        """Return True if it is taken to be what made the processes end that worked on it."""
        return self.tries >= MOST_TRIES and not self.posting


class ConversationStore(Protocol):
    """Remembers which events were taken, and which message carries which answer."""

    async def claim(self, claim: Claim, event: str = "") -> bool:
        """Take a message once and for all; False when it or its event was taken before."""

    async def taken(self, event: str) -> bool:
        """Return True if an event was taken before."""

    async def claimed(self, message: str) -> Claim | None:
        """Return the claim of a message."""

    async def posted(self, message: str, parts: Sequence[MessageRef], conversation: str = "") -> None:
        """Note the messages that a reply takes, first before anything is said in them.

        `conversation` is the one that goes on under them, where the claim's own is none. In a cluster
        nothing is noted for a claim that another process took over.
        """

    async def posting(self, message: str, answer_id: str) -> bool:
        """Note the answer that was found for a claim, before it is posted.

        False, and nothing changes, where another process of a cluster has taken it over or settled it.
        """

    async def answered(self, message: str, answer_id: str, language: str = "", ours: bool = False) -> None:
        """Note that a claim is settled with this answer; an empty id settles it without one.

        With `ours` nothing changes where another process of a cluster has taken it over or settled it.
        """

    async def decided(self, message: str, payload: Mapping[str, Any]) -> None:
        """Note that a claim is meant for the bot, what is to be answered, and that this process begins."""

    async def dropped(self, message: str) -> None:
        """Forget a claim that was not meant for the bot; its event stays taken."""

    async def tried(self, message: str) -> int:
        """Note that this process begins to work on a claim; return how many did, this one included."""

    async def spared(self, messages: Collection[str]) -> None:
        """Take the latest try of open claims back: the process ends, but not because of them."""

    async def emptied(self, message: str) -> None:
        """Forget what a claimed message said; that it was taken stays known."""

    async def unanswered(self, since: float) -> tuple[Claim, ...]:
        """Return claims younger than `since` that were never settled, oldest first."""

    async def left(self, platform: str, messages: bool) -> tuple[Claim, ...]:
        """Take over what dead processes took from a platform and did not settle; return it oldest first.

        That is either `messages` or everything else. In a cluster each is taken over by one process alone.
        """

    async def take_over(self, message: str) -> None:
        """Have this process be the one that answers a message; in a cluster another one may have begun to."""

    async def is_ours(self, message: str) -> bool:
        """Return True if a claim is open, and no other process of a cluster has taken it over."""

    async def answer_of(self, part: str) -> str:
        """Return the id of the answer that a posted message carries; empty when there is none."""

    async def claim_at(self, part: str) -> Claim | None:
        """Return the claim whose reply takes a posted message."""

    async def claim_of(self, answer_id: str) -> Claim | None:
        """Return the claim that was settled with that answer."""

    async def answers_of(self, parts: Sequence[str]) -> dict[str, str]:
        """Return the ids of the answers that posted messages carry, by their keys; others are left out."""

    async def answers_in(self, conversation: str, limit: int) -> tuple[str, ...]:
        """Return the ids of the latest answers of a conversation, newest first."""

    async def last_claim(self, conversation: str) -> Claim | None:
        """Return the latest answered claim of a conversation."""

    async def last_asked(self, conversation: str) -> Claim | None:
        """Return the latest question of a conversation that has an answer; what a press asked is none."""

    async def last_told(self, conversation: str) -> Claim | None:
        """Return the latest settled question of a conversation that was replied to, if only with a word."""

    async def open_in(self, conversation: str) -> tuple[Claim, ...]:
        """Return the questions of a conversation that are not settled yet, oldest first."""

    async def known(self, parts: Collection[str]) -> frozenset[str]:
        """Return which of these messages (by key) are known to be the bot's replies or notices."""

    async def last_in(self, channel: str) -> Claim | None:
        """Return the latest answered claim of a channel (`slack:C1`), whatever its thread."""

    async def reworded(self, message: str, payload: Mapping[str, Any]) -> None:
        """Note the new words of a claim that is not decided yet."""

    async def reopen(self, message: str, payload: Mapping[str, Any], at: float) -> None:
        """Let a settled claim be answered again, with a new payload, in the same messages."""


class StorageHealth(Protocol):
    """Says whether anything can be written to storage now."""

    def problem(self) -> str:
        """Return why the last write failed, or that the disk is nearly full; empty where all is well."""

    async def check(self) -> str:
        """Write something and remove it; return what is wrong, empty where all is well."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Holds up to `size` questions and gets `rate` of them back a second; it is full at first."""

    name: str
    size: float
    rate: float

    def level(self, held: float, at: float, now: float) -> float:
        """Return what it holds now, where it held so much at a time; a clock that was set back adds none."""
        return min(self.size, held + max(0.0, now - at) * self.rate)

    def missing(self, level: float) -> float:
        """Return the seconds until it holds a question; infinite for one that is never filled again."""
        if level >= 1:
            return 0.0
        return (1 - level) / self.rate if self.rate else math.inf


class BucketStore(Protocol):
    """Keeps what buckets hold."""

    async def take(self, wanted: Sequence[Bucket], now: float) -> tuple[float, ...]:
        """Take a question from each bucket, or from none where one lacks it; `now` is since the epoch.

        Returns for each the seconds until it has one, 0 where it has.
        """


class HeldBuckets:
    """A `BucketStore` in this process's memory: for what must not be written down."""

    MOST = 10_000
    """Buckets that are held; the longest unused go first."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[float, float]] = {}

    async def take(self, wanted: Sequence[Bucket], now: float) -> tuple[float, ...]:
        """Take a question from each bucket, or from none."""
        return self.taken(wanted, now)

    def taken(self, wanted: Sequence[Bucket], now: float) -> tuple[float, ...]:
        """Take a question from each bucket, or from none, at once."""
        levels = [bucket.level(*self._held.pop(bucket.name, (bucket.size, now)), now) for bucket in wanted]
        waits = tuple(bucket.missing(level) for bucket, level in zip(wanted, levels, strict=True))
        for bucket, level in zip(wanted, levels, strict=True):
            self._held[bucket.name] = (level if any(waits) else level - 1, now)
        while len(self._held) > self.MOST:
            del self._held[next(iter(self._held))]
        return waits

    def give_back(self, wanted: Sequence[Bucket], now: float) -> None:
        """Put a question that was taken back into each bucket."""
        for bucket in wanted:
            level = bucket.level(*self._held.get(bucket.name, (bucket.size, now)), now)
            self._held[bucket.name] = (min(bucket.size, level + 1), now)
