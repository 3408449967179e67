"""From queries to numbered evidence: every retriever at once, fusion, context chunks."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.domain import ContextChunk, Evidence, Hit, Queries, Vector
from core.errors import EncoderError
from core.ports import (
    Corpus,
    CorpusStore,
    Matrix,
    Place,
    PregeneratedPair,
    PregeneratedStore,
    Reranker,
    VectorIndex,
    WordIndex,
)
from core.retrieval.confidence import signs
from core.retrieval.features import FEATURES, Candidate, features
from core.retrieval.found import KEPT, Found, ranks_of
from core.retrieval.fusion import weighted
from core.retrieval.live import Live, live_of
from core.retrieval.mmr import DIVERSE_FROM, union
from core.retrieval.page_views import CACHED, PageViews
from core.retrieval.pool import Pool
from core.retrieval.pregenerated import LivePairs
from core.retrieval.release_notes.search import ReleaseNotes
from core.retrieval.rescoring import DEFAULT_RANKING, POOL, Ranking
from core.system.offload import aside
from core.text.words import query_terms

log = logging.getLogger(__name__)

CANDIDATES = 40
"""Hits taken from every retriever and query before fusion (QA pre-generation, retrieval)."""
NEAR = 100
"""Hits of the dense retriever whose cosines are known to the second look at pages; 40 of them are fused."""
Retriever = Literal["fusion", "cosine", "cosine+mmr", "pairs"]
"""How pages are found: by the fusion and a second look, by cosine alone (ComRAG), by QAMR's union of four
(its table II), or by the pairs made of documents alone (QA pre-generation as it stands in the paper).
"""


@dataclass(frozen=True, slots=True)
class _Fused:
    terms: Sequence[str]
    asked: Sequence[str]
    rarity: dict[str, float]
    lists: Sequence[tuple[float, Sequence[Hit]]]
    near: Sequence[Hit]
    lexical: Sequence[Hit]
    made: Sequence[str]


class Searcher:
    """Searches the live corpora; knows which chunks are live, whatever the indexes hold."""

    def __init__(
        self,
        store: CorpusStore,
        vectors: VectorIndex,
        words: WordIndex,
        ranking: Ranking = DEFAULT_RANKING,
        reranker: Reranker | None = None,
        problem: str = "",
        retriever: Retriever = "fusion",
        pairs: PregeneratedStore | None = None,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._words = words
        self.ranking = ranking
        self.retriever = retriever
        self.problem = problem
        """Why a tuned ranking is not used."""
        self._reranker = reranker
        self._made = pairs
        self._live: dict[str, Live] = {}
        self._pairs: dict[str, LivePairs] = {}
        self._keep = KEPT
        self._pages = PageViews(store)
        self.release_notes = ReleaseNotes(self._live, store)
        self._places: dict[Place, dict[str, tuple[str, ...]]] = {}

    @property
    def corpora(self) -> dict[str, Corpus]:
        """Return the corpora that answer now, by release."""
        return {release: live.corpus for release, live in self._live.items()}

    def without_pairs(self) -> Searcher:
        """Return a searcher of the same corpora that does not know the pairs made of documents."""
        other = copy.copy(self)
        other._pairs, other._pages = {}, PageViews(self._store)
        return other

    def by_pairs(self, fields: Mapping[str, float] | None = None) -> Searcher:
        """Return a searcher that finds pages by their pairs alone, weighed by `fields` or as tuned."""
        other = self.by(replace(self.ranking, fields=fields) if fields else self.ranking)
        other.retriever = "pairs"
        return other

    def by_cosine(self, keep: int = KEPT, mmr: bool = False) -> Searcher:
        """Return a searcher that finds the nearest `keep` pages (ComRAG 4.1), or two and two by MMR."""
        other = self.by(self.ranking)
        other.retriever, other._keep = "cosine+mmr" if mmr else "cosine", keep
        return other

    def has_pairs(self) -> bool:
        """Return True if any live corpus has pairs made of its documents."""
        return any(pairs.page_of for pairs in self._pairs.values())

    async def pages_by_field(
        self, queries: Queries, vectors: Matrix, release: str
    ) -> tuple[dict[str, list[Hit]], dict[str, ContextChunk]]:
        """Return the pages that each field of the pairs finds by itself, and these pages."""
        live, pairs = self._live.get(release), self._pairs.get(release)
        if live is None or pairs is None:
            return {}, {}
        terms = query_terms(queries.versionless or queries.filtered)
        lists = await pairs.by_field(self._vectors, self._words, vectors[0], terms)
        return lists, await self._store.contexts(
            list({hit.chunk_id for hits in lists.values() for hit in hits})
        )

    async def nearest_pairs(self, queries: Queries, vectors: Matrix, release: str) -> list[PregeneratedPair]:
        """Return the pairs made of a release's documents that are nearest to a question, best first."""
        if release not in self._live or release not in self._pairs:
            return []
        terms = query_terms(queries.versionless or queries.filtered)
        return await self._pairs[release].nearest(self._vectors, self._words, vectors[0], terms)

    def by(self, ranking: Ranking) -> Searcher:
        """Return a searcher of the same corpora that weighs in another way."""
        other = copy.copy(self)
        other.ranking = ranking
        return other

    async def load(self, release: str | None = None) -> None:
        """Take over what is live in the store, of one release or of all."""
        corpora = await self._store.live()
        for name, corpus in corpora.items():
            if release in (None, name):
                live = await asyncio.to_thread(live_of, corpus, await self._store.rows(name))
                made = await self._made.pairs(name) if self._made else ()
                pairs = await aside(len(made), LivePairs.of, corpus, made)
                # no wait in between: a search sees both or neither
                self._live[name], self._pairs[name] = live, pairs
        for name in [name for name in self._live if name not in corpora]:
            del self._live[name], self._pairs[name]
        self._pages.clear()
        self._places.clear()

    def live_pairs(self, release: str) -> LivePairs | None:
        """Return the pairs made of a live corpus, None where it has none or is not live."""
        pairs = self._pairs.get(release) if release in self._live else None
        return pairs if pairs and pairs.page_of else None

    async def questions(self, release: str, pairs: LivePairs) -> dict[str, Vector]:
        """Return the vectors of the questions of pairs made of a live corpus, by the pair's id."""
        return await pairs.questions(self._store, self._live[release].corpus.encoder)

    async def search(
        self, queries: Queries, vectors: Matrix, release: str, keep: int = 0, pages: Sequence[str] = ()
    ) -> Found:
        """Return up to `keep` context chunks of a release, best first, numbered from 1; eight by default.

        `vectors` has one row, the dense query (further rows are left out). Only live chunks are returned, or
        of them the `pages` that are given, in their order.
        """
        while (live := self._live.get(release)) is not None:
            found = await self._search(live, queries, vectors, len(pages) or keep or self._keep, pages)
            if self._live.get(release) is live:
                return found
            # another corpus went live meanwhile, and pages of this one may be gone
        return Found()

    async def _search(
        self, live: Live, queries: Queries, vectors: Matrix, keep: int, pages: Sequence[str]
    ) -> Found:
        fused = await self._fused(live, queries, vectors)
        if pages:
            pool = await self._pool(
                live, fused, vectors[0], [key for key in pages if key in live.document_of]
            )
            ranked = pool.ordered(-np.arange(len(pool.keys), dtype=np.float64), keep)
        else:
            pool, ranked = await self._ranked(live, fused, vectors[0], POOL if self._reranker else keep)
        # how sure the passages are; a page that only its pairs brought is no sign of an answer
        by_passage = pool.table[[key not in pool.brought for key in pool.keys]]
        best = dict(zip(FEATURES, by_passage.max(axis=0), strict=True)) if len(by_passage) else {}
        read = signs(
            fused.asked,
            fused.rarity,
            fused.near,
            fused.lexical,
            ranked[:keep],
            live.corpus.chunks,
            float(best.get("sentence", 0.0)),
            float(best.get("joint", 0.0)),
        )
        evidence = await self._reranked(queries.base, ranked, keep)
        names = ("dense", "words", "words, filtered")
        named = {name: hits for name, (_, hits) in zip(names, fused.lists, strict=False)}
        return Found(evidence, read, fused.rarity, ranks_of(evidence, live, named), self.ranking.judgement)

    async def pool(self, queries: Queries, vectors: Matrix, release: str) -> Pool | None:
        """Return the pages that a search looks at, unordered; None for a release that is not live."""
        live = self._live.get(release)
        if live is None:
            return None
        return await self._pool(live, await self._fused(live, queries, vectors), vectors[0])

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
        try:
            scores = await self._reranker.scores(question, passages)
        except EncoderError as error:
            log.warning("what was found stays in the order of the search: %s", error)
            return pool[:keep]
        order = sorted(range(len(pool)), key=lambda at: -scores[at])[:keep]
        return tuple(
            replace(pool[at], number=number, score=scores[at]) for number, at in enumerate(order, start=1)
        )

    async def _ranked(
        self, live: Live, fused: _Fused, query: Vector, keep: int
    ) -> tuple[Pool, tuple[Evidence, ...]]:
        if self.retriever == "fusion":
            pool = await self._pool(live, fused, query)
            return pool, pool.ordered(self.ranking.scores(pool.table), keep)
        keys = await self._chosen(live, fused, query, keep)
        pool = await self._pool(live, fused, query, keys)
        return pool, pool.ordered(-np.arange(len(pool.keys), dtype=np.float64), keep)

    async def _chosen(self, live: Live, fused: _Fused, query: Vector, keep: int) -> Sequence[str]:
        """Return the pages that a paper's retriever finds, best first."""
        if self.retriever == "pairs":
            return fused.made
        if self.retriever == "cosine":
            return list(dict.fromkeys(live.context_of[hit.chunk_id] for hit in fused.near))[:keep]
        near = fused.near[:DIVERSE_FROM]
        kept = await self._store.vectors(live.corpus.encoder, [live.hash_of[hit.chunk_id] for hit in near])
        held = [(hit, kept[key]) for hit in near if (key := live.hash_of[hit.chunk_id]) in kept]
        chosen = union(query, np.stack([vector for _, vector in held])) if held else []
        return list(dict.fromkeys(live.context_of[held[row][0].chunk_id] for row in chosen))

    async def _fused(self, live: Live, queries: Queries, vectors: Matrix) -> _Fused:
        forms = [queries.base, queries.versionless or queries.filtered]
        asked = query_terms(forms[-1])
        if queries.carried:  # what is only carried along is searched for, and no sign of an answer
            forms[-1] = " ".join([forms[-1], *queries.carried])
        terms = [query_terms(form) for form in dict.fromkeys(forms)]
        collection = live.corpus.collection
        every = list(dict.fromkeys(term for some in terms for term in some))
        pairs = self._pairs.get(live.corpus.release)
        dense, lexical, rarity, made = await asyncio.gather(
            self._vectors.search(collection, vectors[:1], NEAR),
            asyncio.gather(*(self._words.search(collection, some, CANDIDATES) for some in terms)),
            self._words.rarity(collection, every),
            pairs.pages(self._vectors, self._words, vectors[0], terms[-1], self.ranking.fields)
            if pairs
            else _none(),
        )
        near = live.only(dense[0])
        lists = [(self.ranking.dense, near[:CANDIDATES])]
        lists += [((1.0 - self.ranking.dense) / len(lexical), live.only(hits)) for hits in lexical]
        return _Fused(terms[-1], asked, rarity, lists, near, lexical[0 if queries.carried else -1], made)

    async def _pool(
        self, live: Live, fused: _Fused, query: Vector, keys: Sequence[str] | None = None
    ) -> Pool:
        grouped: dict[str, list[Hit]] = {}
        for hit in weighted(fused.lists):
            grouped.setdefault(live.context_of[hit.chunk_id], []).append(hit)
        cosines: dict[str, float] = {}
        for hit in fused.near:
            cosines.setdefault(live.context_of[hit.chunk_id], hit.score)
        farthest = fused.near[-1].score if fused.near else 0.0
        brought: set[str] = set()
        if keys is None:
            best = list(grouped)[:POOL]
            brought = set(fused.made) - set(best)
            keys = list(dict.fromkeys([*best, *fused.made]))
        pages = await self._pages.of(keys, live.corpus, self._pairs.get(live.corpus.release))
        candidates = []
        for key, page in pages.items():
            document = live.document_of[key]
            candidates.append(
                Candidate(
                    page.view,
                    grouped[key][0].score if key in grouped else 0.0,
                    cosines.get(key, farthest),
                    page.vectors,
                    document,
                    live.reference[document],
                    page.made,
                )
            )
        return Pool(
            tuple(pages),
            tuple(page.chunk for page in pages.values()),
            features(candidates, fused.terms, fused.rarity, query),
            {key: tuple(live.text_of[hit.chunk_id] for hit in grouped.get(key, ())) for key in pages},
            frozenset(brought),
        )


async def _none() -> list[str]:
    return []
