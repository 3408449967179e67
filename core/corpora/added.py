"""Documentation that is added while the bot runs: checked, read, asked, kept over restarts, removed again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from core.catalogue import Catalogue, SourceSpec
from core.catalogue.added import AddedFile, address_of
from core.catalogue.tables import Schedule
from core.corpora.manager import CorpusManager
from core.domain import Release
from core.errors import ConfigurationError, ThreadloreError, UsageError
from core.ingestion.indexer import Indexed
from core.ingestion.reading import Report
from core.ingestion.sources._public import NotPublic, public_addresses
from core.ports import PlacedSource, Source
from core.text.version_order import normalised

log = logging.getLogger(__name__)

MOST = 10
"""Releases that may be added; more belong into `corpora.toml`."""
REACH_SECONDS = 15.0
"""How long an address may take to answer before it is added."""


def adopt(catalogue: Catalogue, file: AddedFile) -> None:
    """Take over what was added before; what `corpora.toml` has under the same name by now is left out."""
    try:
        kept = file.read()
    except ConfigurationError as error:
        aside = file.set_aside()
        log.error("what admins added cannot be read and was put aside as %s: %s", aside, error)
        return
    for release, spec in kept:
        if _owner(catalogue, release.name) is None:
            _put(catalogue, release, spec)


def _put(catalogue: Catalogue, release: Release, spec: SourceSpec) -> None:
    """Add a release before the product's own: it is older than all of them, and never the latest."""
    catalogue.added[release.name] = spec
    catalogue.product.releases = (release, *catalogue.product.releases)


def _owner(catalogue: Catalogue, name: str) -> Release | None:
    wanted = normalised(name)
    releases = catalogue.product.releases
    return next((r for r in releases if wanted in map(normalised, (r.name, *r.aliases))), None)


CLOSED = "In a cluster sources are those of corpora.toml: write it there, the same for all processes."


class AddedSources:
    """Adds and removes releases whose documentation somebody named by its address.

    `sources` and `schedules` are those that everybody reads; `open_source` builds a source.
    """

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        file: AddedFile,
        sources: MutableMapping[str, Sequence[Source]],
        schedules: dict[tuple[str, str], Schedule],
        corpus_manager: CorpusManager,
        open_source: Callable[[SourceSpec], Source],
        closed: bool = False,
    ) -> None:
        """Nothing is added or removed where it is `closed`: the file is in the home of one process."""
        self._closed = closed
        self._catalogue = catalogue
        self._file = file
        self._sources = sources
        self._schedules = schedules
        self._corpus_manager = corpus_manager
        self._open_source = open_source
        self._turn = asyncio.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the releases that were added."""
        return tuple(self._catalogue.added)

    async def add(self, text: str, private: bool = False) -> str:
        """Add the documentation at an address, to be read by `read`; return the name of its release.

        With `private` a website may be on the own network, which only who has the machine may say. Raises
        UsageError for an address that is none, SourceError for one that does not answer.
        """
        if self._closed:
            raise UsageError(CLOSED)
        address = address_of(text)
        if not private and address.link:
            await refuse_private(address.link)
        async with self._turn:
            if _owner(self._catalogue, address.name) is not None:
                raise UsageError(f"{address.name} is there already; ask about it, or remove it first.")
            if len(self._catalogue.added) >= MOST:
                raise UsageError(f"{MOST} addresses were added; remove one first (`sources remove NAME`).")
            written = self._written()
            keys = dict(address.source) | ({"private": True} if private and "start" in address.source else {})
            self._file.write({**written, address.name: keys})
            try:
                release, spec = next(one for one in self._file.read() if one[0].name == address.name)
                source = self._open_source(spec)
                if isinstance(source, PlacedSource):
                    await asyncio.to_thread(source.reach, REACH_SECONDS)
            except BaseException:  # also when it is cancelled: nothing is to be left of it
                self._file.write(written)
                raise
            _put(self._catalogue, release, spec)
            self._sources[release.name] = [source]
            self._schedules[release.name, source.name] = spec.schedule
        return address.name

    async def read(self, name: str, report: Report = lambda _: None) -> Indexed:
        """Read what was added; what cannot be read at all is taken out again. Raises ThreadloreError."""
        try:
            done = (await self._corpus_manager.reindex(name, report))[0]
        except ThreadloreError:
            await self._take_out(name)
            raise
        return done

    async def remove(self, name: str) -> str:
        """Remove what was added under a name or an address, with its pages; return the name.

        Also removes the pages of a release that `corpora.toml` has no more. Raises UsageError where there is
        none, or while it is being read.
        """
        if name in await self._corpus_manager.kept():
            await self._corpus_manager.remove(name)
            return name
        known = _owner(self._catalogue, name)
        if known is None or known.name not in self._catalogue.added:
            known = _owner(self._catalogue, _named(name))
        if known is None or known.name not in self._catalogue.added:
            there = ", ".join(self.names)
            raise UsageError(f"“{name}” was not added; {f'added are: {there}' if there else 'nothing was'}.")
        if any(work["release"] == known.name for work in self._corpus_manager.progress()):
            raise UsageError(f"{known.name} is being read; remove it once that is done.")
        await self._take_out(known.name)
        return known.name

    async def _take_out(self, name: str) -> None:
        async with self._turn:
            self._catalogue.added.pop(name, None)
            self._file.write(self._written())
            product = self._catalogue.product
            product.releases = tuple(release for release in product.releases if release.name != name)
            for source in self._sources.get(name, ()):
                self._schedules.pop((name, source.name), None)
        await self._corpus_manager.remove(name)
        self._sources.pop(name, None)

    def _written(self) -> dict[str, Mapping[str, Any]]:
        """Return the keys of each source as the file has them."""
        return {name: _keys(spec) for name, spec in self._catalogue.added.items()}


def _keys(spec: SourceSpec) -> dict[str, Any]:
    return {"kind": spec.kind, **spec.options.model_dump(exclude_defaults=True)}


def _named(text: str) -> str:
    try:
        return address_of(text).name
    except UsageError:
        return ""


async def refuse_private(link: str) -> None:
    """Raise UsageError where the host of a link is on the own network, or there is none of that name."""
    parts = urlsplit(link)
    host = parts.hostname or ""
    try:
        await asyncio.to_thread(public_addresses, host, parts.port or 443)
    except OSError:
        raise UsageError(f"There is no host {host} on the internet; check the address.") from None
    except NotPublic:
        raise UsageError(
            f"{host} is on this network, not on the internet. Only the person who runs the bot can add it: "
            "`threadlore sources add ADDRESS --private`, or corpora.toml."
        ) from None
