"""From queries to numbered evidence: every retriever at once, fusion, context chunks."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.domain import ContextChunk, Evidence, Hit, Queries
from core.ports import Corpus, CorpusStore, Matrix, VectorIndex, WordIndex
from core.retrieval.confidence import NO_SIGNS, Signs, confidence, signs
from core.retrieval.fusion import weighted
from core.text import query_terms

CANDIDATES = 40
"""Hits taken from every retriever and query before fusion (QA pre-generation, retrieval)."""
KEPT = 8
"""Context chunks after fusion (QA pre-generation, retrieval)."""
CACHED = 4096
"""Context chunks kept in memory."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Share of each retriever in the fusion; see DECISIONS.md for the harness rows behind them."""

    dense: float = 0.3
    lexical: float = 0.7


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence, best first, the signs of how good it is, and the rarity of the question's terms."""

    evidence: tuple[Evidence, ...] = ()
    signs: Signs = NO_SIGNS
    rarity: dict[str, float] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        """Estimate how likely the evidence answers the question, 0..1."""
        return confidence(self.signs)


@dataclass(slots=True)
class _Live:
    corpus: Corpus
    context_of: dict[str, str]
    text_of: dict[str, str]


class Searcher:
    """Searches the live corpora; knows which chunks are live, whatever the indexes hold."""

    def __init__(
        self, store: CorpusStore, vectors: VectorIndex, words: WordIndex, weights: Weights | None = None
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._words = words
        self._weights = weights or Weights()
        self._live: dict[str, _Live] = {}
        self._contexts: OrderedDict[str, ContextChunk] = OrderedDict()

    @property
    def corpora(self) -> dict[str, Corpus]:
        """Return the corpora that answer now, by release."""
        return {release: live.corpus for release, live in self._live.items()}

    async def load(self, release: str | None = None) -> None:
        """Take over what is live in the store, of one release or of all."""
        corpora = await self._store.live()
        for name, corpus in corpora.items():
            if release in (None, name):
                rows = await self._store.rows(name)
                self._live[name] = _Live(
                    corpus, {row.id: row.context_id for row in rows}, {row.id: row.text for row in rows}
                )
        for name in [name for name in self._live if name not in corpora]:
            del self._live[name]
        self._contexts.clear()

    async def search(self, queries: Queries, vectors: Matrix, release: str, keep: int = KEPT) -> Found:
        """Return up to `keep` context chunks of a release, best first, numbered from 1.

        `vectors` has one row, the dense query (further rows are left out). Only live chunks are returned.
        """
        live = self._live.get(release)
        if live is None:
            return Found()
        forms = [queries.base, queries.versionless or queries.filtered]
        terms = [query_terms(form) for form in dict.fromkeys(forms)]
        collection = live.corpus.collection
        every = list(dict.fromkeys(term for some in terms for term in some))
        dense, lexical, rarity = await asyncio.gather(
            self._vectors.search(collection, vectors[:1], CANDIDATES),
            asyncio.gather(*(self._words.search(collection, some, CANDIDATES) for some in terms)),
            self._words.rarity(collection, every),
        )
        lists = [(self._weights.dense / len(dense), _only(live, hits)) for hits in dense]
        lists += [(self._weights.lexical / len(lexical), _only(live, hits)) for hits in lexical]
        fused = weighted(lists)
        cosines = {hit.chunk_id: hit.score for hits in reversed(dense) for hit in hits}
        evidence = await self._evidence(live, fused, cosines, keep)
        read = signs(terms[-1], rarity, dense[0], lexical[-1], evidence, live.corpus.chunks)
        return Found(evidence, read, rarity)

    async def _evidence(
        self, live: _Live, fused: Sequence[Hit], cosines: dict[str, float], keep: int
    ) -> tuple[Evidence, ...]:
        grouped: dict[str, list[Hit]] = {}
        for hit in fused:
            grouped.setdefault(live.context_of[hit.chunk_id], []).append(hit)
        best = list(grouped)[:keep]
        chunks = await self._chunks(best)
        return tuple(
            Evidence(
                number,
                chunks[context_id],
                grouped[context_id][0].score,
                tuple(live.text_of[hit.chunk_id] for hit in grouped[context_id]),
                max(cosines.get(hit.chunk_id, 0.0) for hit in grouped[context_id]),
            )
            for number, context_id in enumerate((c for c in best if c in chunks), start=1)
        )

    async def _chunks(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        missing = [key for key in ids if key not in self._contexts]
        if missing:
            self._contexts.update(await self._store.contexts(missing))
            while len(self._contexts) > CACHED:
                self._contexts.popitem(last=False)
        return {key: self._contexts[key] for key in ids if key in self._contexts}


def merged(lists: Sequence[Found], keep: int = KEPT) -> Found:
    """Join what several searches found: in turns by rank, each chunk once, numbered anew."""
    if len(lists) == 1:
        return lists[0]
    taken: dict[str, Evidence] = {}
    for rank in range(max(len(found.evidence) for found in lists)):
        for found in lists:
            if rank < len(found.evidence):
                taken.setdefault(found.evidence[rank].chunk.id, found.evidence[rank])
    numbered = enumerate(list(taken.values())[: keep * 2], start=1)
    rarity: dict[str, float] = {}
    for found in lists:
        rarity |= found.rarity
    best = max(lists, key=lambda found: found.confidence)
    evidence = tuple(replace(item, number=number) for number, item in numbered)
    return Found(evidence, best.signs, rarity)


def _only(live: _Live, hits: Sequence[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.chunk_id in live.context_of]
