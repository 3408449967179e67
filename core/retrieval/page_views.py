"""Pages as a second look sees them, read once and remembered."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.domain import ContextChunk
from core.ports import Corpus, CorpusStore, Matrix
from core.retrieval.features import PageView
from core.retrieval.pregenerated import LivePairs, PairView

CACHED = 4096
"""Pages kept in memory."""


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page with its view and the pairs `made` of it.

    `vectors` has a row for each window of the view; None where not all are kept.
    """

    chunk: ContextChunk
    view: PageView
    vectors: Matrix | None
    made: PairView | None


class PageViews:
    """Looks pages up in the store; what was looked up is remembered until a corpus changes."""

    def __init__(self, store: CorpusStore) -> None:
        self._store = store
        self._seen: OrderedDict[str, SeenPage] = OrderedDict()

    def clear(self) -> None:
        """Forget all pages."""
        self._seen.clear()

    async def of(self, ids: Sequence[str], corpus: Corpus, pairs: LivePairs | None) -> dict[str, SeenPage]:
        """Return the pages of these ids that there are, in that order."""
        missing = [key for key in ids if key not in self._seen]
        if missing:
            chunks = await self._store.contexts(missing)
            # 5 ms a page: others are served meanwhile
            views = await asyncio.to_thread(lambda: {key: PageView.of(c) for key, c in chunks.items()})
            hashes = [name for view in views.values() for name in view.hashes]
            kept = await self._store.vectors(corpus.encoder, hashes)
            made = await pairs.views(self._store, corpus.encoder, missing) if pairs else {}
            for key, view in views.items():
                rows = [kept[name] for name in view.hashes if name in kept]
                whole = np.stack(rows) if rows and len(rows) == len(view.windows) else None
                self._seen[key] = SeenPage(chunks[key], view, whole, made.get(key))
        found = {key: self._seen[key] for key in ids if key in self._seen}
        while len(self._seen) > CACHED:
            self._seen.popitem(last=False)
        return found
