"""What the harness compares: the product with steps on and off, and other ways to retrieve (QAMR IV-C)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from core.domain import ContextChunk, Evidence, Hit
from core.retrieval.confidence import PLAIN_JUDGEMENT, Judgement, signs
from core.retrieval.found import Found
from core.retrieval.fusion import Weights, reciprocal_rank, weighted
from core.retrieval.live import Live
from core.retrieval.look import CANDIDATES, Look
from core.retrieval.pregenerated import FIELDS
from core.retrieval.retrievers.cosine_mmr import DIVERSE_FROM, union
from core.text.words import index_terms, query_terms


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
    """A retriever that finds pages by a mix, without a second look; judged by the signs that need none."""

    def __init__(self, mix: Mix, judgement: Judgement = PLAIN_JUDGEMENT) -> None:
        self._mix = mix
        self._judgement = judgement

    async def __call__(self, look: Look) -> Found:
        """Return the first chunks of the mix."""
        queries, sources = look.queries, look.sources
        lives = [*sources.live.values()] if self._mix.together else [look.live]
        forms = dict.fromkeys([queries.base, queries.versionless or queries.filtered])
        terms = [query_terms(form) for form in forms]
        every = list(dict.fromkeys(term for some in terms for term in some))
        names = [live.corpus.collection for live in lives]
        near, lexical, rarity = await asyncio.gather(
            asyncio.gather(*(sources.vectors.search(name, look.vectors, CANDIDATES) for name in names)),
            asyncio.gather(
                *(
                    asyncio.gather(*(sources.words.search(name, some, CANDIDATES) for name in names))
                    for some in terms
                )
            ),
            sources.words.rarity(look.live.corpus.collection, every),
        )
        dense = _best(lives, [hits for per_query in near for hits in per_query])
        by_words = [_best(lives, found) for found in lexical]
        fused = await self._fused(look, dense, by_words)
        evidence = await self._evidence(look, lives, fused)
        pages = [_has(item.chunk) for item in evidence[:3]]
        read = signs(terms[-1], rarity, dense, by_words[-1], pages, look.live.corpus.chunks)
        return Found(evidence, read, rarity, judgement=self._judgement)

    async def _fused(self, look: Look, dense: Sequence[Hit], lexical: Sequence[Sequence[Hit]]) -> list[Hit]:
        if self._mix.fusion == "union":
            return await _union(look, dense[:DIVERSE_FROM])
        weights = self._mix.weights
        lists = [(weights.dense, dense)] if weights.dense else []
        if weights.lexical:
            lists += [(weights.lexical / len(lexical), hits) for hits in lexical]
        return reciprocal_rank(lists) if self._mix.fusion == "rank" else weighted(lists)

    async def _evidence(
        self, look: Look, lives: Sequence[Live], fused: Sequence[Hit]
    ) -> tuple[Evidence, ...]:
        page_of = {hit.chunk_id: _live(lives, hit).context_of[hit.chunk_id] for hit in fused}
        grouped: dict[str, list[Hit]] = {}
        for hit in fused:
            grouped.setdefault(page_of[hit.chunk_id] if self._mix.dual else hit.chunk_id, []).append(hit)
        best = list(grouped.values())[: look.keep]
        contexts = await look.sources.store.contexts(
            list(dict.fromkeys(page_of[hits[0].chunk_id] for hits in best))
        )
        found: list[Evidence] = []
        for hits in best:
            if chunk := contexts.get(page_of[hits[0].chunk_id]):
                passages = tuple(_live(lives, hit).text_of[hit.chunk_id] for hit in hits)
                shown = chunk if self._mix.dual else _only(chunk, hits[0].chunk_id, passages[0])
                found.append(Evidence(len(found) + 1, shown, hits[0].score, passages))
        return tuple(found)


def _has(chunk: ContextChunk) -> Callable[[str], bool]:
    return frozenset(index_terms(f"{chunk.title} {chunk.heading}\n{chunk.page}")).__contains__


def _live(lives: Sequence[Live], hit: Hit) -> Live:
    return next(live for live in lives if hit.chunk_id in live.context_of)


def _best(lives: Sequence[Live], lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Join lists of hits of one kind, best first, without what is not live."""
    found = {hit for hits in lists for live in lives for hit in live.only(hits)}
    return sorted(found, key=lambda hit: (-hit.score, hit.chunk_id))[:CANDIDATES]


async def _union(look: Look, dense: Sequence[Hit]) -> list[Hit]:
    hashes = [look.live.hash_of[hit.chunk_id] for hit in dense]
    kept = await look.vectors_of(hashes)
    held = [(hit, kept[key]) for hit, key in zip(dense, hashes, strict=True) if key in kept]
    if not held:
        return []
    return [held[row][0] for row in union(look.query, np.stack([vector for _, vector in held]))]


def _only(chunk: ContextChunk, key: str, passage: str) -> ContextChunk:
    return replace(chunk, id=key, page=passage, before="", after="")


@dataclass(frozen=True, slots=True)
class Configuration:
    """Which of a recipe's stages are left, and how pages are found; a recipe as it is where nothing is said.

    Without a `mix` retrieval is the recipe's own.

    `standalone` asks follow-ups in the form that a person wrote for them, as a bound for rewriting;
    without `pairs` those made of documents are not searched. With `fields` pages are found by these pairs
    alone, by the fields named (all as tuned where the tuple is empty).
    """

    name: str
    rewrite: bool = True
    dual: bool = True
    reduce: bool = True
    select: bool = True
    mix: Mix | None = None
    standalone: bool = False
    pairs: bool = True
    fields: tuple[str, ...] | None = None

    @property
    def searches_otherwise(self) -> bool:
        """Return True if pages are not found as the recipe finds them."""
        return bool(self.mix or self.fields is not None) or not (self.dual and self.pairs)


def _alone(name: str, **on: bool) -> Configuration:
    """Return a configuration of one step, all others off."""
    off = Configuration(name, rewrite=False, dual=False, reduce=False, select=False)
    return replace(off, **on)  # type: ignore[arg-type]  # all that is switched is a bool


CONFIGURATIONS: tuple[Configuration, ...] = (
    _alone("base"),
    _alone("+rewrite", rewrite=True),
    _alone("+dual-chunk", dual=True),
    _alone("+reduce", reduce=True),
    _alone("+select", select=True),
    Configuration("all"),
    Configuration("stand-alone", standalone=True),
    Configuration("no pairs", pairs=False),
    Configuration("one corpus", mix=Mix(together=True)),
    Configuration("dense only", mix=Mix(Weights(dense=1.0, lexical=0.0))),
    Configuration("BM25 only", mix=Mix(Weights(dense=0.0, lexical=1.0))),
    Configuration("equal RRF", mix=Mix(Weights(dense=0.5, lexical=0.5), "rank")),
    Configuration("cosine + MMR", mix=Mix(fusion="union")),
)

OF_PAIRS: tuple[Configuration, ...] = (
    Configuration("pairs alone", fields=()),
    *(Configuration(f"pairs: {name.replace('_', ' by ')}", fields=(name,)) for name in FIELDS),
)
"""Each field of the pairs made of documents by itself, and the four together; only where there are pairs."""
