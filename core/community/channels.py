"""How channels are served: what `corpora.toml` says, what was set while the bot ran, and pauses."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, get_args

from core.catalogue import ChannelSettings, Mode
from core.community.cached_rows import CachedRows
from core.errors import UsageError
from core.ports.about import BOT, FORGOTTEN, Act, AuditStore

MODES: tuple[str, ...] = get_args(Mode)
"""Every mode that a channel can have."""
DEFAULT = "default"
"""What takes a mode back that was set while the bot ran: `corpora.toml` counts again."""
EVERYWHERE = ""
"""The place of a pause that holds for every channel."""


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


class ChannelModes:
    """The mode of every channel: what was set while the bot ran, else what `corpora.toml` says."""

    def __init__(
        self,
        store: ChannelStore,
        configured: Mapping[str, ChannelSettings],
        clock: Callable[[], float] = time.time,
        audit: AuditStore | None = None,
    ) -> None:
        """Read modes from the store; in `audit` it is written down when the bot itself sets one."""
        self._store = store
        self._configured = configured
        self._clock = clock
        self._audit = audit
        self._set = CachedRows(self._read)
        self._supposed: dict[str, str] = {}

    async def mode(self, channel: str) -> str:
        """Return how a channel (`slack:C1`) is served: `mentions`, `off`, `questions` or `forum`."""
        given = (await self._set.rows()).get(channel)
        return given.mode if given else self.configured(channel)

    def configured(self, channel: str) -> str:
        """Return the mode that `corpora.toml` gives a channel."""
        given = self._configured.get(channel)
        return given.mode if given else self._supposed.get(channel, ChannelSettings().mode)

    def suppose(self, channel: str, mode: str) -> None:
        """Say how a channel is served where neither `corpora.toml` nor anybody says so."""
        self._supposed[channel] = mode

    async def set_mode(self, channel: str, mode: str, by: str, why: str = "") -> None:
        """Set a channel's mode from now on; `default` goes back to what `corpora.toml` says.

        Raises UsageError for a mode that there is not.
        """
        if mode == DEFAULT:
            await self._store.unset_mode(channel)
            self._set.set(channel, None)
            return
        if mode not in MODES:
            raise UsageError(f"There is no mode `{mode}`; choose one of: {', '.join((*MODES, DEFAULT))}.")
        given = ModeSet(channel, mode, by, why, self._clock())
        await self._store.set_mode(given)
        self._set.set(channel, given)
        if by == BOT and self._audit is not None:
            outcome = f"done: {why}" if why else "done"
            await self._audit.note(Act(given.at, BOT, channel, f"mode {mode}", outcome))

    async def given(self) -> tuple[ModeSet, ...]:
        """Return the modes that were set while the bot ran."""
        return tuple((await self._set.rows()).values())

    async def all(self) -> dict[str, str]:
        """Return the mode of every channel that has one of its own, by channel."""
        named = {channel: settings.mode for channel, settings in self._configured.items()}
        return named | {given.channel: given.mode for given in await self.given()}

    async def unname(self, accounts: Collection[str]) -> None:
        """Forget that these people set a mode."""
        for channel, given in list((await self._set.rows()).items()):
            if given.by in accounts:
                self._set.set(channel, replace(given, by=FORGOTTEN))

    def reread(self) -> None:
        """Read modes from the store again, where another process may have set one."""
        self._set.reread()

    async def _read(self) -> dict[str, ModeSet]:
        return {given.channel: given for given in await self._store.modes()}


class Pauses:
    """Where no new questions are answered at the moment; what is over counts no more."""

    def __init__(self, store: ChannelStore, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._begun = CachedRows(self._read)

    async def of(self, channel: str) -> Pause | None:
        """Return the pause that holds for a channel (`slack:C1`) now, the general one first."""
        running = {pause.place: pause for pause in await self.running()}
        return running.get(EVERYWHERE) or running.get(channel)

    async def running(self) -> tuple[Pause, ...]:
        """Return every pause that holds now, the general one first."""
        known, now = await self._begun.rows(), self._clock()
        return tuple(pause for _, pause in sorted(known.items()) if pause.holds(now))

    async def begin(self, place: str, minutes: float, by: str, why: str = "") -> Pause:
        """Pause a channel, or everything (`EVERYWHERE`), for some minutes; 0 until further notice."""
        now = self._clock()
        pause = Pause(place, now + minutes * 60 if minutes else 0.0, by, why, now)
        await self._store.pause(pause)
        self._begun.set(place, pause)
        return pause

    async def end(self, place: str) -> bool:
        """End the pause of a place; return False if none was running."""
        was_running = any(pause.place == place for pause in await self.running())
        await self._store.resume(place)
        self._begun.set(place, None)
        return was_running

    async def reread(self, accounts: Collection[str]) -> None:
        """Read the pauses again, after people who set one were forgotten, or another process set one."""
        self._begun.reread()

    async def _read(self) -> dict[str, Pause]:
        return {pause.place: pause for pause in await self._store.pauses()}
