"""Pairs for a whole corpus: made of what is new, embedded, indexed beside its passages, kept over kills.

A document that is done is never done again by the same maker; what was embedded is never embedded again.
Until the new pairs are indexed the old ones serve, and the searcher looks only at those of live documents.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence

import numpy as np

from core.errors import OverQuota
from core.ingestion.guarded import UNLIMITED, Quota
from core.ingestion.pregeneration.pairs import Maker, finished
from core.ingestion.reading import Progress, Report
from core.ports import (
    Corpus,
    CorpusStore,
    Encoder,
    PairCount,
    PregeneratedPair,
    PregeneratedStore,
    VectorIndex,
    WordIndex,
    entries,
    pairs_collection,
)

EMBEDDED_AT_ONCE = 128
"""Texts between two commits of vectors: what a killed run loses at most."""
INDEXED_EVERY = 120.0
"""Seconds after which the pairs that were made are searched, though others are still to come."""


class Pregeneration:
    """Makes the pairs of live corpora and keeps them searchable."""

    def __init__(
        self,
        store: PregeneratedStore,
        corpora: CorpusStore,
        vectors: VectorIndex,
        words: WordIndex,
        maker: Maker | None,
        on_live: Callable[[str], Awaitable[None]],
        quota: Quota = UNLIMITED,
    ) -> None:
        self._maker = maker
        self._store = store
        self._corpora = corpora
        self._vectors = vectors
        self._words = words
        self._on_live = on_live
        self._quota = quota
        self._turn = asyncio.Lock()
        self.running: dict[str, Progress] = {}

    async def run(
        self,
        release: str,
        encoder: Encoder,
        report: Report = lambda _: None,
        maker: Maker | None = None,
        most: int = 0,
    ) -> PairCount | None:
        """Bring the pairs of a release up to date, `most` documents at most (0: all), by the usual maker
        or by `maker`; None where the release has no corpus by that encoder.

        Where neither is there no pairs are made, and those of documents that are gone are taken out.

        Raises the `ModelError`s of `core.errors` where the model cannot be asked, and OverQuota where there
        are too many pairs or the disk is nearly full; what is done stays done.
        """
        maker = maker or self._maker
        corpus = (await self._corpora.live()).get(release)
        if corpus is None or corpus.encoder != encoder.name:
            return None
        progress = self.running[release] = Progress(release, "waiting")
        try:
            async with self._turn:
                await self._run(corpus, encoder, maker, progress, report, most)
        finally:
            if self.running.get(release) is progress:
                del self.running[release]
        return await self._store.count(release, maker.by if maker else "")

    async def pairs(self, release: str) -> tuple[PregeneratedPair, ...]:
        """Return the pairs of the live corpus."""
        return await self._store.pairs(release)

    async def review(
        self, refused: Collection[tuple[str, str]], allowed: Collection[tuple[str, str]] = ()
    ) -> tuple[int, int]:
        """Remove what a reviewer refused for good and take back refusals, each named by the path of its
        document and its question; return how many pairs were removed and how many may be made again.

        The next run makes again what is allowed.
        """
        removed = await self._store.refuse(refused) if refused else 0
        back = await self._store.allow(allowed) if allowed else 0
        if removed:
            async with self._turn:
                for corpus in (await self._corpora.live()).values():
                    if await self._index(corpus, await self._store.pairs(corpus.release)):
                        await self._on_live(corpus.release)
        return removed, back

    async def reconcile(self) -> int:
        """Make the indexes hold exactly the pairs of live documents that are embedded; return how many were
        mended.
        """
        mended = 0
        for corpus in (await self._corpora.live()).values():
            mended += await self._index(corpus, await self._store.pairs(corpus.release))
        return mended

    async def rewrite(self) -> None:
        """Leave nothing in the files of the word index of pairs that are not there any more."""
        for corpus in (await self._corpora.live()).values():
            if not await self._words.has_remains(pairs_collection(corpus)):
                continue
            async with self._turn:
                pairs = await self._store.pairs(corpus.release)
                kept = [(key, "", text) for pair in pairs for key, text, _ in entries(pair)]
                await self._words.replace(pairs_collection(corpus), kept)

    async def _run(
        self,
        corpus: Corpus,
        encoder: Encoder,
        maker: Maker | None,
        progress: Progress,
        report: Report,
        most: int,
    ) -> None:
        try:
            if maker is not None:
                await self._make(corpus, encoder, maker, progress, report, most)
        except OverQuota:
            await self._search(corpus, encoder, progress, report)
            raise
        await self._search(corpus, encoder, progress, report)

    async def _make(
        self,
        corpus: Corpus,
        encoder: Encoder,
        maker: Maker,
        progress: Progress,
        report: Report,
        most: int,
    ) -> None:
        made_by = await self._store.made_by(corpus.release)
        undone = [document for document, by in made_by.items() if maker.redoes(by)]
        undone = undone[:most] if most else undone
        progress.enter("pairs", len(undone))
        report(progress)
        indexed = time.monotonic()
        count = (await self._store.count(corpus.release, maker.by)).pairs
        for number, document in enumerate(undone, start=1):
            self._quota.check_disk()
            if self._quota.is_over(count):  # what was made anew was counted twice
                count = (await self._store.count(corpus.release, maker.by)).pairs
                self._quota.check_pairs(corpus.release, count)
            pages, date = await self._store.pages(document)
            made = await maker.make(pages) if pages else []
            pairs = finished(made, pages, document, date, maker.by)
            await self._store.put(document, maker.by, pairs)
            count += len(pairs)
            progress.done = number
            report(progress)
            if time.monotonic() - indexed > INDEXED_EVERY:
                await self._search(corpus, encoder, progress, report)
                indexed = time.monotonic()
                progress.enter("pairs", len(undone))
                progress.done = number

    async def _search(self, corpus: Corpus, encoder: Encoder, progress: Progress, report: Report) -> None:
        """Embed and index the pairs there are, and let them be searched."""
        pairs = await self._store.pairs(corpus.release)
        texts = {
            key: text
            for pair in pairs
            for key, text in zip(pair.hashes, (pair.asked, pair.told), strict=True)
        }
        lacking = sorted(await self._corpora.missing_vectors(encoder.name, list(texts)))
        progress.enter("embedding pairs", len(lacking))
        report(progress)
        for start in range(0, len(lacking), EMBEDDED_AT_ONCE):
            some = lacking[start : start + EMBEDDED_AT_ONCE]
            self._quota.check_disk()
            vectors = await encoder.encode([texts[key] for key in some])
            await self._corpora.put_vectors(encoder.name, dict(zip(some, vectors, strict=True)))
            progress.done += len(some)
            report(progress)
        if await self._index(corpus, pairs):
            await self._on_live(corpus.release)

    async def _index(self, corpus: Corpus, pairs: Sequence[PregeneratedPair]) -> int:
        """Let both indexes hold exactly these pairs, as far as they are embedded; return what changed."""
        collection = pairs_collection(corpus)
        wanted = {key: (text, hash_) for pair in pairs for key, text, hash_ in entries(pair)}
        changed = 0
        for index in (self._vectors, self._words):
            present = await index.ids(collection)
            missing = [key for key in wanted if key not in present]
            extra = list(present - wanted.keys())
            changed += len(extra)
            if extra and not wanted:
                await index.drop(collection)
            elif extra:
                await index.delete(collection, extra)
            if index is self._words and missing:
                await self._words.upsert(collection, [(key, "", wanted[key][0]) for key in missing])
                changed += len(missing)
            elif missing:
                changed += await self._put_vectors(corpus, {key: wanted[key][1] for key in missing})
        return changed

    async def _put_vectors(self, corpus: Corpus, hashes: dict[str, str]) -> int:
        keys, put = list(hashes), 0
        for start in range(0, len(keys), 2000):
            some = keys[start : start + 2000]
            vectors = await self._corpora.vectors(corpus.encoder, [hashes[key] for key in some])
            found = [key for key in some if hashes[key] in vectors]
            if found:
                matrix = np.stack([vectors[hashes[key]] for key in found])
                await self._vectors.upsert(pairs_collection(corpus), found, matrix)
                put += len(found)
        return put
