"""One look into a live corpus: what a retriever is given to find pages with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.domain import ContextChunk, Evidence, Hit, Queries, Vector
from core.ports import CorpusStore, Encoder, Matrix, TokenEncoder, VectorIndex, WordIndex, for_questions
from core.retrieval.confidence import margins, signs
from core.retrieval.features import FEATURES, Candidate, Numbers, PageView, features
from core.retrieval.found import KEPT, VOTES, Found, each_once, ranks_of
from core.retrieval.fusion import weighted
from core.retrieval.live import Live, PageViews, SeenPage, views_of
from core.retrieval.pregenerated import LivePairs
from core.retrieval.ranking import POOL, Ranking
from core.retrieval.unlearned import PAGES
from core.text.words import query_terms

_BEGINS = 40
"""Characters of a line of a passage by which the page is known to say it; ours."""
CANDIDATES = 40
"""Hits taken from every retriever and query before fusion (QA pre-generation, retrieval)."""
NEAR = 100
"""Hits of the dense retriever whose cosines are known to the second look at pages; 40 of them are fused."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Live chunks by meaning and by words, and pages by their pairs (`made`), each best first.

    `terms` are what is searched for, `asked` those that the question itself has; `lists` are to be fused,
    each with its weight; `near` and `lexical` are what confidence is read off.
    """

    terms: Sequence[str]
    asked: Sequence[str]
    rarity: dict[str, float]
    lists: Sequence[tuple[float, Sequence[Hit]]]
    near: Sequence[Hit]
    lexical: Sequence[Hit]
    made: Sequence[str]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a look finds things: the store of pages, both indexes, what is live of every release, views.

    `encoders` returns an encoder by name, for the tokens of a question. `is_learning` tells that not all
    sentences of the release are embedded yet.
    """

    store: CorpusStore
    vectors: VectorIndex
    words: WordIndex
    live: Mapping[str, Live]
    pages: PageViews
    encoders: Callable[[str], Awaitable[Encoder]] | None = None
    is_learning: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """What is searched for: the queries, and the vector of the dense one (further rows are left out).

    `wanted` is how many pages are to be found, of which `keep` are handed over. `voted` is what people think
    of pages for nearly the same question, -1..1 by the hash of the page.
    """

    queries: Queries
    vectors: Matrix
    keep: int = KEPT
    wanted: int = KEPT
    voted: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pool:
    """Pages with their features, shape (pages, FEATURES), the passages found in each.

    `views` are what was read of them for this question, `brought` the pages that only their pairs brought
    here. What they say is read where it is needed (`Look.chunks`).
    """

    keys: tuple[str, ...]
    views: tuple[PageView, ...]
    table: Numbers
    passages: Mapping[str, tuple[str, ...]]
    brought: frozenset[str] = frozenset()

    def best(self, scores: Numbers, keep: int) -> list[int]:
        """Return the places of the best `keep` pages by their scores, shape (pages,)."""
        return sorted(range(len(self.keys)), key=lambda at: -scores[at])[:keep]

    def behind(self, read: Pool, order: Sequence[int]) -> Pool:
        """Return these pages in this order behind those of them that were `read`, whose tokens are known."""
        rest = [at for at in order if self.keys[at] not in read.passages]
        return Pool(
            (*read.keys, *(self.keys[at] for at in rest)),
            (*read.views, *(self.views[at] for at in rest)),
            np.concatenate([read.table, self.table[rest]]),
            {**self.passages, **read.passages},
            self.brought,
        )


