"""Pairs for a whole corpus: made of what is new, embedded, indexed beside its passages, kept over kills.

A page that is done is never done again by the same maker; what was embedded is never embedded again. Until
the new pairs are indexed the old ones serve, and the searcher looks only at those of live documents.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import islice

import numpy as np

from core.errors import ModelError, OverQuota
from core.ingestion.embedding import Embedding
from core.ingestion.parsing import UNLIMITED, Quota
from core.ingestion.pregeneration.pairs import Maker, finished
from core.ingestion.pregeneration.rules import RulePairs, is_by_rule
from core.ingestion.reading import Progress, Report
from core.ports import (
    Corpus,
    Encoder,
    PairCount,
    PregeneratedPair,
    PregeneratedStore,
    entries,
    pairs_collection,
)
from core.ports.corpora import Indexes

log = logging.getLogger(__name__)

INDEXED_EVERY = 120.0
"""Seconds after which the pairs that were made are searched, though others are still to come."""


class Pregeneration:
    """Makes the pairs of live corpora and keeps them searchable.

    `maker` makes them of every document that is read; `by_model` does so of documents that changed, where a
    model made those of the version before.
    """

    def __init__(
        self,
        store: PregeneratedStore,
        indexes: Indexes,
        maker: Maker | None,
        on_live: Callable[[str], Awaitable[None]],
        quota: Quota = UNLIMITED,
        by_model: Maker | None = None,
    ) -> None:
        self._maker = maker
        self._by_model = by_model
        self._store = store
        self._corpora = indexes.store
        self._vectors = indexes.vectors
        self._words = indexes.words
        self._on_live = on_live
        self._quota = quota
        self._embedding = Embedding(indexes.store, quota)
        self._turn = asyncio.Lock()
        self._by_rule, self._by_asking = asyncio.Lock(), asyncio.Lock()  # who asks a model may take hours
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

        def undone(by: str, done: int | None) -> Maker | None:
            if maker and (maker.redoes(by) or (by == maker.by and done is not None)):
                return maker
            return None

        is_quick = maker is None or is_by_rule(maker.by)
        async with self._by_rule if is_quick else self._by_asking:
            made = await self._bring(release, encoder, report, undone, most)
        if made is None:
            return None
        return replace(await self._store.count(release, maker.by if maker else ""), made=tuple(made))

    async def remake(self, release: str, encoder: Encoder, report: Report = lambda _: None) -> None:
        """Make the pairs of documents that changed again, and finish what was begun, each by who did it.

        A model that cannot be asked, or is being asked for pairs, is no error: the next call goes on. Raises
        OverQuota.
        """

        def undone(by: str, done: int | None) -> Maker | None:
            if done is None:
                return None
            return RulePairs() if is_by_rule(by) else self._by_model

        if self._by_asking.locked():
            return
        try:
            async with self._by_asking:
                await self._bring(release, encoder, report, undone)
        except ModelError as error:
            log.info("the pairs of what changed in %s wait for the model: %s", release, error)

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

    async def _bring(
        self,
        release: str,
        encoder: Encoder,
        report: Report,
        undone: Callable[[str, int | None], Maker | None],
        most: int = 0,
    ) -> list[str] | None:
        """Do what is `undone`, which tells by whom; return the paths of the documents that are done."""
        corpus = (await self._corpora.live()).get(release)
        if corpus is None or corpus.encoder != encoder.name:
            return None
        made: list[str] = []
        progress = self.running[release] = Progress(release, "waiting")
        try:
            so_far = await self._store.unfinished(release)
            makers = {
                document: (maker, so_far.get(document, 0) if maker.by == by else 0)
                for document, by in (await self._store.made_by(release)).items()
                if (maker := undone(by, so_far.get(document)))
            }
            some = dict(islice(makers.items(), most or None))
            try:
                await self._make(corpus, encoder, some, made, progress, report)
            except (OverQuota, ModelError):  # what was made before is searched
                await self._search(corpus, encoder, progress, report)
                raise
            await self._search(corpus, encoder, progress, report)
        finally:
            if self.running.get(release) is progress:
                del self.running[release]
        return made

    async def _make(
        self,
        corpus: Corpus,
        encoder: Encoder,
        makers: Mapping[str, tuple[Maker, int]],
        made: list[str],
        progress: Progress,
        report: Report,
    ) -> None:
        """Make the pairs of documents, each from a page on; add to `made` which are done."""
        progress.enter("pairs", len(makers))
        report(progress)
        indexed = time.monotonic()
        count = (await self._store.count(corpus.release, "")).pairs
        for number, (document, (maker, begun)) in enumerate(makers.items(), start=1):
            self._quota.check_disk()
            if self._quota.is_over(count):  # what was made again was counted twice
                count = (await self._store.count(corpus.release, "")).pairs
                self._quota.check_pairs(corpus.release, count)
            path, pairs = await self._make_document(document, maker, begun)
            made.append(path)
            count += pairs
            progress.done = number
            report(progress)
            if time.monotonic() - indexed > INDEXED_EVERY:
                await self._search(corpus, encoder, progress, report)
                indexed = time.monotonic()
                progress.enter("pairs", len(makers))
                progress.done = number

    async def _make_document(self, document: str, maker: Maker, done: int) -> tuple[str, int]:
        """Make the pairs of a document from a page on, and keep them as they come; return its path and how
        many there are.
        """
        pages, date = await self._store.pages(document)
        count = 0
        if len(pages) <= done:
            await self._store.put(document, maker.by, (), (), None)
        async with aclosing(maker.make(pages, done)) as some:
            async for until, made in some:
                pairs = finished(made, pages, document, date, maker.by)
                ids = [page.id for page in pages[done:until]]
                await self._store.put(document, maker.by, pairs, ids, until if until < len(pages) else None)
                count, done = count + len(pairs), until
        return (pages[0].path if pages else ""), count

    async def _search(self, corpus: Corpus, encoder: Encoder, progress: Progress, report: Report) -> None:
        """Embed and index the pairs there are, and let them be searched."""
        async with self._turn:
            pairs = await self._store.pairs(corpus.release)
            texts = {
                key: text
                for pair in pairs
                for key, text in zip(pair.hashes, (pair.asked, pair.told), strict=True)
            }
            lacking = await self._corpora.missing_vectors(encoder.name, list(texts))
            missing = {key: texts[key] for key in lacking}
            await self._embedding.texts(encoder, missing, progress, report, step="embedding pairs")
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
