"""Live channels as sources: who reads them, and how words are removed from them at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any

from core.corpora.manager import CorpusManager
from core.domain import MessageRef
from core.errors import ThreadloreError
from core.ingestion.live.channels import LiveChannels
from core.ingestion.sources.history.source import HistorySource
from core.ports import PeoplesSource, Source

log = logging.getLogger(__name__)

Sources = MutableMapping[str, Sequence[Source]]
"""The sources of each release; admins may add some while the bot runs."""


class HistoryUpkeep:
    """Reads sources of kind `history` again where something in them must go, and notes what changed.

    `scrub` overwrites what was removed from the database and the files of the vector index; `made_anew` is
    told whose words are in no page any more.
    """

    def __init__(
        self,
        *,
        live: LiveChannels,
        sources: Sources,
        corpus_manager: CorpusManager,
        scrub: Callable[[], Awaitable[None]],
        made_anew: Callable[[Collection[str]], Awaitable[None]],
    ) -> None:
        self._live, self._corpus_manager, self._scrub, self._made_anew = (
            live,
            corpus_manager,
            scrub,
            made_anew,
        )
        self._sources = {
            release: [source for source in all_ if isinstance(source, HistorySource)]
            for release, all_ in sources.items()
        }
        self._peoples = {
            release: [source for source in all_ if isinstance(source, PeoplesSource)]
            for release, all_ in sources.items()
        }
        self._channels = {key for all_ in self._sources.values() for s in all_ for key in s.channels}
        self._tasks: set[asyncio.Task[None]] = set()

    def changed(self, ref: MessageRef) -> None:
        """Note a message that was edited, deleted or marked, so that the next reading looks at it."""
        key = f"{ref.platform}:{ref.channel}"
        if ref.message and key in self._channels:
            self._live.changed(key, ref.message, ref.thread)

    async def person_gone(self, accounts: Collection[str]) -> None:
        """Start removing what a person wrote who opted out or asked to be forgotten.

        The platforms are not asked for that: what was read of their channels is kept.
        """
        for source in (s for all_ in self._peoples.values() for s in all_):
            source.asks = False
        names = {release: [s.name for s in all_] for release, all_ in self._peoples.items()}
        await self._begin(names, tuple(accounts))

    def written(self, accounts: Collection[str]) -> list[dict[str, Any]]:
        """Return the messages of a person in the copies of channels, the latest first; blocking."""
        copies = {(key, s.extent) for all_ in self._sources.values() for s in all_ for key in s.channels}
        found = [
            {"at": post.at, "channel": key, "text": post.text, "url": post.url}
            for key, reach in copies
            for account in accounts
            if account.partition(":")[0] == key.partition(":")[0]
            for post in self._live.written(key, reach, account.partition(":")[2])
        ]
        return sorted(found, key=lambda row: -row["at"])

    async def became_private(self, channel: str) -> None:
        """Start removing a channel (`slack:C1`) that is no longer public."""
        if channel in self._channels:
            self._live.became_private(channel)
            await self._begin(
                {
                    release: [s.name for s in all_ if channel in s.channels]
                    for release, all_ in self._sources.items()
                }
            )

    async def gone_elsewhere(self) -> None:
        """Take out of the copies in this home what somebody wrote whom another process has forgotten.

        The process that forgot them reads the sources again.
        """
        for source in (source for all_ in self._peoples.values() for source in all_):
            try:
                await asyncio.to_thread(source.withhold)
            except OSError as error:
                log.error("what people said is left in the copy of a source: %s", error.strerror)

    async def closed_elsewhere(self, channel: str) -> None:
        """Remove the copies of a channel that another process of a cluster knows to be private."""
        if channel in self._channels:
            self._live.became_private(channel)
            reaches = {s.extent for all_ in self._sources.values() for s in all_ if channel in s.channels}
            await asyncio.to_thread(self._live.drop, channel, reaches)

    async def close(self, seconds: float) -> None:
        """Wait so many seconds for running removals; the next reading does the rest."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._live.stop()

    async def _begin(self, names: Mapping[str, Sequence[str]], forgotten: Collection[str] = ()) -> None:
        if not any(names.values()):
            await self._made_anew(forgotten)
        else:
            task = asyncio.create_task(self._read({r: some for r, some in names.items() if some}, forgotten))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("what people said could not be read again", exc_info=error)

    def _withhold(self) -> None:
        for source in (s for all_ in self._sources.values() for s in all_):
            self._live.withhold(source.channels, source.extent, source.leaves_out)

    async def _read(self, names: Mapping[str, Sequence[str]], forgotten: Collection[str]) -> None:
        try:  # at once, and also where the source is not read again for now
            await asyncio.to_thread(self._withhold)
        except OSError as error:
            log.error("what people said is left in a copy of a channel: %s", error.strerror)
        ready = {entry["name"] for entry in await self._corpus_manager.releases() if entry["ready"]}
        failed = False
        for release in [name for name in names if name in ready]:
            try:
                [done] = await self._corpus_manager.reindex(release, only=names[release])
                failed = failed or bool(done.reading.failed)
            except ThreadloreError as error:
                failed = True
                log.error("what people said could not be read again for %s: %s", release, error)
        if not failed:
            await self._made_anew(forgotten)
        try:
            await self._corpus_manager.rewrite_words()
            await self._scrub()
        except ThreadloreError as error:
            log.error("what people said is removed, but not overwritten yet: %s", error)
