"""From sources to a live corpus: read, parse, chunk, embed beside the live one, then swap.

SQL holds everything first; vector and word indexes get the new chunks before the swap and lose the
old ones after it. Until the swap, and after a failure at any moment, the old corpus serves, because
searches only return chunks that are live. What was embedded is never embedded again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.domain import ChunkedDocument, RawDocument, content_hash
from core.errors import EncoderChanged, SourceError
from core.ingestion.chunking import chunk
from core.ingestion.parsing import parse
from core.ports import Corpus, CorpusStore, Encoder, SearchRow, Source, StoredDocument, VectorIndex, WordIndex

log = logging.getLogger(__name__)

INDEX_VERSION = "1"
"""Raised when parsing or chunking change, so that unchanged files are read anew."""
EMBEDDED_AT_ONCE = 128
"""Passages between two commits of vectors: what a killed run loses at most."""


@dataclass(slots=True)
class Progress:
    """How far a reindex is; `rate` in passages a second."""

    release: str
    stage: str = "reading"
    source: str = ""
    done: int = 0
    total: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def rate(self) -> float:
        """Return what is done a second since the stage began."""
        return self.done / max(time.monotonic() - self.started, 1e-3)

    @property
    def eta_s(self) -> float | None:
        """Estimate the seconds left; None while nothing is known."""
        return (self.total - self.done) / self.rate if self.done and self.total else None

    def enter(self, stage: str, total: int) -> None:
        """Begin a stage."""
        self.stage, self.done, self.total, self.started = stage, 0, total, time.monotonic()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the sources of a release hold now, against its live corpus; lists of `source: path`."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: tuple[tuple[str, str, str], ...] = ()
    """(source, path, reason) of what was passed over."""
    failed: tuple[tuple[str, str], ...] = ()
    """(source, error) of sources that could not be read; their old documents stay."""

    @property
    def differs(self) -> bool:
        """Tell whether the corpus would change."""
        return bool(self.added or self.changed or self.removed)

    def joined(self, other: Reading) -> Reading:
        """Return both readings as one."""
        return Reading(
            self.added + other.added,
            self.changed + other.changed,
            self.removed + other.removed,
            self.unchanged + other.unchanged,
            self.skipped + other.skipped,
            self.failed + other.failed,
        )


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a reindex did."""

    corpus: Corpus
    reading: Reading
    embedded: int
    seconds: float


Report = Callable[[Progress], None]


