"""`mode`: how a channel is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application

MODES = ("mentions", "off", "questions", "forum", "default")


async def run(app: Application, given: Given) -> Result:
    """Say how channels are served, or set it for one. Raises UsageError."""
    from bot.commands.pausing import all_served, change_mode, channel_of, mode_and_channel

    said = [given[key] for key in ("channel", "mode") if given.get(key)]
    channel, wanted = (
        mode_and_channel(said) if given.is_chat else (said[0] if said else "", "".join(said[1:]))
    )
    if not channel:
        return Result(await all_served(app.modes, given.channel), outcome="shown")
    key = channel_of(channel, given.channel)
    served = await change_mode(app.modes, key, wanted, given.who)
    return Result(served, outcome=f"{key} is {await app.modes.mode(key)}" if wanted else "shown")


def text(result: Result) -> Sequence[str]:
    """Say how a channel, or several, are served."""
    from bot.commands.pausing import served_text

    return [served_text(result.data)]


COMMAND = Command(
    "mode",
    "admin",
    "show or set what a channel is answered: mentions, questions, every post of a forum, or nothing",
    run,
    text,
    options=(
        Option("channel", "Which channel; this one when left out", kind="channel"),
        Option("mode", "How it is served from now on", choices=MODES),
    ),
    changes=True,
    audit=lambda given: (given.get("channel"), given.get("mode")),
    is_audited=lambda given: bool(given.get("mode")),
    rank=22,
    further="`default` is what `corpora.toml` says",
)
