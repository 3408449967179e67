"""Embedding what is indexed: passages and windows, once each, and what the second look reads of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from core.domain import ContextChunk
from core.ingestion.parsing import Quota
from core.ingestion.reading import Progress, Report
from core.ports import Corpus, CorpusStore, Encoder, SearchRow, TokenEncoder, VectorIndex, texts_at_once
from core.retrieval.features import bits_of, packed
from core.system.offload import aside
from core.text.words import alike, window_texts

EMBEDDED_AT_ONCE = 128
"""Texts between two commits of vectors, which a killed run loses: more on a GPU and on many cores, which do
them in the same time."""
FILLED_AT_ONCE = 2000
"""Vectors that are put into the vector index at once."""
VIEWED_AT_ONCE = 200
"""Pages that are cut to windows, and kept as the second look reads them, at once."""


class Embedding:
    """Embeds texts and keeps their vectors, so that nothing is embedded twice."""

    def __init__(self, store: CorpusStore, quota: Quota) -> None:
        self._store = store
        self._quota = quota

    async def texts(
        self,
        encoder: Encoder,
        texts: dict[str, str],
        progress: Progress,
        report: Report,
        by: TokenEncoder | None = None,
        step: str = "embedding",
    ) -> None:
        """Embed texts; what is kept of their tokens, too, where `by` tells them. Progress enters `step`."""
        progress.enter(step, len(texts))
        report(progress)
        keys = await aside(len(texts), alike, texts)
        start = 0
        while some := keys[start : start + texts_at_once(encoder, EMBEDDED_AT_ONCE)]:
            start += len(some)
            self._quota.check_disk()
            told: dict[str, bytes] = {}
            if by:
                vectors, tokens = await by.encode_tokens([texts[key] for key in some])
                told = await asyncio.to_thread(
                    lambda s, t: dict(zip(s, map(bits_of, t), strict=True)), some, tokens
                )
            else:
                vectors = await encoder.encode([texts[key] for key in some])
            await self._store.put_vectors(encoder.name, dict(zip(some, vectors, strict=True)), told)
            progress.done += len(some)
            report(progress)

    async def views(
        self, encoder: Encoder, rows: Sequence[SearchRow], progress: Progress, report: Report
    ) -> bool:
        """Keep what the second look reads of pages, windows embedded; return True if any was lacking."""
        by = Corpus("", encoder.name, 0, 0.0, 0, 0).views
        contexts = await aside(len(rows), lambda: list(dict.fromkeys(row.context_id for row in rows)))
        lacking = sorted(await self._store.missing_views(by, contexts))
        parts = [lacking[start : start + VIEWED_AT_ONCE] for start in range(0, len(lacking), VIEWED_AT_ONCE)]
        texts: dict[str, str] = {}
        told = encoder if isinstance(encoder, TokenEncoder) else None
        for part in parts:
            cut = await asyncio.to_thread(_cut, await self._store.contexts(part))
            missing = await self._store.missing_vectors(encoder.name, list(cut), tokens=told is not None)
            texts |= {key: cut[key] for key in missing}
        if texts:
            await self.texts(encoder, texts, progress, report, told, "sentences")
        for part in parts:
            pages = await self._store.contexts(part)
            hashes = list(await asyncio.to_thread(_cut, pages))
            vectors = await self._store.vectors(encoder.name, hashes)
            tokens = await self._store.tokens(encoder.name, hashes)
            views = await asyncio.to_thread(
                lambda p, v, t: {key: packed(p[key], v, t) for key in p}, pages, vectors, tokens
            )
            await self._store.put_views(by, views)
        return bool(lacking)

    async def fill(self, index: VectorIndex, corpus: Corpus, rows: Sequence[SearchRow]) -> None:
        """Put the vectors of passages, as far as they are kept, into the vector index of a corpus."""
        for start in range(0, len(rows), FILLED_AT_ONCE):
            some = rows[start : start + FILLED_AT_ONCE]
            vectors = await self._store.vectors(corpus.encoder, [row.text_hash for row in some])
            found = [row for row in some if row.text_hash in vectors]
            if found:
                table = np.stack([vectors[row.text_hash] for row in found])
                await index.upsert(corpus.collection, [row.id for row in found], table)


def _cut(pages: Mapping[str, ContextChunk]) -> dict[str, str]:
    return {key: text for page in pages.values() for key, text in window_texts(page).items()}
