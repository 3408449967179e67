"""From sources to a live corpus: read, parse, chunk, embed beside the live one, then swap.

SQL holds everything first; vector and word indexes get the new chunks before the swap and lose the
old ones after it. Until the swap, and after a failure at any moment, the old corpus serves, because
searches only return chunks that are live. What was embedded is never embedded again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.errors import EncoderChanged, SourceError, StorageError, ThreadloreError
from core.ingestion.embedding import Embedding
from core.ingestion.parsing import UNLIMITED, Quota
from core.ingestion.reading import Noted, Progress, Reader, Reading, Report
from core.ports import (
    BUILD,
    Corpus,
    Encoder,
    SearchRow,
    Source,
    Workers,
    pairs_collection,
)
from core.ports.cluster import CORPORA, Cluster, OnlyProcess
from core.ports.corpora import Indexes
from core.system.offload import aside

log = logging.getLogger(__name__)

FOLLOW_SECONDS = 5.0
"""Time in which the other processes of a cluster let a new corpus answer, before the old one is removed."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a reindex did."""

    corpus: Corpus
    reading: Reading
    embedded: int
    seconds: float


class Indexer:
    """Builds the corpus of one release at a time."""

    def __init__(
        self,
        indexes: Indexes,
        sources: Callable[[str], Sequence[Source]],
        on_live: Callable[[str], Awaitable[None]],
        workers: Workers,
        quota: Quota = UNLIMITED,
        cluster: Cluster | None = None,
    ) -> None:
        self._cluster = cluster or OnlyProcess()
        self._store = store = indexes.store
        self._vectors = indexes.vectors
        self._words = indexes.words
        self._quota = quota
        self._embedding = Embedding(store, quota)
        self._reader = Reader(store, sources, workers, quota)
        self._on_live = on_live
        self._turn = asyncio.Lock()
        self.running: dict[str, Progress] = {}
        self.ended: dict[str, Progress] = {}
        """How the last reindex of each release ended, since this process began."""

    async def plan(self, release: str, encoder: Encoder) -> Reading:
        """Read the sources and tell what a reindex would change; nothing is written.

        Waits for a reindex that is under way: two readings of a source at once would be in each other's way.
        """
        async with self._turn:
            read = await self._reader.read(release, encoder, Progress(release), lambda _: None, keep=False)
        return read.reading

    def names(self, release: str) -> set[str]:
        """Return the names of a release's sources."""
        return self._reader.names(release)

    async def reindex(
        self,
        release: str,
        encoder: Encoder,
        report: Report = lambda _: None,
        rebuild: bool = False,
        only: Collection[str] = (),
        windows: bool = True,
    ) -> Indexed:
        """Bring the corpus of a release up to date; one release at a time. `only` names sources to read.

        Without `windows` a first corpus is left without them, for `complete` to embed.

        Raises SourceError where no source can be read, StorageError where the disk is full, OverQuota where
        the corpus would be too large, and EncoderChanged where the live corpus belongs to another encoder and
        `rebuild` is not set. With `rebuild` nearly all pages of a source may go at once, where the encoder
        is the same. What it raises is written down, and the old corpus goes on answering.
        """
        async with self._told(release, "waiting", report) as progress, self._alone():
            live = (await self._store.live()).get(release)
            if live and live.encoder != encoder.name and not rebuild:
                raise EncoderChanged(
                    f"The corpus of {release} was embedded by {live.encoder}, but EMBEDDING_MODEL is now "
                    f"{encoder.name}. Run `threadlore index --rebuild` to embed it again; until then "
                    f"the old index keeps answering."
                )
            same = live is not None and live.encoder == encoder.name  # else it is rebuilt for the encoder
            shrink = rebuild and same
            return await self._build(release, encoder, progress, report, only, windows, shrink)

    async def complete(self, release: str, encoder: Encoder, report: Report = lambda _: None) -> bool:
        """Embed the windows that a live corpus lacks, and let it use them; returns True if there were any.

        Raises OverQuota and StorageError where the disk is full; the corpus goes on answering without them.
        """
        async with self._alone():
            live = (await self._store.live()).get(release)
            if live is None or live.encoder != encoder.name:
                return False
            async with self._told(release, "sentences", report) as progress:
                rows = await self._store.rows(release)
                added = await self._embedding.views(encoder, rows, progress, report)
                if added:
                    await self._on_live(release)
                    progress.finish(len(rows))
                    report(progress)
                return added

    async def remove(self, release: str) -> None:
        """Remove all that was read of a release, once nothing is read any more."""
        async with self._alone():
            corpus = (await self._store.live()).get(release)
            await self._store.remove(release)
            names = (corpus.collection, pairs_collection(corpus)) if corpus else ()
            for name in names:
                await self._vectors.drop(name)
                await self._words.drop(name)
            await self._store.sweep(release)
            self.ended.pop(release, None)

    @asynccontextmanager
    async def _told(self, release: str, stage: str, report: Report) -> AsyncIterator[Progress]:
        """Tell how work on a release goes; what it fails by is written down: it is soon tried again."""
        progress = self.running[release] = Progress(release, stage)
        try:
            yield progress
        except ThreadloreError as error:
            progress.fail(str(error))
            report(progress)
            if not isinstance(error, SourceError):  # that is noted with its source
                await self._note_build(release, str(error))
            raise
        finally:
            if progress.ended_at:
                self.ended[release] = progress
            if self.running.get(release) is progress:
                del self.running[release]

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Change corpora while no other process of a cluster does."""
        async with self._turn, self._cluster.turn(CORPORA):
            yield

    async def follow(self) -> int:
        """Make the indexes hold the corpora that another process made; return how many entries changed."""
        async with self._turn:
            return await self.reconcile()

    async def reconcile(self) -> int:
        """Make the indexes hold exactly the live chunks, from SQL; return how many were mended."""
        mended = 0
        corpora = await self._store.live()
        for corpus in corpora.values():
            rows = await self._store.rows(corpus.release)
            wanted = await aside(len(rows), lambda rows=rows: {row.id for row in rows})
            for index in (self._vectors, self._words):
                present = await index.ids(corpus.collection)
                missing = await aside(len(rows), _missing, rows, present)
                extra = list(present - wanted)
                mended += len(missing) + len(extra)
                if index is self._vectors:
                    await self._embedding.fill(self._vectors, corpus, missing)
                else:
                    entries = await aside(len(missing), _entries, missing, set[str]())
                    await self._words.upsert(corpus.collection, entries)
                if extra:
                    await index.delete(corpus.collection, extra)
        used = {corpus.collection for corpus in corpora.values()}
        used |= {pairs_collection(corpus) for corpus in corpora.values()}
        for index in (self._vectors, self._words):
            for name in await index.collections() - used:
                await index.drop(name)
        return mended

    async def repair(self, encoder_of: Callable[[str], Awaitable[Encoder]]) -> tuple[int, int]:
        """Embed the live passages that have no vector, and mend the indexes; return how many of each.

        `encoder_of` returns the encoder of a name. Waits for a reindex that is under way.
        """
        embedded = 0
        async with self._turn:
            for corpus in (await self._store.live()).values():
                rows = await self._store.rows(corpus.release)
                texts = {row.text_hash: row.embedded for row in rows}
                lacking = await self._store.missing_vectors(corpus.encoder, list(texts))
                if lacking:
                    encoder, missing = await encoder_of(corpus.encoder), {key: texts[key] for key in lacking}
                    await self._embedding.texts(encoder, missing, Progress(corpus.release), lambda _: None)
                    embedded += len(lacking)
            return embedded, await self.reconcile()

    async def rewrite(self) -> None:
        """Leave nothing in the files of the word index of what is not live."""
        for corpus in (await self._store.live()).values():
            if not await self._words.has_remains(corpus.collection):
                continue
            async with self._turn:
                rows = await self._store.rows(corpus.release)
                await self._words.replace(corpus.collection, [(r.id, r.title, r.text) for r in rows])

    async def _build(
        self,
        release: str,
        encoder: Encoder,
        progress: Progress,
        report: Report,
        only: Collection[str],
        windows: bool,
        may_shrink: bool,
    ) -> Indexed:
        began = time.monotonic()
        old = (await self._store.live()).get(release)
        self._quota.check_disk()
        read = await self._reader.read(
            release, encoder, progress, report, keep=True, only=only, may_shrink=may_shrink
        )
        reading, ids = read.reading, read.ids
        if reading.failed and not ids and not read.closed:
            await self._note(release, read.noted)
            raise SourceError(reading.failed[0][1])
        rows = await self._store.rows(release, ids)
        self._quota.check_passages(release, len(rows))
        texts = await self._unembedded(encoder, rows)
        await self._embedding.texts(encoder, texts, progress, report)
        # a first corpus answers without its windows, a later one waits for them
        added = old is not None and await self._embedding.views(encoder, rows, progress, report)

        self._quota.check_disk()
        progress.enter("indexing", len(rows))
        report(progress)
        target = Corpus(release, encoder.name, 0, 0.0, 0, 0)
        await self._fill(target, rows)
        live = await aside(len(rows), lambda: {row.id for row in rows})
        if old and old.encoder == encoder.name and not reading.differs:
            corpus = old
            if added:  # an older version made the corpus without them
                await self._on_live(release)
            if not reading.failed and await self._store.leftovers(release):  # of a run that was cut short
                await self._clean(corpus, live, old)
        else:
            corpus = await self._store.swap(release, ids, encoder.name)
            await self._on_live(release)
            if old and self._cluster.is_shared:  # others search the old one a little longer
                await asyncio.sleep(FOLLOW_SECONDS)
            await self._clean(corpus, live, old)
        # only now: a run that ends before is due at once, whatever its sources' intervals are
        await self._note(release, read.noted)
        await self._note_build(release, "")
        if old is None and windows and await self._embedding.views(encoder, rows, progress, report):
            await self._on_live(release)
        progress.finish(len(rows))
        report(progress)
        return Indexed(corpus, reading, len(texts), time.monotonic() - began)

    async def _unembedded(self, encoder: Encoder, rows: Sequence[SearchRow]) -> dict[str, str]:
        """Return the texts whose vectors are not kept yet, by their hashes."""
        texts = await aside(len(rows), lambda: {row.text_hash: row.embedded for row in rows})
        lacking = await self._store.missing_vectors(encoder.name, list(texts))
        return await aside(len(rows), lambda: {key: texts[key] for key in lacking})

    async def _fill(self, corpus: Corpus, rows: Sequence[SearchRow]) -> None:
        """Put passages into the indexes of vectors and of words, as far as they are not there."""
        near, known = await self._vectors.ids(corpus.collection), await self._words.ids(corpus.collection)
        await self._embedding.fill(self._vectors, corpus, await aside(len(rows), _missing, rows, near))
        await self._words.upsert(corpus.collection, await aside(len(rows), _entries, rows, known))

    async def _note(self, release: str, noted: Sequence[Noted]) -> None:
        for run in noted:
            await self._store.note_run(release, run.source, run.error, run.skipped, run.changed)

    async def _note_build(self, release: str, error: str) -> None:
        """Write down how a corpus was built of what was read; a full disk may not even take that."""
        try:
            await self._store.note_run(release, BUILD, error, ())
        except StorageError as full:
            if not error:
                raise
            log.error("that %s failed cannot be written down: %s", release, full)

    async def _clean(self, corpus: Corpus, live: set[str], old: Corpus | None) -> None:
        for index in (self._vectors, self._words):
            extra = await index.ids(corpus.collection) - live
            if extra:
                await index.delete(corpus.collection, list(extra))
            if old and old.collection != corpus.collection:
                await index.drop(old.collection)
                await index.drop(pairs_collection(old))
        await self._store.sweep(corpus.release)


def _missing(rows: Sequence[SearchRow], present: Collection[str]) -> list[SearchRow]:
    return [row for row in rows if row.id not in present]


def _entries(rows: Sequence[SearchRow], known: Collection[str]) -> list[tuple[str, str, str]]:
    """Return what a word index takes of the rows that it does not know."""
    return [(row.id, row.title, row.text) for row in rows if row.id not in known]
