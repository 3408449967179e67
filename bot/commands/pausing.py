"""What `pause`, `resume` and `mode` read, do and say, wherever they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from bot.conversation.pausing import mode_line, pause_line
from core.community.channels import DEFAULT, MODES, ChannelModes, Pauses
from core.errors import UsageError

LONGEST_MINUTES = 525_600.0
"""A year; what is longer is until further notice."""
_FOR = re.compile(r"(\d+(?:\.\d+)?)\s*(m|min|minutes?|h|hours?|d|days?)?(?=[\s,]|$)[\s,]*", re.IGNORECASE)
_OPEN = re.compile(r"until further notice\b[\s,]*", re.IGNORECASE)
_MINUTES = {"m": 1.0, "h": 60.0, "d": 1440.0}
_WRITTEN = re.compile(r"<#(\w+)(?:\|[^>]*)?>")


def duration(said: str) -> tuple[float, str]:
    """Read `30`, `2h` or `until further notice` at the beginning; return minutes (0: open) and the rest."""
    if found := _OPEN.match(said):
        return 0.0, said[found.end() :].strip()
    if found := _FOR.match(said):
        minutes = float(found[1]) * _MINUTES[(found[2] or "m")[0].lower()]
        if not 0 < minutes <= LONGEST_MINUTES:
            raise UsageError("A pause takes from one minute to a year; leave the number out for an open one.")
        return minutes, said[found.end() :].strip()
    return 0.0, said.strip()


async def begin_pause(pauses: Pauses, place: str, said: str, by: str, ends: str) -> str:
    """Pause a channel or everything, as the words after the command say; return what to tell.

    `ends` is the command that ends it.
    """
    minutes, why = duration(said)
    pause = await pauses.begin(place, minutes, by, why)
    return f"Paused: {pause_line(pause)}. `{ends}` ends it{' before' if minutes else ''}."


async def end_pause(pauses: Pauses, place: str, or_else: str = "") -> str:
    """End the pause of a place, or where there is none that of another one; return what to tell."""
    if await pauses.end(place):
        where = f" in `{place}`" if place else ""
        return f"I answer questions{where} again."
    if or_else and await pauses.end(or_else):
        return f"I answer questions in `{or_else}` again."
    running = await pauses.running()
    if not running:
        return "Nothing is paused."
    return "\n".join(["That is not paused. Paused:", *(f"- {pause_line(pause)}" for pause in running)])


def channel_of(said: str, here: str) -> str:
    """Return the channel that is meant: `here`, a mention, `slack:C1`, or an id of the same platform.

    Raises UsageError for a mere name.
    """
    if said.lower() == "here":
        return here
    platform = here.partition(":")[0]
    if found := _WRITTEN.fullmatch(said):
        return f"{platform}:{found[1]}"
    if re.fullmatch(r"[a-z][a-z0-9_-]*:\S+", said):
        return said
    plain = said.removeprefix("#") if platform in ("web", "fake") else said
    if platform and re.fullmatch(r"[\w-]+", plain):
        return f"{platform}:{plain}"
    raise UsageError(
        f"I can't tell which channel `{said}` is; write its id, such as `slack:C0123`, or `here`."
    )


async def change_mode(modes: ChannelModes, channel: str, mode: str, by: str) -> str:
    """Set the mode of a channel, or say which it has where none is named; return what to tell."""
    if mode:
        await modes.set_mode(channel, mode, by)
    given = next((given for given in await modes.given() if given.channel == channel), None)
    return mode_line(channel, given, modes.configured(channel))


async def modes_text(modes: ChannelModes, here: str = "") -> str:
    """List the channels that have a mode of their own, this one first."""
    given = {entry.channel: entry for entry in await modes.given()}
    known = sorted(await modes.all())
    order = [*([here] if here else []), *(channel for channel in known if channel != here)]
    lines = [f"- {mode_line(c, given.get(c), modes.configured(c))}" for c in order]
    return "\n".join(lines) or "No channel has a mode of its own: everywhere a mention is needed."


def mode_and_channel(said: Sequence[str]) -> tuple[str, str]:
    """Read `[CHANNEL|here] [MODE]`; a mode alone is for this channel, and nothing asks for the list."""
    allowed = (*MODES, DEFAULT)
    if not said:
        return "", ""
    first, second = said[0], said[1] if len(said) > 1 else ""
    if first.lower() in allowed and not second:
        return "here", first.lower()
    if not second and (near := get_close_matches(first.lower(), allowed, n=1, cutoff=0.75)):
        raise UsageError(f"There is no mode `{first}`. Did you mean `{near[0]}`?")
    return first, second.lower()
