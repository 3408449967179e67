"""From queries to numbered evidence: the live corpora, and a retriever that looks into one of them."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.domain import ContextChunk, Evidence, Hit, Product, Queries, Vector
from core.ports import (
    Corpus,
    Encoder,
    Matrix,
    Place,
    PregeneratedPair,
    PregeneratedStore,
    Reranker,
)
from core.ports.corpora import Indexes
from core.retrieval.found import KEPT, TOGETHER, Found, reranked
from core.retrieval.live import CACHED, Live, PageViews, live_of, notes_in
from core.retrieval.look import Look, Sought, Sources
from core.retrieval.pregenerated import LivePairs
from core.retrieval.ranking import DEFAULT_RANKING, POOL, Ranking
from core.retrieval.release_notes.search import ReleaseNotes
from core.retrieval.retrievers import DEFAULT, Retriever, retriever_of
from core.retrieval.unlearned import Unlearned
from core.system.offload import aside
from core.text.said import Sayings
from core.text.spelling import mended
from core.text.statuses import written_out
from core.text.words import query_terms, windows

SETTLED = ("sdist:", "pdf:")
"""How sources begin that say the same whenever they are read."""
PAGES = 4096
"""Pages whose windows are kept in memory; some 10 MB."""


class Searcher:
    """Searches the live corpora; knows which chunks are live, whatever the indexes hold."""

    def __init__(
        self,
        indexes: Indexes,
        ranking: Ranking = DEFAULT_RANKING,
        reranker: Reranker | None = None,
        problem: str = "",
        retriever: Retriever | None = None,
        pairs: PregeneratedStore | None = None,
        encoders: Callable[[str], Awaitable[Encoder]] | None = None,
        product: Product | None = None,
    ) -> None:
        """`encoders` returns the encoder of a corpus by its name, for the tokens of questions.

        Only releases of the `product` answer, and its versions are left out where they are compared.
        """
        self._store = store = indexes.store
        self._vectors = indexes.vectors
        self._words = indexes.words
        self.ranking = ranking
        self.retriever = retriever or retriever_of(DEFAULT)
        self.problem = problem
        """Why a tuned ranking is not used."""
        self._reranker = reranker
        self._made = pairs
        self._encoders = encoders
        self._product = product
        self._live: dict[str, Live] = {}
        self.sayings = Sayings(self._live.get, product.name if product else "")
        self.learning: set[str] = set()
        """Live releases whose sentences are still to be embedded: they rank worse."""
        self._pairs: dict[str, LivePairs] = {}
        self._keep = KEPT
        self._pages = PageViews(store, Unlearned(store, encoders))
        self.release_notes = ReleaseNotes(self._live, self._pages, self._words)
        self._places: dict[Place, dict[str, tuple[str, ...]]] = {}
        self._windows: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, dict[str, str]] = {}

    @property
    def corpora(self) -> dict[str, Corpus]:
        """Return the corpora that answer now, by release."""
        return {release: live.corpus for release, live in self._live.items()}

    def without_pairs(self) -> Searcher:
        """Return a searcher of the same corpora that does not know the pairs made of documents."""
        other = copy.copy(self)
        other._pairs, other._pages = {}, PageViews(self._store)
        return other

    def by(self, ranking: Ranking | None = None, retriever: Retriever | None = None) -> Searcher:
        """Return a searcher of the same corpora that weighs or finds in another way."""
        other = copy.copy(self)
        other.ranking = ranking or self.ranking
        other.retriever = retriever or self.retriever
        return other

    def by_pairs(self, fields: Mapping[str, float] | None = None) -> Searcher:
        """Return a searcher that finds pages by their pairs alone, weighed by `fields` or as tuned."""
        ranking = replace(self.ranking, fields=fields) if fields else None
        return self.by(ranking, retriever_of("pairs"))

    def by_cosine(self, keep: int = KEPT, mmr: bool = False) -> Searcher:
        """Return a searcher that finds the nearest `keep` pages (ComRAG 4.1), or two and two by MMR."""
        other = self.by(retriever=retriever_of("cosine+mmr" if mmr else "cosine"))
        other._keep = keep
        return other

    def contents(self, release: str) -> tuple[str, ...]:
        """Return the titles of a release's documents, long ones first; none of a release that is not live."""
        live = self._live.get(release)
        return live.contents if live is not None else ()

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

    async def live(self) -> dict[str, Corpus]:
        """Return the live corpora in the store of the releases that there are; others are kept there."""
        corpora = await self._store.live()
        if self._product is None:
            return corpora
        return {name: corpus for name, corpus in corpora.items() if self._product.release(name)}

    async def load(self, release: str | None = None) -> None:
        """Take over what is live in the store, of one release or of all."""
        corpora = await self.live()
        for name, corpus in corpora.items():
            if release in (None, name):
                rows = await self._store.rows(name)
                notes = await aside(len(rows), notes_in, rows)
                pages = await self._store.contexts([note.context_id for note in notes])
                live = await asyncio.to_thread(live_of, corpus, rows, notes, pages)
                made = await self._made.pairs(name) if self._made else ()
                pairs = await aside(len(made), LivePairs.of, corpus, made)
                lacks = await self._store.missing_views(corpus.views, list({*live.context_of.values()}))
                # no wait in between: a search sees both or neither
                self._live[name], self._pairs[name] = live, pairs
                (self.learning.add if lacks else self.learning.discard)(name)
        for name in [name for name in self._live if name not in corpora]:
            del self._live[name], self._pairs[name]
            self.learning.discard(name)
        self._pages.clear(self._live.values())
        self._places.clear()
        self._windows.clear()
        self._sources.clear()
        await self.sayings.renew()

    def live_pairs(self, release: str) -> LivePairs | None:
        """Return the pairs made of a live corpus, None where it has none or is not live."""
        pairs = self._pairs.get(release) if release in self._live else None
        return pairs if pairs and pairs.page_of else None

    async def questions(self, release: str, pairs: LivePairs) -> dict[str, Vector]:
        """Return the vectors of the questions of pairs made of a live corpus, by the pair's id."""
        return await pairs.questions(self._store, self._live[release].corpus.encoder)

    async def search(
        self,
        queries: Queries,
        vectors: Matrix,
        release: str,
        pages: Sequence[str] = (),
        voted: Mapping[str, float] | None = None,
    ) -> Found:
        """Return up to eight context chunks of a release (`by_cosine` may say otherwise), best first, from 1.

        `vectors` has one row, the dense query (further rows are left out). Only live chunks are returned, or
        of them the `pages` that are given, in their order. `voted` is what people think of pages for nearly
        the same question, -1..1 by hash.
        """
        keep = wanted = len(pages) or self._keep
        if self._reranker and not pages:
            wanted = max(keep, TOGETHER) if self._reranker.weighs else POOL
        sought = Sought(queries, vectors, keep, wanted, voted or {})
        while (live := self._live.get(release)) is not None:
            found = await self._search(live, sought, pages)
            if self._live.get(release) is live:
                return found
            # another corpus went live meanwhile, and pages of this one may be gone
        return Found()

    async def _search(self, live: Live, sought: Sought, pages: Sequence[str]) -> Found:
        look = self._look(live, sought)
        if pages:
            return await look.found(await look.pool([key for key in pages if key in live.document_of]))
        return await reranked(self._reranker, sought.queries.base, await self.retriever(look), sought.keep)

    def _look(self, live: Live, sought: Sought) -> Look:
        parts = (self._store, self._vectors, self._words, self._live, self._pages, self._encoders)
        sources = Sources(*parts, is_learning=live.corpus.release in self.learning)
        return Look(sources, live, self._pairs.get(live.corpus.release), self.ranking, sought)

    def look(self, queries: Queries, vectors: Matrix, release: str) -> Look | None:
        """Return a look into a release as a search takes one; None for a release that is not live."""
        live = self._live.get(release)
        return self._look(live, Sought(queries, vectors)) if live else None

    async def sections(self, evidence: Sequence[Evidence]) -> dict[str, tuple[ContextChunk, ...]]:
        """Return all pages of the section that each page is of, in their order, by the page's id."""
        parts: dict[str, tuple[str, ...]] = {}
        for item in evidence:
            live = self._live.get(item.chunk.release)
            if live and item.chunk.id in live.parts:
                parts[item.chunk.id] = live.parts[item.chunk.id]
        pages = await self._pages.chunks(list(dict.fromkeys(key for some in parts.values() for key in some)))
        whole = {page: some for page, some in parts.items() if all(key in pages for key in some)}
        return {item.chunk.id: (item.chunk,) for item in evidence} | {
            page: tuple(pages[key] for key in some) for page, some in whole.items()
        }

    async def mended(
        self, words: Sequence[str], release: str, tokens: Callable[[str], int], statuses: Sequence[str] = ()
    ) -> dict[str, str]:
        """Return what words (`core.text.spelling`) and `statuses` were meant to be, by a release's pages."""
        live = self._live[release]
        rarity = partial(self._words.rarity, live.corpus.collection)
        holding = partial(self._words.holding, live.corpus.collection)
        found = await mended(words, rarity, live.corpus.chunks, tokens)
        return found | await written_out(statuses, holding, live.text_of)

    async def under(self, evidence: Sequence[Evidence]) -> dict[str, tuple[Evidence, ...]]:
        """Return the first page of each section inside of the one that a page is of, by the page's id.

        They have the page's score: nobody searched for them.
        """
        inside = {
            item.chunk.id: live.under[item.chunk.id]
            for item in evidence
            if (live := self._live.get(item.chunk.release)) and item.chunk.id in live.under
        }
        pages = await self._pages.chunks(list(dict.fromkeys(key for some in inside.values() for key in some)))
        return {
            item.chunk.id: tuple(
                Evidence(item.number, pages[key], item.score) for key in some if key in pages
            )
            for item in evidence
            if (some := inside.get(item.chunk.id))
        }

    async def pages_of(self, release: str) -> tuple[ContextChunk, ...]:
        """Return all pages of a live release in their order but its release notes; none for another one."""
        live = self._live.get(release)
        ids = [key for key in live.document_of if key not in live.ages] if live else []
        pages = await self._store.contexts(ids)
        return tuple(pages[key] for key in ids if key in pages)

    async def read_at(self, release: str, pages: Sequence[str]) -> dict[str, float]:
        """Return when the source of each page was last read, in seconds since the epoch; 0 for never.

        A source that always says the same, as a published archive does, was never read for what is new.
        """
        live = self._live.get(release)
        read = {run.source: run.succeeded_at for run in await self._store.runs() if run.release == release}
        sources, known = self._sources.get(release), live.document_of if live else {}
        if sources is None:
            there = await self._store.manifest(release)
            sources = {one.id: one.source for one in there if not one.source.startswith(SETTLED)}
            if self._live.get(release) is live:
                self._sources[release] = sources
        return {page: read.get(sources.get(known.get(page, ""), ""), 0.0) for page in pages}

    async def windows_near(
        self, sections: Mapping[str, Sequence[ContextChunk]], vectors: Matrix
    ) -> dict[str, list[tuple[str, float]]]:
        """Return the windows of sections, as `sections` returns them, with their cosine to the first vector.

        Empty where the vector of any window is not kept (yet): those of some would be no measure for all.
        """
        if not len(vectors):
            return {}
        near: dict[str, list[tuple[str, float]]] = {}
        for release, live in list(self._live.items()):
            mine = {key: some for key, some in sections.items() if some[0].release == release}
            there = {page.id: page for some in mine.values() for page in some}
            if there and release in self.learning:
                await self._pages.learn(list(there.values()), live.corpus)
            seen = await self._pages.of(list(there), live.corpus, self._pairs.get(release))
            for key, some in mine.items():
                told = near[key] = []
                for page in some:
                    texts, rows = self._cut(page), seen[page.id].vectors if page.id in seen else None
                    if rows is None or len(rows) != len(texts):
                        return {}
                    told += zip(texts, (rows @ vectors[0]).tolist(), strict=True)
        return near

    def _cut(self, page: ContextChunk) -> tuple[str, ...]:
        if page.id not in self._windows:
            self._windows[page.id] = tuple(windows(page.page))
            while len(self._windows) > PAGES:
                del self._windows[next(iter(self._windows))]
        return self._windows[page.id]

    async def pages_like(self, places: Sequence[Place]) -> dict[Place, dict[str, tuple[str, ...]]]:
        """Return the pages under each path and heading, by release; remembered until a corpus changes."""
        if missing := [place for place in places if place not in self._places]:
            self._places |= await self._store.pages_like(missing)
            while len(self._places) > CACHED:
                del self._places[next(iter(self._places))]
        return {place: self._places.get(place, {}) for place in places}
