"""What is kept of what people set while the bot ran: modes and releases of channels, pauses, own releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ModeSet:
    """A mode that was given to a channel (`slack:C1`) while the bot ran; `at` in seconds since the epoch.

    `by` is a person's account, or `bot` where the bot did it itself; `why` is a sentence or empty.
    """

    channel: str
    mode: str
    by: str
    why: str
    at: float


@dataclass(frozen=True, slots=True)
class Pause:
    """No new questions are answered in a channel, or anywhere (`place` is empty); times in epoch seconds.

    `until` is 0 where it holds until somebody ends it.
    """

    place: str
    until: float
    by: str
    why: str
    at: float

    def holds(self, now: float) -> bool:
        """Return True if it is not over yet."""
        return not self.until or now < self.until


@dataclass(frozen=True, slots=True)
class ReleaseSet:
    """A release that a channel (`slack:C1`) was given while the bot ran; `at` in seconds since the epoch."""

    channel: str
    release: str
    by: str
    at: float


@dataclass(frozen=True, slots=True)
class Moved:
    """A channel (`slack:G1`) that has another id from now on; `links` is how those to its messages begin."""

    old: str
    new: str
    links: tuple[str, str] = ("", "")


class MoveStore(Protocol):
    """Lets what is kept of a channel follow its id."""

    async def move(self, moved: Moved) -> tuple[str, ...]:
        """Let everything that is kept of a channel stand under its new id; return the ids of its pairs.

        All of it at once, or nothing. The pairs have no place in memory then. What was not answered yet may
        be answered by any process. Twice is as once.
        """


class ChannelStore(Protocol):
    """Keeps modes that were set while the bot ran, and pauses, over restarts."""

    async def modes(self) -> tuple[ModeSet, ...]:
        """Return every mode that was set, in order of channel."""

    async def set_mode(self, given: ModeSet) -> None:
        """Keep a channel's mode in place of the one before."""

    async def unset_mode(self, channel: str) -> bool:
        """Forget the mode of a channel; return False if there was none."""

    async def pauses(self) -> tuple[Pause, ...]:
        """Return every pause that was not ended, in order of place; those that are over are among them."""

    async def pause(self, pause: Pause) -> None:
        """Keep a pause in place of the one before of the same place."""

    async def resume(self, place: str) -> bool:
        """Forget the pause of a place; return False if there was none."""


class ReleaseStore(Protocol):
    """Keeps which release people use and channels were given, over restarts."""

    async def of_people(self) -> dict[str, str]:
        """Return the release that each person uses, by account."""

    async def choose(self, person: str, release: str, at: float) -> None:
        """Keep the release that a person uses; an empty one forgets it."""

    async def of_channels(self) -> tuple[ReleaseSet, ...]:
        """Return the releases that channels were given, in order of channel."""

    async def give(self, given: ReleaseSet) -> None:
        """Keep a channel's release in place of the one before; an empty one forgets it."""
