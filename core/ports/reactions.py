"""What is known of the emoji under answers, for whoever reads anew which of them stand there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from core.domain import MessageRef


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

    async def unheard(self, shown: Shown, value: Literal[0, 1], voters: Collection[str]) -> frozenset[str]:
        """Return who of these voters has an emoji for 👍 (1) or 👎 (0) there that is not known.

        An emoji is known if it was counted and not taken off since, even if its voter took the vote back by a
        button, and one that was put on an earlier answer of the same messages. It needs no counting either
        where the same vote stands by a button.
        """
