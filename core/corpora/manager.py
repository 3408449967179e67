"""The corpora as a whole: update them, let them go live, report on them, notice a changed encoder.

A new corpus that goes live is searched from then on, and the remembered answers that it overtakes are marked.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from core.corpora.status import memory_size, problems, progress_row, release_row, source_rows
from core.domain import Product
from core.errors import EncoderError, ThreadloreError
from core.ingestion.indexer import Indexed, Indexer
from core.ingestion.pregeneration.work import Pregeneration
from core.ingestion.reading import Reading, Report
from core.memory.community import CommunityMemory
from core.memory.scoring import VoteWeighting
from core.models.embedding.encoder import Encoders
from core.ports import BUILD, Corpus, CorpusStore, Encoder, MemoryStore, SourceRun, UpkeepStore
from core.ports.cluster import CORPORA, Cluster, OnlyProcess
from core.retrieval.search import Searcher
from core.text.times import iso

log = logging.getLogger(__name__)


async def encoders_of(corpora: Mapping[str, Corpus], encoders: Encoders) -> dict[str, Encoder]:
    """Return by release the encoder that made its corpus; the current one where that cannot be had.

    Such a corpus cannot be searched, but it can be made anew, and memory goes on meanwhile.
    """
    found = {}
    for release, corpus in corpora.items():
        try:
            found[release] = await encoders.named(corpus.encoder)
        except EncoderError as error:
            log.error("the corpus of %s cannot be searched until it is rebuilt: %s", release, error)
            found[release] = await encoders.current()
    return found


SETTLED_SECONDS = 600.0
"""Seconds after which no answer is written any more that cites the corpus of before."""


class GoingLive:
    """Lets corpora answer, for whoever builds them."""

    def __init__(
        self,
        *,
        store: CorpusStore,
        memories: MemoryStore,
        searcher: Searcher,
        memory: CommunityMemory,
        encoders: Encoders,
        cluster: Cluster | None = None,
    ) -> None:
        self._cluster = cluster or OnlyProcess()
        self._store = store
        self._memories = memories
        self._searcher = searcher
        self._memory = memory
        self._encoders = encoders
        self._settled: dict[str, float] = {}

    async def went_live(self, release: str) -> None:
        """Let a new corpus answer: search it, and mark remembered answers that it overtakes."""
        await self._searcher.load(release)
        await self._mark_stale(release)
        corpora = self._searcher.corpora
        await self._memory.load(await self._encoders.current(), await encoders_of(corpora, self._encoders))
        await self._cluster.tell(CORPORA, release)

    async def left(self, release: str) -> None:
        """Search a corpus that was removed no longer, in any process."""
        await self._searcher.load(release)
        await self._cluster.tell(CORPORA, release)

    async def settle(self, starting: bool = False) -> None:
        """Mark the remembered answers that a new corpus overtakes once more, where that may be needed.

        A process may have died between a new corpus and its marking, and an answer that was under way
        meanwhile may cite the corpus of before. So it is done some minutes after a corpus went live, and at
        a start that comes before that; never where nothing changed.
        """
        built = {run.release: run for run in await self._store.runs() if run.source == BUILD}
        for release, corpus in self._searcher.corpora.items():
            run, since = built.get(release), time.time() - corpus.built_at
            marked_at = max(run.succeeded_at if run else 0.0, self._settled.get(release, 0.0))
            if marked_at >= corpus.built_at + SETTLED_SECONDS or (since < SETTLED_SECONDS and not starting):
                continue
            await self._mark_stale(release)
            self._settled[release] = time.time()
            if run is None or not run.error:
                await self._store.note_run(release, BUILD, "", ())

    async def _mark_stale(self, release: str) -> None:
        hashes = await self._store.page_hashes(release)
        stale = await self._memories.mark_stale(release, hashes, self._searcher.corpora[release].built_at)
        if stale:
            log.info("%d remembered answers of %s cite pages that changed", stale, release)


class CorpusManager:
    """Manages the corpora for commands, the schedule and pages."""

    def __init__(
        self,
        *,
        product: Product,
        store: CorpusStore,
        memories: MemoryStore,
        indexer: Indexer,
        going_live: GoingLive,
        searcher: Searcher,
        memory: CommunityMemory,
        encoders: Encoders,
        upkeep: UpkeepStore,
        vote_weighting: VoteWeighting,
        pregeneration: Pregeneration | None = None,
    ) -> None:
        self.product = product
        self.encoders = encoders
        self._store = store
        self._memories = memories
        self._indexer = indexer
        self.going_live = going_live
        self._searcher = searcher
        self._memory = memory
        self._upkeep = upkeep
        self._vote_weighting = vote_weighting
        self.pregeneration = pregeneration

    async def open(self) -> None:
        """Take over what the home holds: mend indexes, load corpora and memory."""
        current = await self.encoders.current()
        mended = await self._indexer.reconcile()
        if self.pregeneration:
            mended += await self.pregeneration.reconcile()
        if mended:
            log.warning("repaired %d entries of the vector and word indexes from the database", mended)
        await self._searcher.load()
        for release in await self.kept():
            log.warning(
                "%s is not in corpora.toml any more, so its pages and what is remembered of it do not answer",
                release,
            )
        await self.going_live.settle(starting=True)
        await self._memory.load(current, await encoders_of(self._searcher.corpora, self.encoders))

    async def settle(self) -> None:
        """Mark the remembered answers that a new corpus overtakes once more, where that may be needed."""
        await self.going_live.settle()

    async def reindex(
        self,
        release: str = "",
        report: Report = lambda _: None,
        rebuild: bool = False,
        pairs: bool = True,
        only: Collection[str] = (),
        windows: bool = True,
    ) -> list[Indexed]:
        """Bring one release up to date, or all, the latest first; then their `pairs`, which nobody waits for.

        `only` names sources; the others are left as they were read. Goes on with the other releases when one
        fails, then raises the first error. Without `windows` a first corpus is left without them, for
        `complete` to embed.
        """
        done, failed = await self.reindexed(release, report, rebuild, pairs, only, windows)
        if failed:
            raise failed[0][1]
        return done

    async def reindexed(
        self,
        release: str = "",
        report: Report = lambda _: None,
        rebuild: bool = False,
        pairs: bool = True,
        only: Collection[str] = (),
        windows: bool = True,
    ) -> tuple[list[Indexed], list[tuple[str, ThreadloreError]]]:
        """Do as `reindex` does; return what was done, and each release that failed with its error."""
        encoder = await self.encoders.current()
        done: list[Indexed] = []
        failed: list[tuple[str, ThreadloreError]] = []
        first = set(self.order()) - (await self._store.live()).keys()
        # each release answers soon: where several are made for the first time, their windows come last
        at_once = windows and (bool(release) or len(first) < 2)
        for name in [release] if release else self.order():
            try:
                done.append(await self._indexer.reindex(name, encoder, report, rebuild, only, at_once))
            except ThreadloreError as error:
                failed.append((name, error))
        for at, indexed in enumerate(list(done) if windows and not at_once else ()):
            began = time.monotonic()
            try:
                await self.complete(indexed.corpus.release, report)
                done[at] = replace(indexed, seconds=indexed.seconds + time.monotonic() - began)
            except ThreadloreError as error:
                failed.append((indexed.corpus.release, error))
        for indexed in done if pairs else ():
            try:
                await self.pregenerate(indexed.corpus.release, report)
            except ThreadloreError as error:
                failed.append((indexed.corpus.release, error))
        return done, failed

    async def repair(self) -> dict[str, int]:
        """Make anew what derives from the database and is not as it should be; tell how much of each.

        That are vectors of passages, both indexes, the corpora that are searched, and memory's placements.
        """
        embedded, mended = await self._indexer.repair(self.encoders.named)
        if self.pregeneration:
            mended += await self.pregeneration.reconcile()
        live, searched = await self._searcher.live(), self._searcher.corpora
        stale = sum(name not in searched or searched[name] != corpus for name, corpus in live.items())
        await self._searcher.load()
        placements = len(await self._memory.verify())
        if placements:
            await self._memory.rebuild()
        return {
            "passages embedded": embedded,
            "entries of the indexes": mended,
            "corpora read again": stale,
            "wrong places in memory": placements,
        }

    async def follow(self, changed: bool = True, rewrite: bool = False) -> None:
        """Let the corpora answer that another process of a cluster made; nothing is embedded for that.

        Nothing is done where nothing `changed`, as far as the store tells. With `rewrite` no words of what is
        gone are left in files.
        """
        if not (changed or rewrite) and await self._searcher.live() == self._searcher.corpora:
            return
        await self._indexer.follow()
        if self.pregeneration:
            await self.pregeneration.reconcile()
        await self._searcher.load()
        if rewrite:
            await self.rewrite_words()
        corpora = self._searcher.corpora
        await self._memory.load(await self.encoders.current(), await encoders_of(corpora, self.encoders))

    async def remove(self, release: str) -> None:
        """Remove the corpus of a release that there is no more; votes and remembered answers stay."""
        await self._indexer.remove(release)
        await self.going_live.left(release)

    async def kept(self) -> dict[str, int]:
        """Return the releases that there are no more, with the pages that are kept and do not answer."""
        live = await self._store.live()
        return {release: corpus.documents for release, corpus in live.items() if not self.known(release)}

    async def sources_gone(self, release: str) -> set[str]:
        """Return the sources of a release's live corpus that there are no more: a reindex leaves them out."""
        read = {document.source for document in await self._store.manifest(release)}
        return read - self._indexer.names(release)

    async def complete(self, release: str = "", report: Report = lambda _: None) -> None:
        """Embed what the second look needs of one release, or of all, the latest first, where it lacks."""
        encoder = await self.encoders.current()
        for name in [release] if release else self.order():
            await self._indexer.complete(name, encoder, report)

    async def pregenerate(self, release: str = "", report: Report = lambda _: None) -> None:
        """Make pairs of the documents of one release, or of all, where that is on; take out those of none."""
        if self.pregeneration:
            encoder = await self.encoders.current()
            for name in [release] if release else self.order():
                await self.pregeneration.run(name, encoder, report)

    async def remake_pairs(self, release: str = "", report: Report = lambda _: None) -> None:
        """Make anew the pairs of documents that changed, of one release or all, by who made them before."""
        if self.pregeneration:
            encoder = await self.encoders.current()
            for name in [release] if release else self.order():
                await self.pregeneration.remake(name, encoder, report)

    async def rewrite_words(self) -> None:
        """Leave nothing in the files of the word index of documents that are gone."""
        await self._indexer.rewrite()
        if self.pregeneration:
            await self.pregeneration.rewrite()

    async def plan(self, release: str = "") -> dict[str, Reading]:
        """Tell what a reindex would change, by release; nothing is written."""
        encoder = await self.encoders.current()
        return {
            name: await self._indexer.plan(name, encoder) for name in ([release] if release else self.order())
        }

    def order(self) -> list[str]:
        """Return the releases, the latest first, then from new to old."""
        names = [release.name for release in reversed(self.product.releases)]
        latest = self.product.latest.name
        return [latest, *(name for name in names if name != latest)]

    def known(self, release: str) -> bool:
        """Return True if there is such a release."""
        return self.product.release(release) is not None

    async def _size(self) -> dict[str, Any]:
        """Return how many pairs each store holds and how that grew, and what waits for an admin."""
        return {
            **memory_size(await self._upkeep.census()),
            "stale": len(await self._upkeep.stale()),
            "bursts": len(await self._vote_weighting.bursts(time.time())),
        }

    async def _runs(self) -> list[SourceRun]:
        """Return how the sources that there are now were read, and how each corpus was built of them."""
        known = {release.name: self._indexer.names(release.name) for release in self.product.releases}
        return [
            run
            for run in await self._store.runs()
            if run.source == BUILD or run.source in known.get(run.release, ())
        ]

    def progress(self) -> list[dict[str, Any]]:
        """Return the index work that is going on, for pages."""
        running = [*self._indexer.running.values()]
        if self.pregeneration:
            running += self.pregeneration.running.values()
        return [progress_row(progress) for progress in running]

    def ended(self) -> list[dict[str, Any]]:
        """Return how the last reindex of each release ended since this process began, for pages."""
        return [
            progress_row(progress) | {"error": progress.error, "at": iso(progress.ended_at)}
            for progress in self._indexer.ended.values()
        ]

    async def releases(self) -> list[dict[str, Any]]:
        """Return the releases from old to new, and how ready they are."""
        live = self._searcher.corpora
        return [
            release_row(
                release, self.product, live.get(release.name), release.name in self._searcher.learning
            )
            for release in self.product.releases
        ]

    async def status(self) -> dict[str, Any]:
        """Return releases, memory, embedder and what is wrong, for `status`."""
        current = await self.encoders.current()
        releases = await self.releases()
        runs = await self._runs()
        memory = await self._memories.counts() | await self._size()
        return {
            "product": self.product.name,
            "releases": releases,
            "sources": source_rows(runs),
            "memory": memory,
            "embedder": current.name,
            "kept": await self.kept(),
            "indexing": self.progress(),
            "problems": problems(releases, self._indexer.running, current.name, runs, memory),
        }
