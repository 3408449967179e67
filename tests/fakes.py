"""One working implementation of every port, in memory; each passes the suite of its port in `contracts/`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from core.domain import Hit, Vector
from core.ports import Matrix, ModelHealth, Prompt
from core.text.words import index_terms, query_terms, words
from core.vocabulary.writing_systems import bridges
from tests.fake_opinions import FakeOpinions
from tests.fake_stores import FakeConversations, FakeCorpora, FakeMemories

__all__ = [
    "Call",
    "FakeConversations",
    "FakeCorpora",
    "FakeEncoder",
    "FakeMemories",
    "FakeModel",
    "FakeOpinions",
    "FakeVectors",
    "FakeWords",
]

# --- models -----------------------------------------------------------------------------------


class FakeEncoder:
    """Texts with the same words are near: a hashed bag of stems, cut at `max_tokens`, of unit length."""

    def __init__(self, name: str = "fake@256", dimensions: int = 256, max_tokens: int = 256) -> None:
        self.name = name
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.encoded = 0
        """Texts encoded so far."""

    async def encode(self, texts: Sequence[str]) -> Matrix:
        await asyncio.sleep(0)
        self.encoded += len(texts)
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            kept = " ".join(words(text)[: self.max_tokens - 2])
            for term in query_terms(kept) or index_terms(kept) or [""]:
                digest = hashlib.blake2b(f"{self.name} {term}".encode(), digest_size=8).digest()
                row[int.from_bytes(digest, "big") % self.dimensions] += 1.0
            row /= np.linalg.norm(row)
        return vectors

    def count_tokens(self, text: str) -> int:
        return len(words(text)) + 2

    def forget(self) -> None:
        """Remember nothing between calls."""

    def close(self) -> None:
        """Hold nothing."""


Reply = str | dict[str, Any] | Exception | Sequence[str | Exception]


@dataclass(frozen=True, slots=True)
class Call:
    """What a model was asked for."""

    kind: str
    prompts: tuple[Prompt, ...]
    temperature: float = 0.0
    schema: dict[str, Any] | None = None


class FakeModel:
    """Says what `script` makes of the prompts; an exception, also in mid-stream, is raised."""

    def __init__(self, script: Callable[[Sequence[Prompt]], Reply], name: str = "fake:1b") -> None:
        self.name = name
        self.context_tokens = 8192
        self.script = script
        self.calls: list[Call] = []
        self.problem = ""

    def count_tokens(self, text: str) -> int:
        return len(text) // 3 + 1

    async def stream(
        self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int
    ) -> AsyncIterator[str]:
        self.calls.append(Call("stream", tuple(prompts), temperature))
        reply = self.script(prompts)
        if isinstance(reply, dict):
            reply = json.dumps(reply)
        if isinstance(reply, Exception):
            reply = [reply]
        pieces = reply.split(" ") if isinstance(reply, str) else reply
        for place, piece in enumerate(pieces):
            await asyncio.sleep(0)
            if isinstance(piece, Exception):
                raise piece
            yield f" {piece}" if place and isinstance(reply, str) else piece

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        self.calls.append(Call("structured", tuple(prompts), schema=schema))
        reply = self.script(prompts)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, dict):
            return reply
        made: dict[str, Any] = json.loads(reply if isinstance(reply, str) else "".join(map(str, reply)))
        return made

    async def health(self) -> ModelHealth:
        return ModelHealth(not self.problem, self.problem, self.name, "0.0.0")


# --- indexes -----------------------------------------------------------------------------------


T = TypeVar("T")


class _Collections(Generic[T]):
    """What an index holds under its ids, by collection."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, T]] = {}

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        for key in ids:
            self._kept.get(collection, {}).pop(key, None)

    async def ids(self, collection: str) -> set[str]:
        return set(self._kept.get(collection, {}))

    async def drop(self, collection: str) -> None:
        self._kept.pop(collection, None)

    async def collections(self) -> set[str]:
        return set(self._kept)

    def close(self) -> None:
        """Hold nothing to release."""


class FakeVectors(_Collections[Vector]):
    """The `VectorIndex` port, by comparing with every vector."""

    async def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        self._kept.setdefault(collection, {}).update(zip(ids, vectors, strict=True))

    async def search(self, collection: str, queries: Matrix, k: int) -> list[list[Hit]]:
        kept = self._kept.get(collection, {})
        found = []
        for query in queries:
            hits = [
                Hit(key, float(row @ query / (np.linalg.norm(row) * np.linalg.norm(query))))
                for key, row in kept.items()
            ]
            found.append(sorted(hits, key=lambda hit: -hit.score)[:k])
        return found


class FakeWords(_Collections[tuple[list[str], list[str]]]):
    """The `WordIndex` port: BM25 (k1 1.2, b .75) counted anew at every search."""

    async def upsert(self, collection: str, entries: Sequence[tuple[str, str, str]]) -> None:
        kept = self._kept.setdefault(collection, {})
        for key, title, text in entries:
            kept[key] = (index_terms(title), index_terms(text))

    async def has_remains(self, collection: str) -> bool:
        return False

    async def replace(self, collection: str, entries: Sequence[tuple[str, str, str]]) -> None:
        if entries or collection in self._kept:
            self._kept[collection] = {}
            await self.upsert(collection, entries)

    async def search(self, collection: str, terms: Sequence[str], k: int) -> list[Hit]:
        kept = self._kept.get(collection, {})
        scores: dict[str, float] = {}
        for field, weight in ((0, 0.5), (1, 1.0)):
            texts = {key: Counter(fields[field]) for key, fields in kept.items()}
            mean = sum(text.total() for text in texts.values()) / max(1, len(texts)) or 1.0
            for term in terms:
                held = [key for key, text in texts.items() if text[term]]
                for key in held:
                    count, length = texts[key][term], texts[key].total()
                    tf = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))
                    scores[key] = scores.get(key, 0.0) + weight * _idf(len(kept), len(held)) * tf
        best = sorted(scores.items(), key=lambda item: -item[1])
        return [Hit(key, score) for key, score in best[:k]]

    async def find(
        self, collection: str, queries: Sequence[Sequence[str]], k: int
    ) -> tuple[list[list[Hit]], dict[str, float]]:
        every = list(dict.fromkeys(term for terms in queries for term in terms))
        found = [await self.search(collection, terms, k) for terms in queries]
        return found, await self.rarity(collection, every)

    async def holding(self, collection: str, terms: Sequence[str], k: int) -> list[str]:
        kept = {key: {*title, *text} for key, (title, text) in self._kept.get(collection, {}).items()}
        return [key for key, said in kept.items() if terms and said.issuperset(terms)][:k]

    async def rarity(self, collection: str, terms: Sequence[str]) -> dict[str, float]:
        if collection not in self._kept:
            return dict.fromkeys(terms, 0.0)
        texts = [set(text) for _, text in self._kept[collection].values()]
        counts = {term: sum(term in text for text in texts) for term in terms}
        empty = bridges(terms, counts)
        return {term: 0.0 if term in empty else _idf(len(texts), n) for term, n in counts.items()}


def _idf(total: int, holding: int) -> float:
    return math.log1p((total - holding + 0.5) / (holding + 0.5))
