"""Pairs that were made of documents, searched beside the passages (QA pre-generation, retrieval).

Four fields: question and answer, each by vector and by words. Their lists are joined by weighted reciprocal
rank, forty of each and eight pages kept, and these pages are looked at with the others. What a field weighs
in the joining and in the order of pages is learnt, like everything else of the second look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain import Hit, Vector
from core.ports import (
    ASKED,
    TOLD,
    Corpus,
    CorpusStore,
    Matrix,
    PregeneratedPair,
    VectorIndex,
    WordIndex,
    pairs_collection,
)
from core.retrieval.fusion import reciprocal_rank
from core.text.words import index_terms

EACH = 40
"""Hits of each field before they are joined."""
FIELDS = ("question_vector", "answer_vector", "question_words", "answer_words")
"""The four fields in the order of their lists: by vector, then by words."""
EQUAL: Mapping[str, float] = dict.fromkeys(FIELDS, 1.0)
"""Every field weighs as much as another, as in the paper."""
PAGES = 8
"""Pages that the four fields together add to those that are looked at."""


@dataclass(frozen=True, slots=True)
class PairView:
    """The pairs of one page: vectors of questions and answers, a row each, and their terms.

    Vectors are None where they are not kept (yet).
    """

    asked: Matrix | None
    told: Matrix | None
    asked_terms: tuple[frozenset[str], ...]
    told_terms: tuple[frozenset[str], ...]

    def columns(self, query: Vector, weight: Mapping[str, float]) -> tuple[float, float, float, float]:
        """Return cosine of the best question and answer, and the share of the terms that the best of each
        holds; `query` is a unit vector, `weight` the rarity of each term.
        """
        total = sum(weight.values()) or 1.0
        near = [float((rows @ query).max()) if rows is not None else 0.0 for rows in (self.asked, self.told)]
        held = [
            max((sum(weight.get(term, 0.0) for term in terms) for terms in some), default=0.0) / total
            for some in ([t & weight.keys() for t in texts] for texts in (self.asked_terms, self.told_terms))
        ]
        return near[0], near[1], held[0], held[1]


@dataclass(frozen=True, slots=True)
class LivePairs:
    """The pairs of a live corpus, by page, by what their index entries belong to, and by their ids."""

    collection: str
    of_page: Mapping[str, tuple[PregeneratedPair, ...]]
    page_of: Mapping[str, str]
    by_id: Mapping[str, PregeneratedPair]

    @classmethod
    def of(cls, corpus: Corpus, pairs: Sequence[PregeneratedPair]) -> LivePairs:
        """Read what is live."""
        by_page: dict[str, list[PregeneratedPair]] = {}
        for pair in pairs:
            by_page.setdefault(pair.context_id, []).append(pair)
        page_of = {key + pair.id: pair.context_id for pair in pairs for key in (ASKED, TOLD)}
        kept = {page: tuple(some) for page, some in by_page.items()}
        return cls(pairs_collection(corpus), kept, page_of, {pair.id: pair for pair in pairs})

    async def pages(
        self,
        vectors: VectorIndex,
        words: WordIndex,
        query: Vector,
        terms: Sequence[str],
        weights: Mapping[str, float] = EQUAL,
    ) -> list[str]:
        """Return the pages whose pairs are nearest to a question, best first, by weighted fields."""
        return joined(await self.by_field(vectors, words, query, terms), weights)

    async def by_field(
        self, vectors: VectorIndex, words: WordIndex, query: Vector, terms: Sequence[str]
    ) -> dict[str, list[Hit]]:
        """Return the pages that each of `FIELDS` finds by itself, best first, forty at most."""
        if not self.page_of:
            return {name: [] for name in FIELDS}
        dense, lexical = await asyncio.gather(
            vectors.search(self.collection, query[None, :], 2 * EACH),
            words.search(self.collection, terms, 2 * EACH),
        )
        lists: list[list[Hit]] = []
        for hits in (dense[0], lexical):
            for field in (ASKED, TOLD):
                pages = (
                    Hit(self.page_of[hit.chunk_id], hit.score)
                    for hit in hits
                    if hit.chunk_id.startswith(field) and hit.chunk_id in self.page_of
                )
                best = {hit.chunk_id: hit for hit in reversed(list(pages))}
                lists.append(sorted(best.values(), key=lambda hit: -hit.score)[:EACH])
        return dict(zip(FIELDS, lists, strict=True))

    async def nearest(
        self, vectors: VectorIndex, words: WordIndex, query: Vector, terms: Sequence[str]
    ) -> list[PregeneratedPair]:
        """Return the eight nearest pairs: forty of each field, joined by equal reciprocal rank."""
        if not self.page_of:
            return []

        async def dense(count: int) -> list[Hit]:
            return (await vectors.search(self.collection, query[None, :], count))[0]

        async def lexical(count: int) -> list[Hit]:
            return await words.search(self.collection, terms, count)

        found = await asyncio.gather(_of_fields(dense), _of_fields(lexical))
        lists = [(1.0, hits) for fields in found for hits in fields]
        best = (self.by_id.get(hit.chunk_id) for hit in reciprocal_rank(lists))
        return [pair for pair in best if pair][:PAGES]

    async def questions(self, store: CorpusStore, encoder: str) -> dict[str, Vector]:
        """Read the vectors of all questions, by the pair's id; what has none yet is left out."""
        pairs = [pair for some in self.of_page.values() for pair in some]
        kept = await store.vectors(encoder, [pair.hashes[0] for pair in pairs])
        return {pair.id: kept[pair.hashes[0]] for pair in pairs if pair.hashes[0] in kept}

    async def views(self, store: CorpusStore, encoder: str, pages: Sequence[str]) -> dict[str, PairView]:
        """Read the pairs of pages; pages without any are left out."""
        wanted = {page: self.of_page[page] for page in pages if page in self.of_page}
        hashes = [key for pairs in wanted.values() for pair in pairs for key in pair.hashes]
        kept = await store.vectors(encoder, hashes)

        def rows(pairs: Sequence[PregeneratedPair], field: int) -> Matrix | None:
            found = [kept[pair.hashes[field]] for pair in pairs if pair.hashes[field] in kept]
            return np.stack(found) if found else None

        return {
            page: PairView(
                rows(pairs, 0),
                rows(pairs, 1),
                tuple(frozenset(index_terms(pair.asked)) for pair in pairs),
                tuple(frozenset(index_terms(pair.told)) for pair in pairs),
            )
            for page, pairs in wanted.items()
        }


async def _of_fields(search: Callable[[int], Awaitable[list[Hit]]]) -> tuple[list[Hit], list[Hit]]:
    """Return the forty best questions and the forty best answers, by the ids of their pairs.

    Both stand in one index, so that more is searched until there are enough of each, or no more.
    """
    count = 2 * EACH
    while True:
        hits = await search(count)
        asked, told = (
            [
                Hit(hit.chunk_id.removeprefix(field), hit.score)
                for hit in hits
                if hit.chunk_id.startswith(field)
            ]
            for field in (ASKED, TOLD)
        )
        if len(hits) < count or min(len(asked), len(told)) >= EACH:
            return asked[:EACH], told[:EACH]
        count *= 4


def joined(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[str]:
    """Join the lists of the fields by reciprocal rank, each by its weight; return the best pages."""
    fused = reciprocal_rank([(weights[name], hits) for name, hits in lists.items() if weights[name] > 0.0])
    return [hit.chunk_id for hit in fused[:PAGES]]
