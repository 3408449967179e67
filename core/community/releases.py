"""The release that is meant where a question names none: what people use, and what channels are about."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from core.catalogue import ChannelSettings
from core.community.cached_rows import CachedRows
from core.domain import Product
from core.errors import UsageError
from core.ports.about import FORGOTTEN
from core.privacy.names import Names

LATEST = "latest"
"""What takes a person's release back: the latest one counts again."""
DEFAULT = "default"
"""What takes a channel's release back: `corpora.toml` counts again."""


@dataclass(frozen=True, slots=True)
class ReleaseSet:
    """A release that a channel (`slack:C1`) was given while the bot ran; `at` in seconds since the epoch."""

    channel: str
    release: str
    by: str
    at: float


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
        raise UsageError(f"There is no release `{release}`. Choose one of: {known}, or `{back}`.")
