"""The URL that Slack sends with a press or a command, to answer it.

It asks for no membership of the channel; it takes five messages within half an hour (docs.slack.dev, handling
user interaction).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import time

USES = 5
"""Messages that a response URL takes."""
GOOD_FOR = 1_800.0
"""Seconds for which it takes them."""


@dataclass(slots=True)
class Link:
    """A response URL: until when it is good, in seconds of Unix time, and how often it was used."""

    url: str = ""
    until: float = 0.0
    used: int = 0

    @classmethod
    def new(cls, url: object, clock: Callable[[], float] = time) -> Link:
        """Return the link of what has just been received; one without a URL takes nothing."""
        return cls(str(url or ""), clock() + GOOD_FOR)

    def left(self, now: float) -> int:
        """Return how many messages it takes yet."""
        return max(0, USES - self.used) if self.url and now < self.until else 0

    def spend(self) -> None:
        """Count it as used up: Slack has refused it."""
        self.used = USES