class Indexer:
    """Builds the corpus of one release at a time."""

    def __init__(
        self,
        store: CorpusStore,
        vectors: VectorIndex,
        words: WordIndex,
        sources: Callable[[str], Sequence[Source]],
        on_live: Callable[[str], Awaitable[None]],
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._words = words
        self._sources = sources
        self._on_live = on_live
        self._turn = asyncio.Lock()
        self.running: dict[str, Progress] = {}

    async def plan(self, release: str, encoder: Encoder) -> Reading:
        """Read the sources and tell what a reindex would change; nothing is written."""
        reading, _ = await self._read(release, encoder, Progress(release), lambda _: None, keep=False)
        return reading

    async def reindex(
        self, release: str, encoder: Encoder, report: Report = lambda _: None, rebuild: bool = False
    ) -> Indexed:
        """Bring the corpus of a release up to date; one release at a time.

        Raises SourceError where no source can be read, StorageError where the disk is full, and
        EncoderChanged where the live corpus belongs to another encoder and `rebuild` is not set.
        """
        live = (await self._store.live()).get(release)
        if live and live.encoder != encoder.name and not rebuild:
            raise EncoderChanged(
                f"The corpus of {release} was embedded by {live.encoder}, but EMBEDDING_MODEL is now "
                f"{encoder.name}. Run `threadlore index --rebuild` to embed it anew; until that is done the "
                f"old corpus goes on answering."
            )
        progress = self.running[release] = Progress(release, "waiting")
        try:
            async with self._turn:
                return await self._build(release, encoder, progress, report)
        finally:
            del self.running[release]

    async def reconcile(self) -> int:
        """Make the indexes hold exactly the live chunks, from SQL; return how many were mended."""
        mended = 0
        corpora = await self._store.live()
        for corpus in corpora.values():
            rows = await self._store.rows(corpus.release)
            wanted = {row.id: row for row in rows}
            for index in (self._vectors, self._words):
                present = await index.ids(corpus.collection)
                missing = [row for key, row in wanted.items() if key not in present]
                extra = list(present - wanted.keys())
                mended += len(missing) + len(extra)
                if index is self._vectors:
                    await self._put_vectors(corpus, missing)
                else:
                    await self._words.upsert(corpus.collection, [(r.id, r.title, r.text) for r in missing])
                if extra:
                    await index.delete(corpus.collection, extra)
        used = {corpus.collection for corpus in corpora.values()}
        for index in (self._vectors, self._words):
            for name in await index.collections() - used:
                await index.drop(name)
        return mended

    async def _build(self, release: str, encoder: Encoder, progress: Progress, report: Report) -> Indexed:
        began = time.monotonic()
        old = (await self._store.live()).get(release)
        reading, ids = await self._read(release, encoder, progress, report, keep=True)
        if reading.failed and not ids:
            raise SourceError(reading.failed[0][1])
        rows = await self._store.rows(release, ids)
        lacking = await self._store.missing_vectors(encoder.name, [row.text_hash for row in rows])
        texts = {row.text_hash: row.embedded for row in rows if row.text_hash in lacking}
        await self._embed(encoder, texts, progress, report)

        progress.enter("indexing", len(rows))
        report(progress)
        target = Corpus(release, encoder.name, 0, 0.0, 0, 0)
        near, known = await self._vectors.ids(target.collection), await self._words.ids(target.collection)
        await self._put_vectors(target, [row for row in rows if row.id not in near])
        await self._words.upsert(
            target.collection, [(row.id, row.title, row.text) for row in rows if row.id not in known]
        )
        if old and old.encoder == encoder.name and not reading.differs:
            corpus = old
        else:
            corpus = await self._store.swap(release, ids, encoder.name)
            await self._on_live(release)
            await self._clean(corpus, {row.id for row in rows}, old)
        progress.enter("done", len(rows))
        progress.done = len(rows)
        report(progress)
        return Indexed(corpus, reading, len(texts), time.monotonic() - began)

    async def _clean(self, corpus: Corpus, live: set[str], old: Corpus | None) -> None:
        for index in (self._vectors, self._words):
            extra = await index.ids(corpus.collection) - live
            if extra:
                await index.delete(corpus.collection, list(extra))
            if old and old.collection != corpus.collection:
                await index.drop(old.collection)
        await self._store.sweep(corpus.release)

    async def _read(
        self, release: str, encoder: Encoder, progress: Progress, report: Report, keep: bool
    ) -> tuple[Reading, list[str]]:
        """Read every source; return the differences and the ids of the documents there are now."""
        progress.enter("reading", 0)
        live: dict[str, dict[str, StoredDocument]] = {}
        for document in await self._store.manifest(release):
            live.setdefault(document.source, {})[document.path] = document
        reading = Reading()
        ids: list[str] = []
        for source in self._sources(release):
            progress.source = source.name
            before = live.pop(source.name, {})
            try:
                some, found = await self._read_source(
                    source, release, encoder, before, progress, report, keep
                )
            except SourceError as error:
                log.warning("source %s of %s failed: %s", source.name, release, error)
                some, found = Reading(failed=((source.name, str(error)),)), [d.id for d in before.values()]
            if keep:
                error_text = some.failed[0][1] if some.failed else ""
                passed = [(path, reason) for _, path, reason in some.skipped]
                await self._store.note_run(release, source.name, error_text, passed)
            reading = reading.joined(some)
            ids += found
        gone = tuple(f"{name}: {path}" for name, documents in live.items() for path in documents)
        return reading.joined(Reading(removed=gone)), ids

    async def _read_source(
        self,
        source: Source,
        release: str,
        encoder: Encoder,
        before: dict[str, StoredDocument],
        progress: Progress,
        report: Report,
        keep: bool,
    ) -> tuple[Reading, list[str]]:
        added: list[str] = []
        changed: list[str] = []
        skipped: list[tuple[str, str, str]] = []
        ids: dict[str, str] = {}
        documents = iter(await asyncio.to_thread(source.documents))
        while (raw := await asyncio.to_thread(next, documents, None)) is not None:
            progress.done += 1
            report(progress)
            old = before.get(raw.path)
            try:
                document = await asyncio.to_thread(_cut, raw, release, source.name, encoder, old)
            except SourceError as error:
                skipped.append((source.name, raw.path, str(error)))
                continue
            if document is None:
                assert old is not None
                ids[raw.path] = old.id
                continue
            (changed if old else added).append(f"{source.name}: {raw.path}")
            ids[raw.path] = document.id
            if keep:
                await self._store.put(release, document)
        skipped += [(source.name, path, reason) for path, reason in source.skipped]
        if not ids:
            first = f" (first: {skipped[0][1]}: {skipped[0][2]})" if skipped else ""
            raise SourceError(
                f"{source.name} holds no document that can be read{first}; check its path and include "
                f"patterns."
            )
        removed = tuple(f"{source.name}: {path}" for path in before if path not in ids)
        unchanged = len(ids) - len(added) - len(changed)
        return Reading(tuple(added), tuple(changed), removed, unchanged, tuple(skipped)), list(ids.values())

    async def _embed(
        self, encoder: Encoder, texts: dict[str, str], progress: Progress, report: Report
    ) -> None:
        progress.enter("embedding", len(texts))
        report(progress)
        keys = sorted(texts)  # by hash: long and short mixed, so that rate and time left hold
        for start in range(0, len(keys), EMBEDDED_AT_ONCE):
            some = keys[start : start + EMBEDDED_AT_ONCE]
            vectors = await encoder.encode([texts[key] for key in some])
            await self._store.put_vectors(encoder.name, dict(zip(some, vectors, strict=True)))
            progress.done += len(some)
            report(progress)

    async def _put_vectors(self, corpus: Corpus, rows: Sequence[SearchRow]) -> None:
        for start in range(0, len(rows), 2000):
            some = rows[start : start + 2000]
            vectors = await self._store.vectors(corpus.encoder, [row.text_hash for row in some])
            found = [row for row in some if row.text_hash in vectors]
            if found:
                await self._vectors.upsert(
                    corpus.collection,
                    [row.id for row in found],
                    np.stack([vectors[row.text_hash] for row in found]),
                )


def _cut(
    raw: RawDocument, release: str, source: str, encoder: Encoder, before: StoredDocument | None
) -> ChunkedDocument | None:
    """Cut a document; None when it is as before."""
    window = str(encoder.max_tokens)
    hash_ = content_hash(INDEX_VERSION, window, raw.path, raw.url, raw.format, raw.content.decode("latin-1"))
    document = None
    if _reaches_out(raw):  # what it includes may change while it stays the same
        document = parse(raw)
        hash_ = content_hash(hash_, *(t for s in document.sections for t in (*s.headings, s.anchor, s.text)))
    if before and before.hash == hash_:
        return None
    cut = chunk(
        document or parse(raw),
        release=release,
        source=source,
        count_tokens=encoder.count_tokens,
        max_tokens=encoder.max_tokens,
    )
    if not cut.searches:
        raise SourceError("holds no text")
    return _keyed(cut, hash_)


def _keyed(cut: ChunkedDocument, hash_: str) -> ChunkedDocument:
    """Let every id depend on the hash, so that two versions of a document share none."""
    contexts = {context.id: content_hash(hash_, context.id) for context in cut.contexts}
    return replace(
        cut,
        id=content_hash(hash_, cut.id),
        hash=hash_,
        contexts=tuple(replace(context, id=contexts[context.id]) for context in cut.contexts),
        searches=tuple(
            replace(piece, id=content_hash(hash_, piece.id), context_id=contexts[piece.context_id])
            for piece in cut.searches
        ),
    )


def _reaches_out(raw: RawDocument) -> bool:
    return (
        bool(raw.root) and raw.format == "rst" and (b"include::" in raw.content or b".. auto" in raw.content)
    )
