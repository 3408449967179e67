"""The `PregeneratedStore` port in dictionaries, beside `FakeCorpora`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.domain import ChunkedDocument, ContextChunk
from core.ports import PairCount, PregeneratedPair, refusal_of
from tests.fakes import FakeCorpora


class FakePregenerated:
    """Keeps pairs of the documents of `corpora`, which go when their document goes."""

    def __init__(self, corpora: FakeCorpora) -> None:
        self._corpora = corpora
        self._kept: dict[str, tuple[str, tuple[PregeneratedPair, ...]]] = {}
        self._refused: set[str] = set()
        self._done: dict[str, int] = {}
        corpora.kept_texts = self._hashes
        corpora.replaced = self._replaced

    def _replaced(self, old: ChunkedDocument, new: ChunkedDocument) -> None:
        by = self._kept.get(old.id, ("", ()))[0]
        if by and new.id not in self._kept:
            self._kept[new.id], self._done[new.id] = (by, ()), 0

    def _hashes(self) -> set[str]:
        there = (pairs for key, (_, pairs) in self._kept.items() if self._corpora.document(key))
        return {key for pairs in there for pair in pairs for key in pair.hashes}

    async def made_by(self, release: str) -> dict[str, str]:
        return {d.id: self._kept.get(d.id, ("", ()))[0] for d in await self._corpora.manifest(release)}

    async def pages(self, document_id: str) -> tuple[tuple[ContextChunk, ...], float]:
        found = self._corpora.document(document_id)
        return (found.contexts, 1.0) if found else ((), 0.0)

    async def unfinished(self, release: str) -> dict[str, int]:
        there = await self._corpora.manifest(release)
        return {d.id: self._done[d.id] for d in there if d.id in self._done}

    async def put(
        self,
        document_id: str,
        by: str,
        pairs: Sequence[PregeneratedPair],
        of: Collection[str] | None = None,
        done: int | None = None,
    ) -> None:
        document = self._corpora.document(document_id)
        if document is None:
            return
        before = self._kept.get(document_id, ("", ()))[1]
        other = [p for p in before if of is not None and p.context_id not in of]
        kept = [*other, *(p for p in pairs if p.refusal not in self._refused)]
        order = [page.id for page in document.contexts]
        kept.sort(key=lambda pair: order.index(pair.context_id))
        self._kept[document_id] = (by, tuple(kept))
        self._done.pop(document_id, None)
        if done is not None:
            self._done[document_id] = done

    async def refuse(self, asked: Collection[tuple[str, str]]) -> int:
        self._refused |= {refusal_of(*one) for one in asked}
        before = sum(len(kept) for _, kept in self._kept.values())
        for document, (by, kept) in self._kept.items():
            self._kept[document] = (by, tuple(p for p in kept if p.refusal not in self._refused))
        return before - sum(len(kept) for _, kept in self._kept.values())

    async def allow(self, asked: Collection[tuple[str, str]]) -> int:
        back = self._refused & {refusal_of(*one) for one in asked}
        self._refused -= back
        paths = {path for path, _ in asked} if back else set()
        for document, (_, kept) in self._kept.items():
            known = self._corpora.document(document)
            if known and known.path in paths:
                self._kept[document] = ("", kept)
                self._done.pop(document, None)
        return len(back)

    async def pairs(self, release: str) -> tuple[PregeneratedPair, ...]:
        documents = await self._corpora.manifest(release)
        return tuple(pair for d in documents for pair in self._kept.get(d.id, ("", ()))[1])

    async def count(self, release: str, by: str) -> PairCount:
        made_by = await self.made_by(release)
        done = sum(maker == by and key not in self._done for key, maker in made_by.items())
        return PairCount(release, by, len(made_by), done, len(await self.pairs(release)))
