"""The corpora as a whole: bring them up to date, tell how they are, notice a changed encoder."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from core.domain import Product
from core.errors import ThreadloreError
from core.ingestion.indexer import Indexed, Indexer
from core.ingestion.pregeneration.work import Pregeneration
from core.ingestion.reading import Progress, Reading, Report
from core.memory.community import CommunityMemory
from core.memory.electorate import Electorate
from core.memory.scoring import DAY_SECONDS
from core.models.encoders import Encoders
from core.ports import CorpusStore, MemoryStore, UpkeepStore
from core.retrieval.search import Searcher

log = logging.getLogger(__name__)


class Library:
    """Everything that concerns corpora, for commands, clock and pages."""

    def __init__(
        self,
        product: Product,
        store: CorpusStore,
        memories: MemoryStore,
        indexer: Indexer,
        searcher: Searcher,
        memory: CommunityMemory,
        encoders: Encoders,
        upkeep: UpkeepStore,
        electorate: Electorate,
        pregeneration: Pregeneration | None = None,
    ) -> None:
        self.product = product
        self.encoders = encoders
        self._store = store
        self._memories = memories
        self._indexer = indexer
        self._searcher = searcher
        self._memory = memory
        self._upkeep = upkeep
        self._electorate = electorate
        self.pregeneration = pregeneration

    async def open(self) -> None:
        """Take over what the home holds: mend indexes, load corpora and memory."""
        current = await self.encoders.current()
        corpora = await self._store.live()
        by_release = {name: await self.encoders.named(c.encoder) for name, c in corpora.items()}
        mended = await self._indexer.reconcile()
        if self.pregeneration:
            mended += await self.pregeneration.reconcile()
        if mended:
            log.warning("mended %d entries of the vector and word indexes from the database", mended)
        await self._searcher.load()
        for release in corpora:  # a process may have died between a new corpus and this
            await self._mark_stale(release)
        await self._memory.load(current, by_release)

    async def went_live(self, release: str) -> None:
        """Let a new corpus answer: search it, and mark remembered answers that it overtakes."""
        await self._searcher.load(release)
        await self._mark_stale(release)
        corpora = self._searcher.corpora
        await self._memory.load(
            await self.encoders.current(),
            {name: await self.encoders.named(corpus.encoder) for name, corpus in corpora.items()},
        )

    async def _mark_stale(self, release: str) -> None:
        hashes = await self._store.page_hashes(release)
        stale = await self._memories.mark_stale(release, hashes, self._searcher.corpora[release].built_at)
        if stale:
            log.info("%d remembered answers of %s cite pages that changed", stale, release)

    async def reindex(
        self,
        release: str = "",
        report: Report = lambda _: None,
        rebuild: bool = False,
        pairs: bool = True,
        only: Collection[str] = (),
    ) -> list[Indexed]:
        """Bring one release up to date, or all, the latest first; then their `pairs`, which nobody waits for.

        `only` names sources; the others are left as they were read. Goes on with the other releases when one
        fails, then raises the first error.
        """
        encoder = await self.encoders.current()
        done: list[Indexed] = []
        errors: list[ThreadloreError] = []
        for name in [release] if release else self.order():
            try:
                done.append(await self._indexer.reindex(name, encoder, report, rebuild, only))
            except ThreadloreError as error:
                errors.append(error)
        for indexed in done if pairs else ():
            await self.pregenerate(indexed.corpus.release, report)
        if errors:
            raise errors[0]
        return done

    async def pregenerate(self, release: str = "", report: Report = lambda _: None) -> None:
        """Make pairs of the documents of one release, or of all, where that is on; take out those of none."""
        if self.pregeneration:
            encoder = await self.encoders.current()
            for name in [release] if release else self.order():
                await self.pregeneration.run(name, encoder, report)

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
        """Tell whether there is such a release."""
        return self.product.release(release) is not None

    async def _size(self) -> dict[str, Any]:
        """Return how many pairs each store holds and how that grew, and what waits for an admin."""
        census = await self._upkeep.census()
        stored = sum(entry.kept + entry.waiting for entry in census.stores)
        growth: list[dict[str, Any]] = []
        for day, added in reversed(census.days):
            before = stored - added
            growth.insert(0, {"day": _iso(day * DAY_SECONDS)[:10], "stored": stored, "added": added})
            growth[0]["growth"] = round(added / before, 4) if before else None
            stored = before
        return {
            "stores": [asdict(entry) for entry in census.stores],
            "growth": growth,
            "stale": len(await self._upkeep.stale()),
            "bursts": len(await self._electorate.bursts(time.time())),
        }

    def progress(self) -> list[dict[str, Any]]:
        """Return the index work that is going on, for pages."""
        running = [*self._indexer.running.values()]
        if self.pregeneration:
            running += self.pregeneration.running.values()
        return [_progress(progress) for progress in running]

    async def releases(self) -> list[dict[str, Any]]:
        """Return the releases from old to new, and how ready they are."""
        live = self._searcher.corpora
        found = []
        for release in self.product.releases:
            corpus = live.get(release.name)
            found.append(
                {
                    "name": release.name,
                    "aliases": list(release.aliases),
                    "latest": release == self.product.latest,
                    "ready": corpus is not None,
                    "documents": corpus.documents if corpus else 0,
                    "chunks": corpus.chunks if corpus else 0,
                    "built_at": _iso(corpus.built_at) if corpus else None,
                    "encoder": corpus.encoder if corpus else None,
                }
            )
        return found

    async def status(self) -> dict[str, Any]:
        """Return releases, memory, embedder and what is wrong, for `status`."""
        current = await self.encoders.current()
        releases = await self.releases()
        problems = [
            f"{entry['name']} is not indexed yet; run `threadlore index --release {entry['name']}`."
            for entry in releases
            if not entry["ready"] and entry["name"] not in self._indexer.running
        ]
        problems += [
            f"{entry['name']} was embedded by {entry['encoder']}, EMBEDDING_MODEL is {current.name}; run "
            f"`threadlore index --rebuild`."
            for entry in releases
            if entry["encoder"] not in (None, current.name)
        ]
        runs = await self._store.runs()
        problems += [f"{run.source} of {run.release} failed: {run.error}" for run in runs if run.error]
        memory = await self._memories.counts() | await self._size()
        if memory["stale"]:
            problems.append(
                f"{memory['stale']} remembered answers cite pages that changed; `threadlore memory stale` "
                f"lists them."
            )
        if memory["bursts"]:
            problems.append(
                f"{memory['bursts']} bursts of votes in the last days; `threadlore memory bursts` lists them."
            )
        return {
            "product": self.product.name,
            "releases": releases,
            "sources": [
                {
                    "release": run.release,
                    "source": run.source,
                    "read_at": _iso(run.at),
                    "succeeded_at": _iso(run.succeeded_at) if run.succeeded_at else None,
                    "failures": run.failures,
                    "level": run.level,
                    "skipped": [list(entry) for entry in run.skipped],
                }
                for run in runs
            ],
            "memory": memory,
            "embedder": current.name,
            "indexing": self.progress(),
            "problems": problems,
        }


def _progress(progress: Progress) -> dict[str, Any]:
    return {
        "release": progress.release,
        "source": progress.source,
        "stage": progress.stage,
        "done": progress.done,
        "total": progress.total,
        "rate": progress.rate,
        "eta_s": progress.eta_s,
    }


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
