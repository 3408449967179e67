"""Let a new corpus answer: search it, mark the remembered answers that it overtakes, settle memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from core.errors import EncoderError
from core.memory.community import CommunityMemory
from core.models.embedding.encoder import Encoders
from core.ports import BUILD, Corpus, CorpusStore, Encoder, MemoryStore
from core.ports.cluster import CORPORA, Cluster, OnlyProcess
from core.retrieval.search import Searcher

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
