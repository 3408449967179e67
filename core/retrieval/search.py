"""From queries to numbered evidence: every retriever at once, fusion, context chunks."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.domain import ContextChunk, Evidence, Hit, Queries
from core.ports import Corpus, CorpusStore, Matrix, Place, Reranker, VectorIndex, WordIndex
from core.retrieval.confidence import NO_SIGNS, Signs, confidence, signs
from core.retrieval.fusion import weighted
from core.retrieval.rescoring import POOL, PageTerms, page_score, page_terms
from core.text import query_terms

CANDIDATES = 40
"""Hits taken from every retriever and query before fusion (QA pre-generation, retrieval)."""
NEAR = 100
"""Hits of the dense retriever whose cosines are known to the second look at pages; 40 of them are fused."""
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
    """Evidence, best first, the signs of how good it is, and the rarity of the question's terms.

    `ranks` tells for each context chunk at which rank which retriever found it.
    """

    evidence: tuple[Evidence, ...] = ()
    signs: Signs = NO_SIGNS
    rarity: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        """Estimate how likely the evidence answers the question, 0..1."""
        return confidence(self.signs)

    def weight(self, term: str) -> float:
        """Return how much a term of the question weighs: its inverse document frequency."""
        return self.rarity.get(term, 0.0)


@dataclass(slots=True)
class _Live:
    corpus: Corpus
    context_of: dict[str, str]
    text_of: dict[str, str]


class Searcher:
    """Searches the live corpora; knows which chunks are live, whatever the indexes hold."""

    def __init__(
        self,
        store: CorpusStore,
        vectors: VectorIndex,
        words: WordIndex,
        weights: Weights | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._words = words
        self._weights = weights or Weights()
        self._reranker = reranker
        self._live: dict[str, _Live] = {}
        self._contexts: OrderedDict[str, tuple[ContextChunk, PageTerms]] = OrderedDict()
        self._places: dict[Place, dict[str, tuple[str, ...]]] = {}

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
        self._places.clear()

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
            self._vectors.search(collection, vectors[:1], NEAR),
            asyncio.gather(*(self._words.search(collection, some, CANDIDATES) for some in terms)),
            self._words.rarity(collection, every),
        )
        near = _only(live, dense[0])
        lists = [(self._weights.dense, near[:CANDIDATES])]
        lists += [(self._weights.lexical / len(lexical), _only(live, hits)) for hits in lexical]
        fused = weighted(lists)
        pool = await self._evidence(live, fused, near, terms[-1], rarity, POOL if self._reranker else keep)
        read = signs(terms[-1], rarity, near, lexical[-1], pool[:keep], live.corpus.chunks)
        evidence = await self._reranked(queries.base, pool, keep)
        names = ("dense", "words", "words, filtered")
        ranked = {name: hits for name, (_, hits) in zip(names, lists, strict=False)}
        return Found(evidence, read, rarity, _ranks(evidence, live, ranked))

    async def pages_like(self, places: Sequence[Place]) -> dict[Place, dict[str, tuple[str, ...]]]:
        """Return the pages under each path and heading, by release; remembered until a corpus changes."""
        if missing := [place for place in places if place not in self._places]:
            self._places |= await self._store.pages_like(missing)
            while len(self._places) > CACHED:
                del self._places[next(iter(self._places))]
        return {place: self._places.get(place, {}) for place in places}

    async def _reranked(self, question: str, pool: tuple[Evidence, ...], keep: int) -> tuple[Evidence, ...]:
        if self._reranker is None or len(pool) < 2:
            return pool[:keep]
        passages = [f"{e.chunk.title}: {e.chunk.heading}\n" + "\n".join(e.matched) for e in pool]
        scores = await self._reranker.scores(question, passages)
        order = sorted(range(len(pool)), key=lambda at: -scores[at])[:keep]
        return tuple(
            replace(pool[at], number=number, score=scores[at]) for number, at in enumerate(order, start=1)
        )

    async def _evidence(
        self,
        live: _Live,
        fused: Sequence[Hit],
        near: Sequence[Hit],
        terms: Sequence[str],
        rarity: Mapping[str, float],
        keep: int,
    ) -> tuple[Evidence, ...]:
        grouped: dict[str, list[Hit]] = {}
        for hit in fused:
            grouped.setdefault(live.context_of[hit.chunk_id], []).append(hit)
        cosines: dict[str, float] = {}
        for hit in near:
            cosines.setdefault(live.context_of[hit.chunk_id], hit.score)
        farthest = near[-1].score if near else 0.0
        pool = await self._chunks(list(grouped)[:POOL])
        scored = [
            (
                page_score(
                    [hit.score for hit in grouped[key]], cosines.get(key, farthest), page, terms, rarity
                ),
                key,
                chunk,
            )
            for key, (chunk, page) in pool.items()
        ]
        scored.sort(key=lambda entry: -entry[0])
        return tuple(
            Evidence(
                number,
                chunk,
                score,
                tuple(live.text_of[hit.chunk_id] for hit in grouped[key]),
                cosines.get(key, 0.0),
            )
            for number, (score, key, chunk) in enumerate(scored[:keep], start=1)
        )

    async def _chunks(self, ids: Sequence[str]) -> dict[str, tuple[ContextChunk, PageTerms]]:
        missing = [key for key in ids if key not in self._contexts]
        if missing:
            found = await self._store.contexts(missing)
            self._contexts.update({key: (chunk, page_terms(chunk)) for key, chunk in found.items()})
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
    ranks: dict[str, dict[str, int]] = {}
    for found in reversed(lists):
        ranks |= found.ranks
    return Found(evidence, best.signs, rarity, ranks)


def _ranks(
    evidence: Sequence[Evidence], live: _Live, lists: Mapping[str, Sequence[Hit]]
) -> dict[str, dict[str, int]]:
    """Tell for each context chunk the rank of its best passage in every list that has one."""
    ranks: dict[str, dict[str, int]] = {item.chunk.id: {} for item in evidence}
    for name, hits in lists.items():
        for rank, hit in enumerate(hits, start=1):
            found = ranks.get(live.context_of[hit.chunk_id])
            if found is not None:
                found.setdefault(name, rank)
    return ranks


def _only(live: _Live, hits: Sequence[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.chunk_id in live.context_of]
