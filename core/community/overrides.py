"""What people set while the bot runs, before what `corpora.toml` says: modes, pauses, default releases."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Generic, TypeVar, get_args

from core.catalogue import ChannelSettings, Mode
from core.domain import Product
from core.errors import UsageError
from core.languages import _
from core.ports.about import BOT, FORGOTTEN, Act, AuditStore
from core.ports.channels import ChannelStore, ModeSet, Pause, ReleaseSet, ReleaseStore
from core.privacy.names import Names

MODES: tuple[str, ...] = get_args(Mode)
"""Every mode that a channel can have."""
DEFAULT = "default"
"""What takes back what a channel was given while the bot ran: `corpora.toml` counts again."""
LATEST = "latest"
"""What takes a person's release back: the latest one counts again."""
EVERYWHERE = ""
"""The place of a pause that holds for every channel."""

Row = TypeVar("Row")


class CachedRows(Generic[Row]):
    """Rows of a store by key.

    They are read when somebody first asks. A read that began before something was set, or before the store
    was said to have changed, may hold what stood there before: it is not taken, and the store is read again.
    """

    def __init__(self, read: Callable[[], Awaitable[Mapping[str, Row]]]) -> None:
        self._read = read
        self._rows: dict[str, Row] | None = None
        self._state = object()
        """Another one since the store was last written, or said to have changed."""

    async def rows(self) -> Mapping[str, Row]:
        """Return every row by its key."""
        while self._rows is None:
            state, read = self._state, await self._read()
            if self._rows is None and state is self._state:
                self._rows = dict(read)
        return self._rows

    def set(self, key: str, row: Row | None) -> None:
        """Hold what was just written to the store under a key, None for what was removed."""
        self._state = object()
        if self._rows is not None and row is None:
            self._rows.pop(key, None)
        elif self._rows is not None and row is not None:
            self._rows[key] = row

    def reread(self) -> None:
        """Read the store again, which another process may have changed."""
        self._rows, self._state = None, object()


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


class DefaultReleases:
    """Knows the release of every channel and of everybody who chose one."""

    def __init__(
        self,
        store: ReleaseStore,
        configured: Mapping[str, ChannelSettings],
        product: Product,
        names: Names,
        lookup: Callable[[str, Product], str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Read from the store what was chosen; `lookup` returns the release that a spelling stands for."""
        self._store = store
        self._configured = configured
        self._product = product
        self._names = names
        self._lookup = lookup
        self._clock = clock
        self._people = CachedRows(store.of_people)
        self._channels = CachedRows(self._given)

    async def of_channel(self, channel: str) -> str:
        """Return the release that a channel is about; empty where nobody says so."""
        given = (await self.given()).get(channel)
        return given.release if given else self.configured(channel)

    def configured(self, channel: str) -> str:
        """Return the release that `corpora.toml` gives a channel."""
        return self._configured.get(channel, ChannelSettings()).release

    async def of_person(self, account: str) -> str:
        """Return the release that somebody uses, whichever of their accounts chose it; empty for none."""
        chosen = await self._people.rows()
        accounts = (account, *sorted(self._names.everyone(account)))
        return next((release for one in accounts if (release := self._known(chosen.get(one, "")))), "")

    async def choose(self, account: str, release: str) -> str:
        """Set the release that somebody uses, or take it back with `latest`; return its name, empty for none.

        Raises UsageError for a release that there is not.
        """
        chosen, name = await self._people.rows(), self._named(release, LATEST)
        for one in {account, *self._names.everyone(account)} & {account, *chosen}:
            kept = name if one == account else ""
            await self._store.choose(one, kept, self._clock())
            self._people.set(one, kept or None)
        return name

    async def given(self) -> dict[str, ReleaseSet]:
        """Return the releases that channels were given while the bot ran, by channel."""
        channels = await self._channels.rows()
        return {channel: given for channel, given in channels.items() if self._known(given.release)}

    async def give(self, channel: str, release: str, by: str) -> str:
        """Set a channel's release, or take it back with `default`; return what it is about from now on.

        Raises UsageError for a release that there is not.
        """
        given = ReleaseSet(channel, self._named(release, DEFAULT), by, self._clock())
        await self._store.give(given)
        self._channels.set(channel, given if given.release else None)
        return await self.of_channel(channel)

    async def unname(self, accounts: Collection[str]) -> None:
        """Forget which release these people use, and that they gave a channel one."""
        for account in set(accounts) & set(await self._people.rows()):
            self._people.set(account, None)
        for channel, given in list((await self._channels.rows()).items()):
            if given.by in accounts:
                self._channels.set(channel, replace(given, by=FORGOTTEN))

    def reread(self) -> None:
        """Read from the store again what was chosen, where another process may have changed it."""
        self._people.reread()
        self._channels.reread()

    async def _given(self) -> dict[str, ReleaseSet]:
        return {given.channel: given for given in await self._store.of_channels()}

    def _known(self, release: str) -> str:
        """Return a release that is there yet; empty for one that the catalogue has no more."""
        return release if self._product.release(release) else ""

    def _named(self, release: str, back: str) -> str:
        if release.casefold() == back:
            return ""
        if name := self._lookup(release, self._product):
            return name
        known = ", ".join(one.name for one in reversed(self._product.releases))
        told = _("There is no release `{release}`. Choose one of: {known}, or `{back}`.")
        raise UsageError(told.format(release=release, known=known, back=back))
