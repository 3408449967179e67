"""`pause`: answer no new questions for a time."""

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
    "answer no new questions for a time (`30`, `2h`) or `until further notice`; votes still count",
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