class Look:
    """One search in one release: what is sought, the dense query's `query` vector, and where to look."""

    def __init__(
        self, sources: Sources, live: Live, pairs: LivePairs | None, ranking: Ranking, sought: Sought
    ) -> None:
        self.voted = sought.voted
        self.sources = sources
        self.live = live
        self.ranking = ranking
        self.queries = sought.queries
        self.vectors = sought.vectors[:1]
        self.keep = sought.keep
        self.wanted = sought.wanted
        self._pairs = pairs
        self._hits: Hits | None = None
        self._is_blind = sources.is_learning

    @property
    def query(self) -> Vector:
        """Return the vector of the dense query, of unit length."""
        query: Vector = self.vectors[0]
        return query

    async def vectors_of(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that are kept of texts, by the texts' hashes."""
        kept: dict[str, Vector] = await self.sources.store.vectors(self.live.corpus.encoder, hashes)
        return kept

    async def hits(self) -> Hits:
        """Search vectors, words and pairs, side by side; once a look."""
        if self._hits is None:
            self._hits = await self._searched()
        return self._hits

    async def _searched(self) -> Hits:
        queries, live, words = self.queries, self.live, self.sources.words
        forms = [queries.base, queries.versionless or queries.filtered]
        asked = query_terms(forms[-1])
        if queries.carried:  # what is only carried along is searched for, and no sign of an answer
            forms[-1] = " ".join([forms[-1], *queries.carried])
        terms = [query_terms(form) for form in dict.fromkeys(forms)]
        collection = live.corpus.collection
        dense, (lexical, rarity), made = await asyncio.gather(
            self.sources.vectors.search(collection, self.vectors, NEAR),
            words.find(collection, terms, CANDIDATES),
            self._made(terms[-1]),
        )
        near = live.only(dense[0])
        share = self.ranking.dense
        lists = [(share, near[:CANDIDATES])]
        lists += [((1.0 - share) / len(lexical), live.only(hits)) for hits in lexical]
        return Hits(terms[-1], asked, rarity, lists, near, lexical[0 if queries.carried else -1], made)

    async def _tokens(self) -> Matrix | None:
        """Return the vectors of the question's tokens, None where its encoder does not tell them."""
        if self.sources.encoders is None:
            return None
        encoder = for_questions(await self.sources.encoders(self.live.corpus.encoder))
        if not isinstance(encoder, TokenEncoder):
            return None
        _, (tokens,) = await encoder.encode_tokens([self.queries.base])
        return tokens if len(tokens) else None

    async def _made(self, terms: Sequence[str]) -> list[str]:
        if self._pairs is None:
            return []
        sources = self.sources
        return await self._pairs.pages(sources.vectors, sources.words, self.query, terms, self.ranking.fields)

    async def pool(self, keys: Sequence[str] | None = None) -> Pool:
        """Return pages with their features: those of these context chunks, in their order.

        Without `keys` the best forty of the fused lists and those that their pairs bring.
        """
        live, hits = self.live, await self.hits()
        grouped: dict[str, list[Hit]] = {}
        for hit in weighted(hits.lists):
            grouped.setdefault(live.context_of[hit.chunk_id], []).append(hit)
        cosines: dict[str, float] = {}
        for hit in hits.near:
            cosines.setdefault(live.context_of[hit.chunk_id], hit.score)
        farthest = hits.near[-1].score if hits.near else 0.0
        brought: set[str] = set()
        if keys is None:
            best = list(grouped)[:POOL]
            brought = set(hits.made) - set(best)
            keys = list(dict.fromkeys([*best, *hits.made]))
        pages = await self._seen(keys)
        views = views_of(list(pages.values()), [*hits.terms, *hits.asked])
        candidates = []
        for (key, page), view in zip(pages.items(), views, strict=True):
            document = live.document_of[key]
            candidates.append(
                Candidate(
                    view,
                    grouped[key][0].score if key in grouped else 0.0,
                    cosines.get(key, farthest),
                    page.vectors,
                    page.tokens,
                    document,
                    live.reference[document],
                    page.made,
                    live.ages.get(key),
                    document in live.making,
                )
            )
        question, asked = self.queries.base, await self._tokens()
        return Pool(
            tuple(pages),
            tuple(views),
            features(candidates, hits.terms, hits.rarity, self.query, question, asked),
            {key: tuple(live.text_of[hit.chunk_id] for hit in grouped.get(key, ())) for key in pages},
            frozenset(brought),
        )

    async def read_closely(self, pool: Pool) -> Pool:
        """Return a pool with the sentences of its best pages read, where the release still learns them.

        Where others have pages read, it is returned as it is.
        """
        if not self.sources.is_learning:
            return pool
        with_tokens = await self._tokens() is not None
        seen = (await self._seen(pool.keys)).values()
        if all(page.tokens if with_tokens else page.rows is not None for page in seen):
            self._is_blind = False
            return pool
        order = pool.best(self.ranking.scores(pool.table), len(pool.keys))
        best = await self.sources.pages.chunks([pool.keys[at] for at in order[:PAGES]])
        read = await self.sources.pages.learn(list(best.values()), self.live.corpus)
        if not read:
            return pool
        self._is_blind = False
        return pool.behind(await self.pool(read), order)

    async def _seen(self, keys: Sequence[str]) -> dict[str, SeenPage]:
        return await self.sources.pages.of(keys, self.live.corpus, self._pairs)

    async def lifted(self, pool: Pool) -> Numbers:
        """Return what votes on nearly the same question add to the scores of pages, shape (pages,)."""
        if not self.voted or not self.ranking.lift:
            return np.zeros(len(pool.keys))
        there = await self.sources.pages.chunks(pool.keys)
        opinions = [self.voted.get(there[key].hash, 0.0) if key in there else 0.0 for key in pool.keys]
        return np.array(opinions, np.float64) * self.ranking.lift

    async def chunks(self, pool: Pool) -> list[ContextChunk]:
        """Return what the pages of a pool say, in its order."""
        found = await self.sources.pages.chunks(pool.keys)
        return [found[key] for key in pool.keys]

    async def found(self, pool: Pool, scores: Numbers | None = None, votes: Numbers | None = None) -> Found:
        """Return the best pages of a pool, and how sure they are.

        `scores`, shape (pages,), put them in order; without them they stay as they are. With `votes`, shape
        (pages,), they are the ranking's with these added, and it is noted what raised each page.
        """
        hits = await self.hits()
        if scores is None:
            scores = -np.arange(len(pool.keys), dtype=np.float64)
        places = pool.best(scores, 2 * self.wanted)
        keys = [pool.keys[at] for at in places]
        # with the sections that the best are of, which are quoted: they are read together
        more = (key for best in keys[: self.wanted] for key in self.live.beside(best))
        chunks = await self.sources.pages.chunks(list(dict.fromkeys([*keys, *more])))
        # a page may be gone that was there a moment ago: then another corpus is live, and is searched again
        there = each_once(chunks, pool.keys, places)
        margin = margins(pool.table, self.sources.is_learning)
        every = tuple(
            Evidence(
                number, page, float(scores[at]), said_in(pool.passages[pool.keys[at]], page.page), margin[at]
            )
            for number, at in enumerate(there, start=1)
            for page in (chunks[pool.keys[at]],)
        )
        evidence, below, there = every[: self.wanted], every[self.wanted :], there[: self.wanted]
        # how sure the passages are; a page that only its pairs brought is no sign of an answer
        by_passage = pool.table[[key not in pool.brought for key in pool.keys]]
        best = dict(zip(FEATURES, by_passage.max(axis=0), strict=True)) if len(by_passage) else {}
        read = signs(
            hits.asked,
            hits.rarity,
            hits.near,
            hits.lexical,
            [pool.views[at].has for at in there if pool.keys[at] not in pool.brought],
            self.live.corpus.chunks,
            float(best.get("sentence", 0.0)),
            float(best.get("joint", 0.0)),
        )
        names = ("dense", "words", "words, filtered")
        named = {name: found for name, (_, found) in zip(names, hits.lists, strict=False)}
        ranks = ranks_of(evidence, self.live, named)
        lifts = {} if votes is None else self._lifts(pool, there, votes)
        return Found(
            evidence,
            read,
            hits.rarity,
            ranks,
            self.ranking.judgement,
            lifts=lifts,
            below=below,
            is_blind=self._is_blind,
        )

    def _lifts(self, pool: Pool, places: Sequence[int], votes: Numbers) -> dict[str, dict[str, float]]:
        """Return how far each part of the score raised pages above the mean of the pool, by chunk."""
        lifts = self.ranking.lifts(pool.table)
        return {
            pool.keys[at]: {**dict(zip(FEATURES, lifts[at].tolist(), strict=True)), VOTES: float(votes[at])}
            for at in places
        }


def said_in(passages: Sequence[str], page: str) -> tuple[str, ...]:
    """Return the passages that a page says; what an index lists it under is none of them."""
    return tuple(
        text for text in passages if any(line[:_BEGINS] in page for line in text.split("\n") if line)
    )
