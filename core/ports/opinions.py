"""What people say of answers beside votes by button, as values and ports that keep it.

That is emoji under answers, ✅ and ❌, corrections, and *Not my question*.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from core.domain import MessageRef, content_hash

Mark = Literal["accept", "object"]


@dataclass(frozen=True, slots=True)
class Correction:
    """What somebody found wrong with an answer, and the better one they wrote, if any.

    `what` is `release`, `wrong`, `outdated` or `other`; `pair_id` names the pair that the better answer
    became, and is empty once that is taken out; `at` is in seconds since the epoch. `scope` is the key of
    the scope where it was said. `question` and `release` are those of the answer; the store fills them in,
    and has `scope` follow the answer into a channel that becomes private.
    """

    answer_id: str
    person: str
    name: str
    what: str
    better: str
    at: float
    pair_id: str = ""
    question: str = ""
    release: str = ""
    scope: str = "public"


@dataclass(frozen=True, slots=True)
class Distinction:
    """A question that is not that of a pair whose answer it got, as somebody said of that answer.

    `key` is a fingerprint of the question's words, `at` in seconds since the epoch. The store fills in the
    rest: `topic` and `question`, empty where their words are gone or were said in a direct message, the
    `scope` they were said in (its key), and of the pair its `release` and its topic (`remembered`).
    """

    pair_id: str
    key: str
    answer_id: str
    person: str
    at: float
    topic: str = ""
    question: str = ""
    scope: str = "public"
    release: str = ""
    remembered: str = ""


class DistinctionStore(Protocol):
    """Keeps which questions are not a pair's own, for as long as there is that pair."""

    async def tell_apart(self, said: Distinction) -> bool:
        """Keep one; False where it is known already, or the pair is not there."""

    async def told_apart(self, pair_id: str = "") -> tuple[Distinction, ...]:
        """Return those of one pair, or of all, oldest first."""

    async def take_back(self, pair_id: str, key: str) -> bool:
        """Remove one; returns True if it was there."""


def pair_of(source: str) -> str:
    """Return the id of the pair that is made of a message, or of a correction."""
    return f"h{content_hash('person', source)[:16]}"


class OpinionStore(Protocol):
    """Keeps marks on messages, who wrote the pairs that people made, and corrections."""

    async def mark(self, message: str, person: str, kind: Mark) -> None:
        """Note a person's mark on a message; the same again changes nothing."""

    async def unmark(self, message: str, person: str, kind: Mark) -> bool:
        """Take a mark off; returns True if it was there."""

    async def marked(self, message: str, kind: Mark) -> frozenset[str]:
        """Return who has that mark on a message."""

    async def wrote(self, pair_id: str, author: str) -> None:
        """Note who wrote the answer of a pair, so that it goes when they are forgotten."""

    async def author(self, pair_id: str) -> str:
        """Return who wrote the answer of a pair; empty where no person did."""

    async def former(self, pair_id: str) -> str:
        """Return under which id a pair stands that was made before its message's channel had another id.

        Empty where there is none.
        """

    async def reword(self, pair_id: str, answer: str) -> None:
        """Replace the answer of a pair; an unknown pair is no error."""

    async def discard(self, pair_id: str) -> None:
        """Remove a pair that is in no store, with its votes; an unknown pair is no error."""

    async def correct(self, correction: Correction) -> None:
        """Keep a correction in place of what the same person said of the same answer before."""

    async def corrections(self, answer_id: str = "", limit: int = 50) -> tuple[Correction, ...]:
        """Return the corrections of one answer, or of all, the latest first."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer, the messages that carry it, and when it was asked for, in seconds since the epoch.

    `before` are the answers that stood in the same messages, the first one first.
    """

    answer_id: str
    parts: tuple[MessageRef, ...]
    at: float
    before: tuple[str, ...] = ()


class ReactionStore(Protocol):
    """Knows which answers were posted lately, and whose emoji under them was heard of."""

    async def shown(self, platform: str, since: float, limit: int) -> tuple[Shown, ...]:
        """Return the latest answers that stand on a platform, newest first, but none from before a time."""

    async def newest(self, shown: Shown) -> int:
        """Return the number of the latest vote on an answer, as of before its emoji are read; 0 for none."""

    async def unheard(
        self, shown: Shown, value: Literal[0, 1], voters: Collection[str], until: int
    ) -> frozenset[str]:
        """Return who of these voters has an emoji for 👍 (1) or 👎 (0) there that is not known.

        Who voted after the event of the number `until` may have changed it since it was read, and is known.

        An emoji is known if it was counted and not taken off since, even if its voter took the vote back by a
        button, and one that was put on an earlier answer of the same messages. It needs no counting either
        where the same vote stands by a button.
        """
