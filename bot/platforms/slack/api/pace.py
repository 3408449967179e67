"""Messages that the bot posts in a channel, one after the other: Slack takes about one a second there.

Posts that Slack refuses are tried again by its library, five times. In a flood that is not enough: fifty that
try again at once take each other's turns.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

_KNOWN = 500
"""Channels whose last message is remembered."""


class Turns:
    """Lets `burst` messages into a channel at once, and then one every `seconds`, in the order they come."""

    def __init__(self, seconds: float, burst: int) -> None:
        self._seconds, self._ahead = seconds, (burst - 1) * seconds
        self._due: OrderedDict[str, float] = OrderedDict()

    async def take(self, channel: str) -> None:
        """Wait until a message may be posted in a channel."""
        now = asyncio.get_running_loop().time()
        due = max(self._due.pop(channel, now), now)
        self._due[channel] = due + self._seconds
        while len(self._due) > _KNOWN:
            self._due.popitem(last=False)
        if (wait := due - self._ahead - now) > 0:
            await asyncio.sleep(wait)
