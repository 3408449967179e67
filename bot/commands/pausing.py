"""What `pause`, `resume` and `mode` read, do and say, wherever they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from bot.ports.platforms import saying
from bot.rendering.status import mode_line, pause_line
from core.community.overrides import DEFAULT, MODES, ChannelModes, Pauses
from core.errors import UsageError
from core.ports.channels import ModeSet, Pause

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


@dataclass(frozen=True, slots=True)
class Paused:
    """A pause that began; `ends` is the command that ends it."""

    pause: Pause
    ends: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where questions are answered again: everywhere is ""; None where nothing was paused there.

    `paused` are the pauses that hold nevertheless.
    """

    place: str | None
    paused: tuple[Pause, ...] = ()


@dataclass(frozen=True, slots=True)
class Served:
    """How a channel is served: the mode that it was given, if any, and that of `corpora.toml`."""

    channel: str
    given: ModeSet | None
    configured: str


async def begin_pause(pauses: Pauses, place: str, said: str, by: str, ends: str) -> Paused:
    """Pause a channel or everything, as the words after the command say."""
    minutes, why = duration(said)
    return Paused(await pauses.begin(place, minutes, by, why), ends)


async def end_pause(pauses: Pauses, place: str, or_else: str = "") -> Resumed:
    """End the pause of a place, or where there is none that of another one."""
    for ended in (place, or_else) if or_else else (place,):
        if await pauses.end(ended):
            return Resumed(ended)
    return Resumed(None, tuple(await pauses.running()))


def paused_text(paused: Paused) -> str:
    """Say that there is a pause, and what ends it."""
    before = " before" if paused.pause.until else ""
    return f"Paused: {pause_line(paused.pause)}. `{paused.ends}` ends it{before}."


def resumed_text(resumed: Resumed) -> str:
    """Say where questions are answered again, or what is paused instead."""
    if resumed.place is not None:
        where = f" in `{resumed.place}`" if resumed.place else ""
        return f"I answer questions{where} again."
    if not resumed.paused:
        return "Nothing is paused."
    return "\n".join(["That is not paused. Paused:", *(f"- {pause_line(pause)}" for pause in resumed.paused)])


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
    plain = said if platform in saying("CHANNELS_HAVE_IDS") else said.removeprefix("#")
    if platform and re.fullmatch(r"[\w-]+", plain):
        return f"{platform}:{plain}"
    raise UsageError(
        f"I can't tell which channel `{said}` is; write its id, such as `slack:C0123`, or `here`."
    )


async def change_mode(modes: ChannelModes, channel: str, mode: str, by: str) -> Served:
    """Set the mode of a channel where one is named; return how it is served."""
    if mode:
        await modes.set_mode(channel, mode, by)
    given = next((given for given in await modes.given() if given.channel == channel), None)
    return Served(channel, given, modes.configured(channel))


async def all_served(modes: ChannelModes, here: str = "") -> list[Served]:
    """Return the channels that have a mode of their own, this one first."""
    given = {entry.channel: entry for entry in await modes.given()}
    known = sorted(await modes.all())
    order = [*([here] if here else []), *(channel for channel in known if channel != here)]
    return [Served(channel, given.get(channel), modes.configured(channel)) for channel in order]


def served_text(served: Served | Sequence[Served]) -> str:
    """Say how a channel is served, or list how several are."""
    if isinstance(served, Served):
        return mode_line(served.channel, served.given, served.configured)
    lines = [f"- {served_text(one)}" for one in served]
    return "\n".join(lines) or "No channel has its own mode: the bot answers only when mentioned."


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
