"""Retrieval as others do it, to compare with: one corpus for all releases, one retriever, equal votes.

Works on the same indexes as `core.retrieval.search`, so that a figure differs by the method alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from core.domain import ContextChunk, Evidence, Hit, Queries, Vector
from core.ports import Corpus, CorpusStore, Matrix, SearchRow, VectorIndex, WordIndex
from core.retrieval.confidence import PLAIN_JUDGEMENT, signs
from core.retrieval.found import KEPT, Found
from core.retrieval.fusion import Weights, reciprocal_rank, weighted
from core.retrieval.mmr import DIVERSE_FROM, union
from core.retrieval.search import CANDIDATES
from core.text.words import query_terms


@dataclass(frozen=True, slots=True)
class Mix:
    """A way to retrieve.

    `dual` off hands over search chunks instead of the pages they lead to; `together` searches the
    chunks of every release as one corpus.
    """

    weights: Weights = field(default_factory=Weights)
    fusion: Literal["weighted", "rank", "union"] = "weighted"
    dual: bool = True
    together: bool = False


class Baseline:
    """Searches the live corpora by a mix; to be opened first."""

    def __init__(self, store: CorpusStore, vectors: VectorIndex, words: WordIndex, mix: Mix) -> None:
        self._store = store
        self._vectors = vectors
        self._words = words
        self._mix = mix
        self._corpora: dict[str, Corpus] = {}
        self._rows: dict[str, SearchRow] = {}

    async def open(self) -> None:
        """Read which chunks are live."""
        self._corpora = await self._store.live()
        for release in self._corpora:
            self._rows |= {row.id: row for row in await self._store.rows(release)}

    async def search(self, queries: Queries, vectors: Matrix, release: str, keep: int = KEPT) -> Found:
        """Return up to `keep` chunks for a release; `vectors` has the dense query in its first row."""
        if release not in self._corpora:
            return Found()
        names = list(self._corpora) if self._mix.together else [release]
        forms = dict.fromkeys([queries.base, queries.versionless or queries.filtered])
        terms = [query_terms(form) for form in forms]
        every = list(dict.fromkeys(term for some in terms for term in some))
        collections = [self._corpora[name].collection for name in names]
        near, lexical, rarity = await asyncio.gather(
            asyncio.gather(*(self._vectors.search(c, vectors[:1], CANDIDATES) for c in collections)),
            asyncio.gather(*(self._by_words(collections, some) for some in terms)),
            self._words.rarity(self._corpora[release].collection, every),
        )
        dense = self._best([hits for per_query in near for hits in per_query])
        fused = await self._fused(dense, lexical, vectors[0])
        evidence = await self._evidence(fused, keep)
        read = signs(terms[-1], rarity, dense, lexical[-1], evidence, self._corpora[release].chunks)
        return Found(evidence, read, rarity, judgement=PLAIN_JUDGEMENT)

    async def _by_words(self, collections: Sequence[str], terms: Sequence[str]) -> list[Hit]:
        found = await asyncio.gather(*(self._words.search(c, terms, CANDIDATES) for c in collections))
        return self._best(found)

    def _best(self, lists: Sequence[Sequence[Hit]]) -> list[Hit]:
        live = [hit for hits in lists for hit in hits if hit.chunk_id in self._rows]
        return sorted(live, key=lambda hit: (-hit.score, hit.chunk_id))[:CANDIDATES]

    async def _fused(
        self, dense: Sequence[Hit], lexical: Sequence[Sequence[Hit]], query: Vector
    ) -> list[Hit]:
        if self._mix.fusion == "union":
            return await self._union(dense[:DIVERSE_FROM], query)
        weights = self._mix.weights
        lists = [(weights.dense, dense)] if weights.dense else []
        if weights.lexical:
            lists += [(weights.lexical / len(lexical), hits) for hits in lexical]
        return reciprocal_rank(lists) if self._mix.fusion == "rank" else weighted(lists)

    async def _union(self, dense: Sequence[Hit], query: Vector) -> list[Hit]:
        hashes = [self._rows[hit.chunk_id].text_hash for hit in dense]
        encoder = next(iter(self._corpora.values())).encoder
        kept = await self._store.vectors(encoder, hashes)
        held = [(hit, kept[key]) for hit, key in zip(dense, hashes, strict=True) if key in kept]
        if not held:
            return []
        return [held[row][0] for row in union(query, np.stack([vector for _, vector in held]))]

    async def _evidence(self, fused: Sequence[Hit], keep: int) -> tuple[Evidence, ...]:
        grouped: dict[str, list[Hit]] = {}
        for hit in fused:
            key = self._rows[hit.chunk_id].context_id if self._mix.dual else hit.chunk_id
            grouped.setdefault(key, []).append(hit)
        best = list(grouped.values())[:keep]
        contexts = await self._store.contexts(
            list(dict.fromkeys(self._rows[hits[0].chunk_id].context_id for hits in best))
        )
        found: list[Evidence] = []
        for hits in best:
            row = self._rows[hits[0].chunk_id]
            if chunk := contexts.get(row.context_id):
                passages = tuple(self._rows[hit.chunk_id].text for hit in hits)
                shown = chunk if self._mix.dual else _only(chunk, row)
                found.append(Evidence(len(found) + 1, shown, hits[0].score, passages))
        return tuple(found)


def _only(chunk: ContextChunk, row: SearchRow) -> ContextChunk:
    return replace(chunk, id=row.id, page=row.text, before="", after="")
