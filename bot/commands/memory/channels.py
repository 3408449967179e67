"""`memory private` and `memory public`: tell what was learned in a channel there alone, or everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result
from core.text.plurals import counted

if TYPE_CHECKING:
    from bot.operations.application import Application


CHANNEL = Option("channel", "Which channel; `here` for this one", required=True, kind="channel", where="chat")
CHANNEL_ID = Option("channel", "Such as slack:C0123", required=True, where="terminal")


def channel_in(given: Given) -> str:
    """Return the channel that is meant. Raises UsageError for what names none."""
    from bot.commands.pausing import channel_of
    from core.errors import UsageError
    from core.memory.partitions.partition_index import platform_of

    channel = str(given["channel"])
    if given.is_chat:
        channel = channel_of(channel, given.channel)
    if not platform_of(channel):
        raise UsageError(f"'{channel}' is not a channel; write platform and id, such as slack:C0123.")
    return channel


async def learnt(app: Application, channel: str, scope: str) -> int:
    """Return how many pairs of a channel have votes or were brought by people: what memory holds of it."""
    held = await app.memory.everything()
    return sum(1 for pair in held if (pair.channel, pair.scope) == (channel, scope))


def goes_along(moved: Mapping[str, Any]) -> str:
    """Say what goes along: what was learned, and answers without a vote, which may still get one."""
    neutral = moved["moved"] - moved["learnt"]
    also = f", and {neutral} given there that nobody voted on," if neutral > 0 else ""
    return f"{counted(moved['learnt'], 'answer')} learned in {moved['channel']}{also}"


async def make_private(app: Application, given: Given) -> Result:
    """Take what was learned in a channel along into it. Raises UsageError for what names no channel."""
    channel = channel_in(given)
    pairs = await learnt(app, channel, "public")
    moved = await app.engine.channel_became_private(channel)
    return Result({"channel": channel, "learnt": pairs, "moved": moved})


def private_text(result: Result) -> Sequence[str]:
    """Say how many there are."""
    stay = "stays" if result.data["learnt"] == 1 >= result.data["moved"] else "stay"
    return [f"{goes_along(result.data)} {stay} in that channel from now on."]


PRIVATE = Command(
    "memory private",
    "admin",
    "keep what was learned in a channel inside it",
    make_private,
    private_text,
    (CHANNEL, CHANNEL_ID),
    changes=True,
    audit=lambda given: (given.get("channel"),),
    rank=38,
)


def _publishable(given: Given) -> str:
    """Return the channel; raises UsageError where that is said anywhere but in the channel itself."""
    from bot.privacy.visibility import may_hear
    from core.errors import UsageError

    channel = channel_in(given)
    if not may_hear(given.audience, f"private:{channel}"):
        raise UsageError(
            f"What was learned in {channel} can only be shared from there: type the command in that channel."
        )
    return channel


async def publish(app: Application, given: Given) -> Result:
    """Take what was learned in a channel out of it. Raises UsageError."""
    channel = _publishable(given)
    pairs = await learnt(app, channel, f"private:{channel}")
    moved = await app.memory.publish(channel)
    return Result({"channel": channel, "learnt": pairs, "moved": moved})


def published_text(result: Result) -> Sequence[str]:
    """Say how many there are."""
    return [f"{goes_along(result.data)} can be used everywhere now."]


async def asks_publish(app: Application, given: Given) -> str:
    """Say what it does. Raises UsageError where it is given elsewhere."""
    return f"This shares what was learned in {_publishable(given)} with everybody."


PUBLIC = Command(
    "memory public",
    "admin",
    "share what was learned in a private channel everywhere; type it in that channel",
    publish,
    published_text,
    (CHANNEL, CHANNEL_ID),
    changes=True,
    audit=lambda given: (given.get("channel"),),
    asks=asks_publish,
    sure="Yes, tell everybody",
    rank=39,
)
