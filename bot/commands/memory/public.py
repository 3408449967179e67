"""`memory public`: tell everywhere what was learnt in a private channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result
from bot.commands.memory.private import CHANNEL, CHANNEL_ID, channel_in, counted, learnt

if TYPE_CHECKING:
    from bot.operations.application import Application


def _publishable(given: Given) -> str:
    """Return the channel; raises UsageError where that is said anywhere but in the channel itself."""
    from bot.privacy.visibility import may_hear
    from core.errors import UsageError

    channel = channel_in(given)
    if not may_hear(given.audience, f"private:{channel}"):
        raise UsageError(
            f"What was learnt in {channel} is made public from there alone: give the command in that channel."
        )
    return channel


async def run(app: Application, given: Given) -> Result:
    """Take what was learnt in a channel out of it. Raises UsageError."""
    channel = _publishable(given)
    pairs = await learnt(app, channel, f"private:{channel}")
    moved = await app.memory.publish(channel)
    return Result({"channel": channel, "learnt": pairs, "moved": moved})


def text(result: Result) -> Sequence[str]:
    """Say how many there are."""
    return [f"{counted(result.data)} are told everywhere now."]


async def asks(app: Application, given: Given) -> str:
    """Say what it does. Raises UsageError where it is given elsewhere."""
    return f"This tells everybody what was learnt in {_publishable(given)}."


COMMAND = Command(
    "memory public",
    "admin",
    "tell everywhere what was learnt in a private channel; given in that channel",
    run,
    text,
    (CHANNEL, CHANNEL_ID),
    changes=True,
    audit=lambda given: (given.get("channel"),),
    asks=asks,
    sure="Yes, tell everybody",
    rank=39,
)
