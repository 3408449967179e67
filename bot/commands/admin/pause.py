"""`pause` and `resume`: no new questions for a time; `mode`: how a channel is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


HERE = Option("here", "Only this channel; everything when left out", kind="flag", where="chat")
CHANNEL = Option("channel", "Only there, such as slack:C0123", named=True, where="terminal")


def place_of(given: Given) -> str:
    """Return the channel that is meant; empty for everything."""
    if given.is_chat:
        return given.channel if given.get("here") else ""
    return str(given.get("channel") or "")


async def run(app: Application, given: Given) -> Result:
    """Pause a channel or everything, as the words say. Raises UsageError."""
    from bot.commands.pausing import begin_pause

    place = place_of(given)
    if given.is_chat:
        said = " ".join(given[key] for key in ("time", "reason") if given.get(key))
        ends = f"/threadlore resume{' here' if place else ''}"
    else:
        said = " ".join(given.get("words") or ())
        ends = f"threadlore resume --channel {place}" if place else "threadlore resume"
    return Result(await begin_pause(app.pauses, place, said, given.who, ends))


def text(result: Result) -> Sequence[str]:
    """Say that there is a pause, and what ends it."""
    from bot.commands.pausing import paused_text

    return [paused_text(result.data)]


COMMAND = Command(
    "pause",
    "admin",
    "stop answering new questions for a time (`30`, `2h`) or `until further notice`; votes still count",
    run,
    text,
    options=(
        HERE,
        Option("time", "Minutes, 2h or 1d; open when left out", where="chat"),
        Option("reason", "Why", rest=True, where="chat"),
        Option(
            "words", "30, 2h, 1d; open without; then why", many=True, metavar="TIME REASON", where="terminal"
        ),
        CHANNEL,
    ),
    changes=True,
    audit=lambda given: (given.get("channel"), *(given.get("words") or ())),
    rank=20,
    further="here or everywhere",
)


async def resume(app: Application, given: Given) -> Result:
    """End the pause of a place; in chat that of this channel where nothing else is paused."""
    from bot.commands.pausing import end_pause

    return Result(await end_pause(app.pauses, place_of(given), given.channel))


def resumed(result: Result) -> Sequence[str]:
    """Say where questions are answered again."""
    from bot.commands.pausing import resumed_text

    return [resumed_text(result.data)]


RESUME = Command(
    "resume",
    "admin",
    "answer questions again",
    resume,
    resumed,
    options=(HERE, CHANNEL),
    changes=True,
    audit=lambda given: (given.get("channel"),),
    rank=21,
)


MODES = ("mentions", "off", "questions", "forum", "default")


async def set_mode(app: Application, given: Given) -> Result:
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


def mode_text(result: Result) -> Sequence[str]:
    """Say how a channel, or several, are served."""
    from bot.commands.pausing import served_text

    return [served_text(result.data)]


MODE = Command(
    "mode",
    "admin",
    "show or set what the bot answers in a channel: mentions, questions, every forum post, or nothing",
    set_mode,
    mode_text,
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
